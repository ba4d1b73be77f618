"""Names, related memories and the graph.

What it is for: section `link` of the benches. What must hold: vectors are random, so that related memories are
found by their names, as in a store whose texts are as varied as a diary's.
"""

from __future__ import annotations

import itertools
import statistics
import time

import corpus
from report import Figure
from sections import clock, fill_scale, milliseconds, sections_of
from store import SCALE_DATABASE, Setup, bulk_copy, one

ASKED = 100
GRAPHS = 5
GRAPH_PATHS = 500
GRAPH_CHUNKS = 5_000
EXTRACTED = 3_000


def link(setup: Setup) -> list[Figure]:
    """Names of made-up diary sections by memory_extract in one statement, by the time it takes; memory_related of
    different memories of 100,000 with random vectors; memory_graph of 500 documents of ten chunks each."""
    with setup.connect(SCALE_DATABASE) as connection:
        fill_scale(connection, setup.scale_rows)
        connection.execute(f"create temporary table sample as select content from memories limit {EXTRACTED}")
        size = one(connection, "select sum(octet_length(content)) from sample") / 1e6
        start = time.perf_counter()
        names = one(connection, "select count(*) from sample s, memory_extract(s.content)")
        extracting = time.perf_counter() - start
        ids = connection.execute("select id from memories order by md5(id::text) limit %s", (ASKED,)).fetchall()
        found: list[int] = []

        def relate(id: tuple[int]) -> None:
            rows = connection.execute("select * from memory_related(%s::bigint)", id).fetchall()
            found.append(len(rows))

        times = [clock(relate, id) for id in ids]
    with setup.connect() as connection:
        connection.execute("set summer_memory.embed = 'off'")
        connection.execute("create temporary table texts (n bigint generated always as identity, t text)")
        days = GRAPH_CHUNKS // min(corpus.SECTIONS_OF_A_DAY) + 1
        texts = itertools.islice(sections_of(days, "graph"), GRAPH_CHUNKS)
        bulk_copy(connection, "texts (t)", ((text,) for text in texts))
        connection.execute("delete from memories where namespace = 'graph'")
        connection.execute(
            f"""
            insert into memories (namespace, path, chunk_index, content, model, embedding)
            select 'graph', 'graph/' || n % {GRAPH_PATHS} || '.md', n / {GRAPH_PATHS}, t, memory_active_model(),
                (select array_agg(random() - 0.3) from generate_series(1, 384) where n >= 0)::vector
            from texts
            """
        )
        connection.execute("analyze memories")
        graphs = []
        for _ in range(GRAPHS):
            start = time.perf_counter()
            nodes = one(connection, "select jsonb_array_length(memory_graph(namespace => 'graph') -> 'nodes')")
            graphs.append(time.perf_counter() - start)
        connection.execute("delete from memories where namespace = 'graph'")
    return [
        Figure("text", size, "MB"),
        Figure("names and tags in it", names),
        Figure("memory_extract", size / extracting, "MB/s"),
        Figure("memories", setup.scale_rows),
        Figure("memory_related, median", milliseconds(times), "ms", at_most=10),
        Figure("memory_related, rows found, mean", statistics.mean(found)),
        Figure("memory_graph, documents", nodes),
        Figure("memory_graph of 5,000 chunks, median", milliseconds(graphs), "ms", at_most=300),
    ]
