"""The conversation archive: import, lists and searches of a million messages.

What it is for: section `archive` of the benches. The histories are made up: sessions of OpenClaw with the
lengths people and assistants write in, thinking and tool results in between.

What must hold: conv_import is compared with `copy` of the very rows it made, in a process of the same
server, into a table with the same columns and indexes and without a trigger.
"""

from __future__ import annotations

import io
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import corpus
import psycopg
from processes import peak_mb
from report import Figure
from sections import clock, milliseconds
from store import Setup, fill_store, forget_questions, one

MESSAGES = 88_000
SESSION_MESSAGES = 200
MANY = 1_000_000
BIG_MB = 500
LISTED = 30
REPEATS = 2
ASKED = 100
START = datetime(2025, 1, 1, tzinfo=timezone.utc)
COLUMNS = (
    'session_key, role, content, "timestamp", message_id, source, channel, sender, metadata, raw, '
    "fingerprint, search, token_count"
)


def sentences(rng: random.Random, low: int, high: int) -> str:
    """A few sentences of the diary."""
    topic = rng.choice(corpus.TOPICS)
    templates = rng.choices(topic.sentences, k=rng.randint(low, high))
    return "".join(corpus.fill(template, rng).strip("|> ") for template in templates)


def session(number: int, messages: int = SESSION_MESSAGES) -> Iterator[dict]:
    """The entries of one session file."""
    rng = random.Random(f"session {number}")
    at = START + timedelta(hours=number)
    yield {"type": "session", "version": 3, "id": f"session-{number:06}", "timestamp": at.isoformat()}

    def entry(kind: str, **fields: object) -> dict:
        nonlocal at
        at += timedelta(seconds=rng.randint(2, 90))
        return {"type": kind, "id": f"{rng.getrandbits(32):08x}", "timestamp": at.isoformat(), **fields}

    for _ in range(messages // 2):
        yield entry("message", message={"role": "user", "content": sentences(rng, 1, 2)})
        if rng.random() < 0.3:
            call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "notes.md"}}
            yield entry("message", message={"role": "assistant", "content": [call]})
            yield entry("message", message={"role": "toolResult", "content": sentences(rng, 5, 40)})
        blocks = [
            {"type": "thinking", "thinking": sentences(rng, 1, 3)},
            {"type": "text", "text": sentences(rng, 2, 8)},
        ]
        yield entry("message", message={"role": "assistant", "content": blocks, "model": "m"})


def as_lines(entries: Iterator[dict]) -> bytes:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries).encode()


def big_file() -> bytes:
    """One long session, most of it tool results, as such files are."""
    filler = "QmFzZTY0" * 25_000
    lines = []
    size = 0
    number = 0
    while size < BIG_MB * 1_000_000:
        # One header: all entries are of the first session, ids differ.
        for place, entry in enumerate(session(1_000_000 + number)):
            if place == 0 and number > 0:
                continue
            entry["id"] = f"{number}-{place}"
            if entry.get("message", {}).get("role") == "toolResult":
                entry["message"]["content"] = filler
            line = json.dumps(entry, ensure_ascii=False) + "\n"
            lines.append(line)
            size += len(line.encode())
        number += 1
    return "".join(lines).encode()


def import_all(connection: psycopg.Connection, files: list[bytes]) -> None:
    for data in files:
        connection.execute("select * from conv_import(%b::bytea)", (data,))


def timed_import(connection: psycopg.Connection, files: list[bytes]) -> float:
    """Seconds that conv_import takes for the files, a call each, into an empty archive."""
    connection.execute("truncate conversations")
    return clock(import_all, connection, files)


def timed_copy(connection: psycopg.Connection) -> float:
    """Seconds that `copy` takes for the rows of the archive."""
    rows = io.BytesIO()
    with connection.cursor() as cursor, cursor.copy(f"copy conversations ({COLUMNS}) to stdout") as copy:
        for data in copy:
            rows.write(data)
    connection.execute("drop table if exists plain")
    connection.execute("create table plain (like conversations including all)")
    start = time.perf_counter()
    with connection.cursor() as cursor, cursor.copy(f"copy plain ({COLUMNS}) from stdin") as copy:
        copy.write(rows.getvalue())
    seconds = time.perf_counter() - start
    connection.execute("drop table plain")
    return seconds


