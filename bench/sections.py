"""What is measured, a function a section; its docstring is printed beside the figures.

What is compared (a peer, a server without the library) takes turns with what it is compared to, so that a
busy moment hits both.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import corpus
import psycopg
from processes import MB, Server, private_mb, process_seconds, wait_for_end
from psycopg import sql
from psycopg.types.json import Jsonb
from report import Figure
from store import (
    DATABASE,
    ROOT,
    SCALE_DATABASE,
    Setup,
    bulk_copy,
    counted_runs,
    fill_store,
    forget_questions,
    one,
    one_row,
    plain_server,
)

MODEL_INPUTS = ROOT / "build/model-inputs"
MODEL = ROOT / "build/model/multilingual-e5-small"
QUALITY_MEMORIES = ROOT / "tests/quality/memories.jsonl"

WARM_UP = 20
ASKED = 200
EXPLAINED = WATCHED = 100
CONNECTIONS = 200
FIRST_SEARCHES = 20
WORD_CONNECTIONS = 20
IMPORT_DAYS = 21
SEGMENT_MB = 5.5
PEER_MB = 0.5
REPEATS = 3
SCALE_ASKED = 50
FILTERS = {"percent": 100, "tenth": 10}  # key of the metadata -> parts it makes of the rows
K = 10
SEARCH = "select * from memory_search(%s, %s)"
FILTERED_SEARCH = 'select * from memory_search(%s, %s, filter => %s, collapse => false)'


def clock(body: Callable[..., object], *arguments: object) -> float:
    """Seconds a call takes on the wall clock."""
    start = time.perf_counter()
    body(*arguments)
    return time.perf_counter() - start


def ask(connection: psycopg.Connection, question: str) -> None:
    """One hybrid search."""
    connection.execute(SEARCH, (question, K)).fetchall()


def milliseconds(seconds: list[float]) -> float:
    """The median, in milliseconds."""
    return statistics.median(seconds) * 1_000


def percentile(values: list[float], share: float) -> float:
    """The smallest value that `share` of the values do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def size_mb(texts: list[str]) -> float:
    """Megabytes of UTF-8."""
    return sum(len(text.encode()) for text in texts) / MB


def onnxruntime_alone(kind: str) -> Callable[[str], object]:
    """A function that embeds a text as a query or a passage by ONNX Runtime in Python, with one thread."""
    subprocess.run([ROOT / "model/fetch.sh", "--reference", MODEL_INPUTS], check=True)
    sys.path[:0] = [str(MODEL_INPUTS / "site"), str(ROOT / "model")]
    import embedder
    import folder

    tokenizer = embedder.read_tokenizer((MODEL / folder.TOKENIZER).read_text("utf-8"))
    model = embedder.Embedder(MODEL / folder.GRAPH, tokenizer)
    return lambda text: model.vector(model.ids(text, kind))


def search(setup: Setup) -> list[Figure]:
    """80 files and 768 chunks; hybrid search with k 10 over one warm connection, every question asked
    once; times of the parts from memory_explain for other questions, and of the model alone for those."""
    embed = onnxruntime_alone("query")
    asked = iter(corpus.questions(WARM_UP + ASKED + EXPLAINED + WATCHED))
    with setup.connect() as connection:
        fill_store(connection)
        forget_questions(connection)
        rows, files = one_row(connection, "select count(*), count(distinct path) from memories")
        for question in itertools.islice(asked, WARM_UP):
            ask(connection, question)
        with counted_runs(connection, ASKED):
            cpu = setup.server.cpu_seconds()
            walls = [clock(ask, connection, question) for question in itertools.islice(asked, ASKED)]
            cpu = setup.server.cpu_seconds() - cpu
        asked_for_parts = list(itertools.islice(asked, EXPLAINED))
        explained = [
            one(connection, "select memory_explain(%s, %s) -> 'milliseconds'", question, K)
            for question in asked_for_parts
        ]
        parts = [
            Figure(f"{label}, median", statistics.median(times[part] for times in explained), "ms")
            for part, label in {
                "embed": "embedding the question",
                "vector": "vector arm",
                "bm25": "BM25 arm",
                "fusion": "fusion",
            }.items()
        ]
        alone = [clock(embed, question) for question in asked_for_parts]
        with setup.server.peak_pss_mb() as memory:
            for question in itertools.islice(asked, WATCHED):
                ask(connection, question)
    return [
        Figure("files", files),
        Figure("chunks", rows),
        Figure("search, median", milliseconds(walls), "ms", at_most=10),
        Figure("search, p99", percentile(walls, 0.99) * 1_000, "ms", at_most=20),
        *parts,
        Figure("ONNX Runtime alone in Python, one question, median", milliseconds(alone), "ms"),
        Figure("processor time of the server a search", cpu / ASKED * 1_000, "ms"),
        Figure("peak memory of the whole server (Pss)", max(memory), "MB"),
    ]


