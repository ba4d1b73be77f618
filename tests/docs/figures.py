"""Compares the figures of the READMEs with the results they are taken from.

The tables between ``<!-- measured -->`` and ``<!-- /measured -->`` are, in this order, speed (FIGURES, a row each:
the numbers of its last cell as bench/results/README.md rounds them) and quality (a row an arm, a cell a set). Results count as they are in the index of Git, so that a run of one's own (`make bench`, `make quality`) fails
nothing until it is staged.

What it is not: a check of the words around the figures.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from report import number  # noqa: E402

FIGURES = [
    ["search: search, median", "search: search, p99"],
    [
        "search: embedding the question, median",
        "search: vector arm, median",
        "search: BM25 arm, median",
        "search: fusion, median",
    ],
    ["search: ONNX Runtime alone in Python, one question, median"],
    ["connect: first search of a connection, median"],
    ["connect: private memory of a connection that has searched, median"],
    ["connect: connection, preloaded to not preloaded"],
    ["import: memory_import, median"],
    ["import: memory_import to ONNX Runtime alone, median"],
    ["segment: to_tsvector('jieba', …)", "segment: to_tsvector to python jieba"],
    ["search: peak memory of the whole server (Pss)"],
    ["archive: conv_import, search off", "archive: conv_import, with search"],
    ["archive: conv_import to copy, search off", "archive: conv_import to copy, with search"],
    ["archive: conv_list of 1,000,000 messages, median", "archive: conv_get of 200 of them, median"],
]
SETS = ["own", "cmrc2018", "drcd"]
ARMS = ["vector", "bm25", "rrf", "convex", "tfidf_char"]
METRICS = ["recall@1", "recall@5", "mrr@10"]


def result(name):
    """The content of bench/results/NAME.json as it is staged; of the file where there is no Git."""
    path = f"bench/results/{name}.json"
    staged = subprocess.run(["git", "show", f":{path}"], cwd=ROOT, capture_output=True, check=False)
    return json.loads(staged.stdout if staged.returncode == 0 else (ROOT / path).read_bytes())


def expected():
    """The numbers of every row of every table."""
    values = {}
    for section in sorted({label.split(": ")[0] for row in FIGURES for label in row}):
        for figure in result(section)["figures"]:
            values[f"{section}: {figure['name']}"] = number(figure["value"])
    overall = [result(f"quality-{name}")["overall"] for name in SETS]
    return [
        [[values[label] for label in row] for row in FIGURES],
        [[f"{one[arm][metric]:.1f}" for one in overall for metric in METRICS] for arm in ARMS],
    ]


def written(text):
    """The numbers of every table of the part that is measured: of all cells but the first."""
    tables, last = [], None
    part = re.search(r"<!-- measured -->(.*)<!-- /measured -->", text, flags=re.DOTALL)
    for line in part[1].splitlines() if part else []:
        if not line.startswith("|"):
            last = None
        elif last is None:
            last = []
            tables.append(last)
        else:
            last.append(re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", line.split("|", 2)[2]))
    return [table[1:] for table in tables]  # Without the line below the heads.


def main():
    wanted = expected()
    broken = False
    for path in sorted(ROOT.glob("README*.md")):
        found = written(path.read_text(encoding="utf-8"))
        failures = [] if len(found) == len(wanted) else [f"{len(found)} tables of figures, not {len(wanted)}"]
        for number_of_table, (have, want) in enumerate(zip(found, wanted), 1):
            if len(have) != len(want):
                failures.append(f"table {number_of_table}: {len(have)} rows of figures, not {len(want)}")
            failures += [
                f"table {number_of_table}, row {row}: {', '.join(cells)} in place of {', '.join(values)}"
                for row, (cells, values) in enumerate(zip(have, want), 1)
                if cells != values
            ]
        for failure in failures:
            print(f"{path.name}: {failure}")
        broken = broken or bool(failures)
        print(f"{path.name}: figures as in bench/results: {'no' if failures else 'yes'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