def median_ms(connection: psycopg.Connection, query: str, parameters: list[tuple]) -> float:
    """The median time of a query with each of the parameters, but the first tenth to warm up."""
    seconds = [clock(lambda: connection.execute(query, values).fetchall()) for values in parameters]
    return milliseconds(seconds[len(seconds) // 10 :])


def fill_million(connection: psycopg.Connection) -> None:
    """Copies the sessions there are under other keys and times until there are a million messages."""
    copies = MANY // MESSAGES + 1
    definition = one(connection, "select pg_get_indexdef('conversations_search_idx'::regclass)")
    connection.execute("drop index conversations_search_idx")
    connection.execute(
        f"""
        insert into conversations ({COLUMNS})
        select c.session_key || '/' || g, c.role, c.content, c."timestamp" + g * interval '17 minutes', c.message_id,
            c.source, c.channel, c.sender, c.metadata, c.raw, c.fingerprint, c.search, c.token_count
        from generate_series(1, {copies}) g, conversations c
        limit {MANY - MESSAGES}
        """
    )
    connection.execute("set maintenance_work_mem = '1GB'")
    # Parallel builds need shared memory, of which a container may have little.
    connection.execute("set max_parallel_maintenance_workers = 0")
    connection.execute(definition)
    connection.execute("vacuum analyze conversations")


def archive(setup: Setup) -> list[Figure]:
    """88,000 messages of made-up OpenClaw sessions, a file a session, by conv_import and by copy of the same rows
    into a table without rules, each with the search index and without; then a million messages, and one file of
    500 MB, most of it tool results. memory_search is timed with the million messages and without."""
    files = [as_lines(session(number)) for number in range(MESSAGES // SESSION_MESSAGES)]
    megabytes = sum(map(len, files)) / 1e6
    ratios: dict[bool, float] = {}
    rates: dict[bool, float] = {}
    with setup.connect() as connection:
        fill_store(connection)
        questions = corpus.questions(3 * ASKED)

        def search(part: int) -> float:
            forget_questions(connection)
            asked = questions[part * ASKED : (part + 1) * ASKED]
            return median_ms(connection, "select * from memory_search(%s, 10)", [(q,) for q in asked])

        connection.execute("truncate conversations")
        alone = search(0)
        print("archive: importing", file=sys.stderr, flush=True)
        for indexed in (False, True):
            connection.execute("truncate conversations")
            connection.execute("select conv_index(%s)", (indexed,))
            seconds = [(timed_import(connection, files), timed_copy(connection)) for _ in range(REPEATS)]
            rates[indexed] = MESSAGES / statistics.median(own for own, _ in seconds)
            ratios[indexed] = statistics.median(peer / own for own, peer in seconds)
        again = clock(import_all, connection, files)
        if one(connection, "select count(*) from conversations") != MESSAGES:
            raise AssertionError("importing again added something")

        print("archive: a million messages", file=sys.stderr, flush=True)
        fill_million(connection)
        keys = connection.execute(
            "select session_key from conv_list(5000) order by md5(session_key) limit %s", (ASKED,)
        ).fetchall()
        listed = median_ms(connection, "select * from conv_list()", [()] * LISTED)
        got = median_ms(connection, "select * from conv_get(%s)", keys)
        found = median_ms(connection, "select * from conv_search(%s)", [(q,) for q in questions[:ASKED]])
        counted = median_ms(connection, "select * from conv_stats()", [()] * 5)
        beside = search(1)
        connection.execute("truncate conversations")

    with setup.connect() as connection:
        pid = connection.info.backend_pid
        data = big_file()
        one(connection, "select count(*) from conversations")
        before = peak_mb(pid)
        start = time.perf_counter()
        added = one(connection, "select added from conv_import(%b::bytea)", data)
        big_seconds = time.perf_counter() - start
        peak = peak_mb(pid) - before
        connection.execute("truncate conversations")
    return [
        Figure("messages", MESSAGES),
        Figure("size of the files", megabytes, "MB"),
        Figure("conv_import, search off", rates[False], "messages/s"),
        Figure("conv_import to copy, search off", ratios[False], "x", at_least=0.3),
        Figure("conv_import, with search", rates[True], "messages/s"),
        Figure("conv_import to copy, with search", ratios[True], "x", at_least=0.3),
        Figure("conv_import again, all known", MESSAGES / again, "messages/s"),
        Figure("conv_list of 1,000,000 messages, median", listed, "ms", at_most=20),
        Figure("conv_get of 200 of them, median", got, "ms", at_most=20),
        Figure("conv_search over them, median", found, "ms"),
        Figure("conv_stats over them, median", counted, "ms"),
        Figure("memory_search beside them to without, median", beside / alone, "x", at_most=1.2),
        Figure("file of 500 MB: messages added", added),
        Figure("file of 500 MB: time", big_seconds, "s"),
        Figure("file of 500 MB: growth of the backend at its peak", peak, "MB"),
        Figure("file of 500 MB: growth to its size", peak / (len(data) / 1e6), "x"),
    ]