def time_connections(conninfo: list[str]) -> list[list[float]]:
    """Seconds of connecting, `select 1` and closing, for each of several servers in turns."""
    times: list[list[float]] = [[] for _ in conninfo]
    for _ in range(CONNECTIONS):
        for target, seconds in zip(conninfo, times, strict=True):
            start = time.perf_counter()
            connection = psycopg.pq.PGconn.connect(target.encode())
            if connection.exec_(b"select 1").status != psycopg.pq.ExecStatus.TUPLES_OK:
                sys.exit(f"error: {connection.error_message.decode()}")
            pid = connection.backend_pid
            connection.finish()
            seconds.append(time.perf_counter() - start)
            # Or its end would count as the other server's time.
            wait_for_end(pid)
    return times


def memory_of_words(conninfo: str, server: Server) -> float:
    """Megabytes of memory that connections take which have cut words."""
    idle = server.pss_mb()
    connections = [psycopg.connect(conninfo) for _ in range(WORD_CONNECTIONS)]
    try:
        for connection in connections:
            connection.execute("select to_tsvector('jieba', '热身')")
        return server.pss_mb() - idle
    finally:
        for connection in connections:
            connection.close()


def connect(setup: Setup) -> list[Figure]:
    """First search on fresh connections; connect, `select 1` and close in turns with a second server that
    has preloaded nothing; memory from /proc."""
    firsts, private = [], []
    with setup.connect() as control:
        fill_store(control)
        forget_questions(control)
        with counted_runs(control, FIRST_SEARCHES):
            for question in corpus.questions(FIRST_SEARCHES):
                with setup.connect() as fresh:
                    firsts.append(clock(ask, fresh, question))
                    private.append(private_mb(fresh.info.backend_pid))
    with plain_server() as (plain, plain_processes):
        preloaded = f"dbname={DATABASE}"
        with_library, without = map(milliseconds, time_connections([preloaded, plain]))
        words = memory_of_words(preloaded, setup.server)
        words_without = memory_of_words(plain, plain_processes)
    return [
        Figure("first search of a connection, median", milliseconds(firsts), "ms", at_most=60),
        Figure(
            "private memory of a connection that has searched, median",
            statistics.median(private),
            "MB",
            at_most=15,
        ),
        Figure("connection, library preloaded, median", with_library, "ms"),
        Figure("connection, nothing preloaded, median", without, "ms"),
        Figure("connection, preloaded to not preloaded", with_library / without, "x", at_most=1.5),
        Figure(f"{WORD_CONNECTIONS} connections that cut words (Pss), preloaded", words, "MB"),
        Figure(f"{WORD_CONNECTIONS} connections that cut words (Pss), not preloaded", words_without, "MB"),
    ]


def sections_of(days: int, seed: str) -> Iterator[str]:
    """The sections of a diary, each about as long as a chunk."""
    for _, content in corpus.diary(days, seed):
        yield from content.split("\n## ")[1:]


def chinese_texts() -> list[str]:
    """SEGMENT_MB of texts: the memories of the quality set and sections of a long diary."""
    texts = []
    if QUALITY_MEMORIES.is_file():
        lines = QUALITY_MEMORIES.read_text(encoding="utf-8").splitlines()
        texts = [json.loads(line)["content"] for line in lines if line.strip()]
    size = size_mb(texts)
    for text in sections_of(10_000, "segment"):
        if size >= SEGMENT_MB:
            break
        texts.append(text)
        size += size_mb([text])
    return texts


