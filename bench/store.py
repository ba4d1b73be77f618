"""Databases, connections and the diary in them: what the sections of the benches stand on.

What must hold: only the databases `bench` and `bench_scale` are written, and the throw-away server keeps its
files and sockets in a folder of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus
import psycopg
from processes import Server
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
DATABASE, SCALE_DATABASE = "bench", "bench_scale"
DAYS = 80
CACHED_QUESTIONS = 256  # query vectors the server remembers


@dataclass(frozen=True)
class Setup:
    """What every section needs: the server's processes, and a way to connect."""

    server: Server
    scale_rows: int

    def connect(self, database: str = DATABASE) -> psycopg.Connection:
        return psycopg.connect(dbname=database, autocommit=True)


def one_row(connection: psycopg.Connection, query: str, *parameters: object) -> tuple[Any, ...]:
    """The only row of a query."""
    row = connection.execute(query, parameters).fetchone()
    if row is None:
        raise LookupError(f"no row: {query}")
    return row


def one(connection: psycopg.Connection, query: str, *parameters: object) -> Any:
    """The only value of the only row."""
    return one_row(connection, query, *parameters)[0]


def bulk_copy(connection: psycopg.Connection, target: str, rows: Iterable[tuple]) -> None:
    """Copies rows into a table and its columns, given as SQL."""
    with connection.cursor() as cursor, cursor.copy(f"copy {target} from stdin") as copy:
        for row in rows:
            copy.write_row(row)


def create_database(name: str, fresh: bool) -> None:
    """Makes a database with the extension unless it is there; a fresh one replaces it."""
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        identifier = sql.Identifier(name)
        if fresh:
            connection.execute(sql.SQL("drop database if exists {}").format(identifier))
        if not one(connection, "select exists (select from pg_database where datname = %s)", name):
            connection.execute(sql.SQL("create database {}").format(identifier))
    with psycopg.connect(dbname=name, autocommit=True) as connection:
        connection.execute("set client_min_messages = warning")
        connection.execute("create extension if not exists summer_memory cascade")


def check_server(connection: psycopg.Connection) -> None:
    """Exits unless the server is one that can be compared: preloaded, one model process."""
    if "summer_memory" not in one(connection, "show shared_preload_libraries"):
        sys.exit("error: the server has not preloaded summer_memory")
    if one(connection, "show summer_memory.embed_workers") != "1":
        sys.exit("error: summer_memory.embed_workers is not 1, the peer has one thread")


@contextmanager
def plain_server() -> Iterator[tuple[str, Server]]:
    """A throw-away cluster like the private one, but nothing preloaded: its conninfo and its processes."""
    with tempfile.TemporaryDirectory(prefix="bench.") as folder:
        settings = os.environ | {
            "SUMMER_MEMORY_SERVER": folder,
            # Its sockets lie in a folder of its own: no other server's are in reach, whatever the port.
            "TMPDIR": folder,
            # The last line about a setting wins.
            "SUMMER_MEMORY_CONF": "shared_preload_libraries = ''",
        }

        def control(action: str) -> None:
            subprocess.run([ROOT / "scripts/server.sh", action], env=settings, check=True)

        try:
            control("start")
            socket = Path(folder) / Path(os.environ["PGHOST"]).name
            yield f"host={socket} dbname={os.environ['PGDATABASE']}", Server(Path(folder) / "data")
        finally:
            control("stop")


def fill_store(connection: psycopg.Connection) -> None:
    """Imports the diary; files that are there already cost next to nothing."""
    paths = []
    for path, content in corpus.diary(DAYS):
        connection.execute("select from memory_import(%s, %s)", (path, content))
        paths.append(path)
    connection.execute("select memory_prune(%s)", (paths,))
    connection.execute("vacuum analyze memories")
    if one(connection, "select count(*) from memories where embedding is null"):
        sys.exit("error: the store has rows without an embedding")


def forget_questions(connection: psycopg.Connection) -> None:
    """Fills the server's cache of query vectors with texts nobody asks."""
    texts = [f"{time.time_ns()} {number}" for number in range(CACHED_QUESTIONS)]
    connection.execute("select memory_embed(%s::text[], 'query')", (texts,))


@contextmanager
def counted_runs(connection: psycopg.Connection, expected: int) -> Iterator[None]:
    """Exits unless the body makes the model run this often."""
    before = one(connection, "select memory_model_runs()")
    yield
    runs = one(connection, "select memory_model_runs()") - before
    if runs != expected:
        sys.exit(f"error: the model ran {runs} times, not {expected}")
