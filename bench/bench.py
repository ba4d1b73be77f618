"""Measures search, connections, words, import and scale on the running private server.

What it is for: `scripts/bench.sh [section…]` prints a table, and writes bench/results/SECTION.json and
bench/results/README.md. Every figure comes from one run.

What it is not: a test; a missed target fails nothing. Ranking is measured by scripts/quality.py.

What must hold: the library is preloaded; the model has one process, as the peer has one thread. No question
is answered from the server's cache of query vectors; the number of model runs proves it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import archive
import link
import psycopg
import sections
from processes import Server
from report import Figure, write_section, write_table
from store import DATABASE, ROOT, SCALE_DATABASE, Setup, check_server, create_database, one

RESULTS = ROOT / "bench/results"

SECTIONS: dict[str, Callable[[Setup], list[Figure]]] = {
    "search": sections.search,
    "connect": sections.connect,
    "segment": sections.segment,
    "import": sections.import_,
    "archive": archive.archive,
    "scale": sections.scale,
    "link": link.link,
}
# Filling many rows takes several minutes, so these are asked for by name.
DEFAULT = [name for name in SECTIONS if name not in ("archive", "scale", "link")]


def describe_machine(connection: psycopg.Connection) -> str:
    """Processor, memory, version, date and load."""
    cpu = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    version = one(connection, "show server_version").split()[0]
    return (
        f"{os.cpu_count()} cores of {cpu.partition(':')[2].strip()}, {memory:.0f} GB, PostgreSQL {version}, "
        f"{datetime.now(timezone.utc):%Y-%m-%d}, load {os.getloadavg()[0]:.1f} at the start."
    )


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Speed and size of summer_memory on the private server.")
    parser.add_argument(
        "sections",
        nargs="*",
        metavar="section",
        help=f"of {', '.join(SECTIONS)} (default: {', '.join(DEFAULT)})",
    )
    parser.add_argument("--fresh", action="store_true", help="drop the benches' databases first")
    parser.add_argument("--scale-rows", type=int, default=100_000, help="rows of section scale")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"unknown section: {min(unknown)}")
    return options


def main() -> None:
    """Runs the sections one after the other and prints the table."""
    options = arguments()
    names = options.sections or DEFAULT
    create_database(DATABASE, options.fresh)
    if {"scale", "link"} & set(names):
        create_database(SCALE_DATABASE, options.fresh)
    setup = Setup(Server(Path(os.environ["PGDATA_DIR"])), options.scale_rows)
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        with setup.connect() as connection:
            check_server(connection)
            machine = describe_machine(connection)
        figures = SECTIONS[name](setup)
        what = " ".join((SECTIONS[name].__doc__ or "").split())
        write_section(RESULTS, name, what, machine, figures)
    print(write_table(RESULTS, list(SECTIONS)), end="")


if __name__ == "__main__":
    main()