def segment(setup: Setup) -> list[Figure]:
    """5.5 MB of Chinese text, one row a memory, in one statement and process, by its processor time less that
    of reading the table; python jieba cuts an even sample of the same rows. PostgreSQL alone is to_tsvector('simple', …)
    over the same words with blanks between them: what a parser that costs nothing would reach."""
    import jieba

    texts = chinese_texts()
    megabytes = size_mb(texts)
    sample = texts[:: round(megabytes / PEER_MB)]

    with setup.connect() as connection:
        pid = connection.info.backend_pid
        connection.execute("set max_parallel_workers_per_gather = 0")
        connection.execute("create temporary table texts (t text)")
        bulk_copy(connection, "texts (t)", ((text,) for text in texts))

        def seconds(expression: str) -> float:
            start = process_seconds(pid)
            connection.execute(f"select sum({expression}) from texts")
            return process_seconds(pid) - start

        def rate(expression: str) -> float:
            # The first run is to warm up.
            runs = [seconds(expression) - seconds("octet_length(t)") for _ in range(1 + REPEATS)]
            return megabytes / statistics.median(runs[1:])

        vectors = rate("length(to_tsvector('jieba', t))")
        cut = rate("cardinality(jieba_cut_for_search(t))")
        connection.execute("update texts set t = array_to_string(jieba_cut(t), ' ')")
        alone = rate("length(to_tsvector('simple', t))")

    jieba.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        jieba.dt.tmp_dir = folder  # where it keeps its dictionary
        jieba.initialize()
    start = time.process_time()
    for text in sample:
        jieba.lcut_for_search(text)
    peer = size_mb(sample) / (time.process_time() - start)
    return [
        Figure("text", megabytes, "MB"),
        Figure("to_tsvector('jieba', …)", vectors, "MB/s", at_least=10),
        Figure("jieba_cut_for_search", cut, "MB/s"),
        Figure("PostgreSQL alone, words given", alone, "MB/s"),
        Figure("python jieba cut_for_search", peer, "MB/s"),
        Figure("to_tsvector to PostgreSQL alone", vectors / alone, "x"),
        Figure("to_tsvector to python jieba", vectors / peer, "x"),
        Figure("jieba_cut_for_search to python jieba", cut / peer, "x"),
    ]


def import_(setup: Setup) -> list[Figure]:
    """Files of a diary by memory_import, each in turns with the same chunks' texts through ONNX Runtime alone
    in Python: one thread, one text a run."""
    embed = onnxruntime_alone("passage")
    speeds: list[tuple[float, float]] = []
    chunks = 0
    with setup.connect() as connection:

        def texts_of(path: str, content: str) -> list[str]:
            split = "select memory_whole_text(title, chunk) from memory_split(%s, %s) order by chunk_index"
            return [text for (text,) in connection.execute(split, (content, path))]

        def by_extension(path: str, content: str, _: list[str]) -> None:
            connection.execute("select from memory_import(%s, %s, 'import')", (path, content))

        def by_peer(_path: str, _content: str, texts: list[str]) -> None:
            for text in texts:
                embed(text)

        def forget() -> None:
            connection.execute("delete from memories where namespace = 'import'")

        forget()
        for number, (path, content) in enumerate(corpus.diary(IMPORT_DAYS, "import")):
            texts = texts_of(path, content)
            # The one that goes first changes from file to file.
            order = (by_extension, by_peer) if number % 2 else (by_peer, by_extension)
            seconds = {body: clock(body, path, content, texts) for body in order}
            if number > 0:  # the first file warms both up
                speeds.append((len(texts) / seconds[by_extension], len(texts) / seconds[by_peer]))
                chunks += len(texts)
        forget()
        connection.execute("vacuum analyze memories")
    return [
        Figure("chunks", chunks),
        Figure("memory_import, median", statistics.median(own for own, _ in speeds), "rows/s"),
        Figure("ONNX Runtime alone, median", statistics.median(peer for _, peer in speeds), "rows/s"),
        Figure(
            "memory_import to ONNX Runtime alone, median",
            statistics.median(own / peer for own, peer in speeds),
            "x",
            at_least=0.85,
        ),
    ]


def fill_scale(connection: psycopg.Connection, rows: int) -> None:
    """Rows with random vectors, and the vector index after them. Does nothing if the rows are there."""
    if one(connection, "select count(*) from memories") == rows:
        return
    model = one(connection, "select memory_active_model()")
    connection.execute("truncate memories")
    indexes = connection.execute(
        "select indexname from pg_indexes "
        "where tablename = 'memories' and indexdef ilike '%using hnsw%' order by indexname"
    ).fetchall()
    for (index,) in indexes:
        connection.execute(sql.SQL("drop index {}").format(sql.Identifier(index)))
    connection.execute("create temporary table texts (id bigint generated always as identity, t text)")
    days = rows // min(corpus.SECTIONS_OF_A_DAY) + 1
    texts = itertools.islice(sections_of(days, "scale"), rows)
    bulk_copy(connection, "texts (t)", ((text,) for text in texts))
    with connection.transaction():
        connection.execute("set local summer_memory.embed = 'off'")
        connection.execute("select setseed(0.5)")
        # `id >= 0` makes the subquery run for each row.
        connection.execute(
            """
            insert into memories (path, chunk_index, content, metadata, model, embedding)
            select 'scale/' || t.id, 0, t.t,
                jsonb_build_object('percent', t.id %% 100, 'tenth', t.id %% 10),
                %s,
                l2_normalize((
                    select array_agg(random() - 0.5)
                    from generate_series(1, (select dims from memory_models where active))
                    where t.id >= 0
                )::vector)
            from texts t
            """,
            (model,),
        )
    connection.execute("set maintenance_work_mem = '1GB'")
    # Parallel builds need shared memory, of which a container may have little.
    connection.execute("set max_parallel_maintenance_workers = 0")
    connection.execute("select memory_index_model(%s)", (model,))
    connection.execute("vacuum analyze memories")


def scale(setup: Setup) -> list[Figure]:
    """Random unit vectors, which suit an HNSW index least; the arms as memory_explain times them, filtered
    searches by the client's clock with the question's vector in the cache."""
    with setup.connect(SCALE_DATABASE) as connection:
        fill_scale(connection, setup.scale_rows)
        questions = corpus.questions(WARM_UP + SCALE_ASKED)

        def explain(plan: str) -> dict[str, float]:
            found = [one(connection, "select memory_explain(%s, %s)", question, K) for question in questions]
            if {explained["arms"]["vector"]["plan"] for explained in found} != {plan}:
                sys.exit(f"error: the vector arm did not use plan {plan}")
            times = [explained["milliseconds"] for explained in found[WARM_UP:]]
            return {part: statistics.median(time[part] for time in times) for part in times[0]}

        hnsw = explain("hnsw")
        # So many that the rows are not counted first.
        connection.execute(f"set summer_memory.exact_rows = {3 * setup.scale_rows}")
        exact = explain("exact")
        connection.execute("reset summer_memory.exact_rows")
        figures = [
            Figure("rows", setup.scale_rows),
            Figure("BM25 arm, median", hnsw["bm25"], "ms"),
            Figure("vector arm by the index, median", hnsw["vector"], "ms"),
            Figure("vector arm exact, median", exact["vector"], "ms"),
        ]
        for key, parts in FILTERS.items():
            walls, found = [], []
            for number, question in enumerate(questions):
                parameters = (question, K, Jsonb({key: number % parts}))
                start = time.perf_counter()
                rows = connection.execute(FILTERED_SEARCH, parameters).fetchall()
                walls.append(time.perf_counter() - start)
                found.append(len(rows))
            label = f"filter on {100 // parts} % of the rows"
            figures += [
                Figure(f"{label}, median", milliseconds(walls[WARM_UP:]), "ms"),
                Figure(f"{label}, fewest rows of {K}", min(found), at_least=K),
            ]
    return figures
