#!/usr/bin/env python3
"""Measures how well memory_search ranks: recall@1/5/10 and MRR@10 of each arm on labelled questions.

What it is for: `scripts/quality.py` loads a labelled set into a namespace of its own on a running server
with the extension, asks every question through plain SQL, and compares the arms (vector, BM25), the two
fusions and a TF-IDF baseline over single characters. It writes one JSON and one Markdown file a set and
exits 1 when a figure is below the thresholds, 2 when nothing could be measured.

What it is not: a benchmark of speed, or a tuner. No figure here may be raised by looking at the questions.

What must hold: only namespaces called `quality_*` are written; a second run with the same rows loads
nothing; the same data and the same model give the same figures (samples are evenly spaced, ties are
broken by the order of the rows).

Data formats of a --data folder (or file):
  memories.jsonl + questions.jsonl   the project's own set, see tests/quality/README.md
  documents.jsonl                    with those two: questions about the files of examples/diary, asked of a store
                                     that holds these files and the memories
  *.json                             SQuAD-like (CMRC2018, DRCD): every paragraph is a memory, and the
                                     paragraph a question was asked about is its only answer
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN_SET = "own"
DOCUMENTS_SET = "documents"
DIARY = ROOT / "examples/diary"
DEPTH = 10  # results asked for; every figure is at this depth or above it
CUTOFFS = (1, 5, 10)
BATCH = 50  # rows an insert statement carries; one batch is one transaction

# Arm -> (mode, fusion) of memory_search. TFIDF is computed here, without the server.
ARMS = {
    "vector": ("vector", "rrf"),
    "bm25": ("bm25", "rrf"),
    "rrf": ("hybrid", "rrf"),
    "convex": ("hybrid", "convex"),
}
# The link arm (setting summer_memory.link_weight), off by default: asked for with --links.
LINKS = {"rrf_link_25": 0.25, "rrf_link_50": 0.5, "rrf_link_100": 1.0}
TFIDF = "tfidf_char"
LABELS = {
    "vector": "vector",
    "bm25": "BM25",
    "rrf": "fusion rrf",
    "convex": "fusion convex",
    "rrf_link_25": "rrf, links 0.25",
    "rrf_link_50": "rrf, links 0.5",
    "rrf_link_100": "rrf, links 1",
    TFIDF: "TF-IDF, single characters",
}

SEARCH = """
select path, degraded
from memory_search(query => %s, k => %s, namespace => %s, mode => %s, fusion => %s,
                   collapse => %s)
"""


@dataclass(frozen=True)
class Memory:
    """One row to store, or with `whole_file` a document of many. `occurred_at` is an ISO date or time, or None."""

    path: str
    content: str
    occurred_at: str | None = None
    whole_file: bool = False


@dataclass(frozen=True)
class Question:
    """One question; finding any one of `answers` (paths) counts. `kind` is '' in public sets."""

    text: str
    answers: frozenset[str]
    kind: str = ""


@dataclass(frozen=True)
class LabelledSet:
    """A named set of memories and the questions asked of it."""

    name: str
    memories: list[Memory]
    questions: list[Question]
    available: int  # questions before sampling
    by_path: bool = False  # whether a path is returned once, as memory_search does by default

    @property
    def namespace(self) -> str:
        return f"quality_{self.name}"


class QualityError(Exception):
    """Nothing could be measured: a bad data file (named, with its line) or a server that cannot answer."""


# ---------------------------------------------------------------------------------------- reading


def read_jsonl(path: Path) -> list[tuple[str, dict]]:
    """Every non-blank line of a JSON Lines file, with its place for messages."""
    rows = []
    # Not splitlines(): a JSON string may hold U+2028, which is no end of a line here.
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path.name}:{number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise QualityError(f"{place}: {error}") from error
        if not isinstance(row, dict):
            raise QualityError(f"{place}: a line must be a JSON object")
        rows.append((place, row))
    return rows


def field(place: str, row: dict, name: str) -> str:
    """A field that must be a string with something in it."""
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise QualityError(f'{place}: "{name}" must be a string that is not empty')
    return value


def read_own(folder: Path) -> tuple[list[Memory], list[Question]]:
    """memories.jsonl and questions.jsonl of `folder`, checked against each other."""
    memories, paths, contents = [], set(), set()
    for place, row in read_jsonl(folder / "memories.jsonl"):
        memory = Memory(field(place, row, "path"), field(place, row, "content"), row.get("occurred_at"))
        if memory.path in paths or memory.content in contents:
            raise QualityError(f'{place}: "{memory.path}" repeats a path or a content')
        paths.add(memory.path)
        contents.add(memory.content)
        memories.append(memory)
    return memories, read_questions(folder / "questions.jsonl", paths)


def read_questions(path: Path, paths: set[str]) -> list[Question]:
    """Questions whose answers are among `paths`."""
    questions = []
    for place, row in read_jsonl(path):
        answers = row.get("answers")
        if not isinstance(answers, list) or not answers:
            raise QualityError(f'{place}: "answers" must be a list of paths')
        unknown = [answer for answer in answers if answer not in paths]
        if unknown:
            raise QualityError(f"{place}: no memory has the path {unknown[0]!r}")
        questions.append(Question(field(place, row, "q"), frozenset(answers), field(place, row, "kind")))
    return questions


def read_documents(path: Path, memories: list[Memory], questions: list[Question]) -> LabelledSet:
    """The diary beside the notes: documents of many chunks compete with memories of one."""
    files = [
        Memory(file.name, file.read_text(encoding="utf-8"), whole_file=True)
        for file in sorted(DIARY.glob("*.md"))
    ]
    asked = read_questions(path, {file.path for file in files})
    asked += [Question(question.text, question.answers, "note") for question in questions]
    return LabelledSet(DOCUMENTS_SET, files + memories, asked, len(asked), by_path=True)


def read_squad(path: Path) -> tuple[list[Memory], list[Question]]:
    """Paragraphs and questions of a SQuAD-like file (CMRC2018, DRCD)."""
    memories, questions = [], []
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        for article in document["data"]:
            for paragraph in article["paragraphs"]:
                memories.append(Memory(str(paragraph["id"]), paragraph["context"]))
                for asked in paragraph["qas"]:
                    questions.append(Question(asked["question"], frozenset([str(paragraph["id"])])))
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise QualityError(f"{path.name}: not in SQuAD format ({error!r})") from error
    if len({memory.path for memory in memories}) != len(memories):
        raise QualityError(f"{path.name}: paragraph ids are not unique")
    return memories, questions


def is_squad(path: Path) -> bool:
    """Whether a JSON file starts like SQuAD: an object with "data" near its beginning."""
    return '"data"' in path.read_text(encoding="utf-8")[:200]


def evenly(items: list, wanted: int) -> list:
    """`wanted` items at equal distances in file order: the same ones on every run. 0 = all."""
    if wanted <= 0 or wanted >= len(items):
        return items
    return [items[i * len(items) // wanted] for i in range(wanted)]


def read_sets(sources: list[Path], sample: int) -> list[LabelledSet]:
    """Every labelled set in the given folders and files. The own set is never sampled."""
    sets = []
    for source in sources:
        if (source / "memories.jsonl").is_file():
            memories, questions = read_own(source)
            sets.append(LabelledSet(OWN_SET, memories, questions, len(questions)))
            if (source / "documents.jsonl").is_file():
                sets.append(read_documents(source / "documents.jsonl", memories, questions))
            continue
        files = [source] if source.is_file() else sorted(source.glob("*.json"))
        for path in filter(is_squad, files):
            memories, questions = read_squad(path)
            name = re.sub(r"[^a-z0-9]+", "_", re.sub(r"[_-](dev|test)$", "", path.stem.lower()))
            sets.append(LabelledSet(name, memories, evenly(questions, sample), len(questions)))
    if not sets:
        raise QualityError(f"no labelled set in {', '.join(str(source) for source in sources)}")
    if len({one.name for one in sets}) != len(sets):
        raise QualityError("two sets have the same name")
    return sets


# --------------------------------------------------------------------------------------- baseline


def characters(text: str) -> list[str]:
    """Single Han characters and runs of ASCII letters and digits, lower case."""
    return re.findall(r"[\u3400-\u4dbf\u4e00-\u9fff]|[a-z0-9]+", text.lower())


class CharacterTfIdf:
    """Cosine of tf * idf over `characters`, the search of the first design.

    tf is the plain count and idf is ln(1 + N / df); words of a question that no memory has are left out.
    """

    def __init__(self, memories: list[Memory]):
        counts = [Counter(characters(memory.content)) for memory in memories]
        frequency = Counter(word for count in counts for word in count)
        self.paths = [memory.path for memory in memories]
        self.idf = {word: math.log(1 + len(memories) / n) for word, n in frequency.items()}
        self.postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for row, count in enumerate(counts):
            weights = {word: n * self.idf[word] for word, n in count.items()}
            norm = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
            for word, weight in weights.items():
                self.postings[word].append((row, weight / norm))

    def search(self, text: str) -> list[str]:
        """The best DEPTH paths; equal scores stay in the order of the rows."""
        scores: dict[int, float] = defaultdict(float)
        for word, n in Counter(characters(text)).items():
            for row, weight in self.postings.get(word, ()):
                scores[row] += weight * n * self.idf[word]
        best = sorted(scores, key=lambda row: (-scores[row], row))[:DEPTH]
        return [self.paths[row] for row in best]


# ----------------------------------------------------------------------------------------- server


def digest(path: str, content: str) -> str:
    return hashlib.sha256(f"{path}\0{content}".encode()).hexdigest()


def load(connection, labelled: LabelledSet, anew: bool) -> None:
    """Makes the namespace hold exactly the set's rows; rows already there are left alone unless `anew`.

    Each batch commits for itself, so an interrupted load goes on where it stopped. A row is known by its
    path and content: after a change of `occurred_at` alone, load anew.
    """
    if anew:
        connection.execute("delete from memories where namespace = %s", (labelled.namespace,))
    files = {memory.path: memory.content for memory in labelled.memories if memory.whole_file}
    rows = [memory for memory in labelled.memories if not memory.whole_file]
    # Whatever the database does by itself, here the figures need every vector at once.
    connection.execute("set summer_memory.embed = 'sync'")
    for path, content in files.items():
        # Does nothing where the document is there.
        connection.execute("select memory_import(%s, %s::text, %s)", (path, content, labelled.namespace))
    wanted = {digest(memory.path, memory.content): memory for memory in rows}
    stored = connection.execute(
        "select id, path, content from memories where namespace = %s and not path = any(%s) order by id",
        (labelled.namespace, list(files)),
    ).fetchall()
    stale, present = [], set()
    for row_id, path, content in stored:
        key = digest(path, content)
        if key in wanted and key not in present:
            present.add(key)
        else:
            stale.append(row_id)
    missing = [memory for key, memory in wanted.items() if key not in present]
    if stale:
        connection.execute(
            "delete from memories where namespace = %s and id = any(%s)", (labelled.namespace, stale)
        )
    if not missing and not stale:
        progress(f"{labelled.name}: {len(present)} rows are there already")
        return
    started = time.monotonic()
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        connection.execute(
            "insert into memories (namespace, path, content, occurred_at) "
            "select %s, m.path, m.content, m.occurred_at "
            "from unnest(%s::text[], %s::text[], %s::timestamptz[]) as m(path, content, occurred_at)",
            (
                labelled.namespace,
                [memory.path for memory in batch],
                [memory.content for memory in batch],
                [memory.occurred_at for memory in batch],
            ),
        )
        done = start + len(batch)
        seconds = time.monotonic() - started
        left = seconds / done * (len(missing) - done)
        rest = f", about {left:.0f} s left" if done < len(missing) else f" in {seconds:.0f} s"
        progress(f"{labelled.name}: {done}/{len(missing)} rows loaded{rest}")


def require_vectors(connection, labelled: LabelledSet) -> str:
    """The one model all rows' vectors are of. Rows without a vector, or of two models, are an error."""
    rows, without, models, name = connection.execute(
        "select count(*), count(*) filter (where embedding is null), "
        "count(distinct model) filter (where embedding is not null), max(model::text) "
        "from memories where namespace = %s",
        (labelled.namespace,),
    ).fetchone()
    if without:
        raise QualityError(f"{labelled.name}: {without} of {rows} rows have no embedding")
    if models > 1:
        raise QualityError(f"{labelled.name}: the rows have embeddings of {models} models")
    return name or "unknown"


def search_arm(connection, labelled: LabelledSet, arm: str) -> list[list[str]]:
    """The paths found for every question, through memory_search. A degraded answer is an error."""
    mode, fusion = ARMS.get(arm, ("hybrid", "rrf"))
    connection.execute("select set_config('summer_memory.link_weight', %s, false)", (str(LINKS.get(arm, 0)),))
    found = []
    for number, question in enumerate(labelled.questions, 1):
        rows = connection.execute(
            SEARCH, (question.text, DEPTH, labelled.namespace, mode, fusion, labelled.by_path)
        ).fetchall()
        reasons = {degraded for _, degraded in rows if degraded}
        if reasons:
            raise QualityError(f"{labelled.name}: the search was degraded: {sorted(reasons)[0]}")
        found.append([path for path, _ in rows])
        if number % 250 == 0:
            progress(f"{labelled.name}: {LABELS[arm]} {number}/{len(labelled.questions)} questions")
    return found


# ---------------------------------------------------------------------------------------- figures


def first_hit(found: list[str], answers: frozenset[str]) -> int:
    """The rank, from 1, of the first path that is an answer; 0 if none of the first DEPTH is."""
    return next((rank for rank, path in enumerate(found[:DEPTH], 1) if path in answers), 0)


def figures(ranks: list[int]) -> dict[str, float]:
    """recall@k (questions with an answer in the first k) and MRR, in percent with one decimal."""
    share = 100 / len(ranks)
    result = {f"recall@{k}": round(share * sum(0 < rank <= k for rank in ranks), 1) for k in CUTOFFS}
    result[f"mrr@{DEPTH}"] = round(share * sum(1 / rank for rank in ranks if rank), 1)
    return result


def summarise(labelled: LabelledSet, ranks: dict[str, list[int]]) -> dict:
    """The figures of every arm, over all questions and by kind."""
    kinds = sorted({question.kind for question in labelled.questions if question.kind})
    by_kind = {
        kind: {
            arm: figures([r for r, q in zip(values, labelled.questions) if q.kind == kind])
            for arm, values in ranks.items()
        }
        for kind in kinds
    }
    return {
        "set": labelled.name,
        "memories": len(labelled.memories),
        "questions": len(labelled.questions),
        "questions_available": labelled.available,
        "overall": {arm: figures(values) for arm, values in ranks.items()},
        "by_kind": by_kind,
    }


def table(labelled: LabelledSet, summary: dict) -> str:
    """The summary as Markdown."""
    names = [f"recall@{k}" for k in CUTOFFS] + [f"mrr@{DEPTH}"]
    asked = f"{summary['questions']} questions"
    if summary["questions"] < summary["questions_available"]:
        asked += f" (evenly spaced out of {summary['questions_available']})"
    lines = [
        f"# Search quality: {labelled.name}",
        "",
        f"{summary['memories']} memories, {asked}. Percent.",
        *([f"Model: {summary['model']}. PostgreSQL {summary['server']}."] if "model" in summary else []),
        "",
        "| arm | R@1 | R@5 | R@10 | MRR@10 |",
        "|---|---|---|---|---|",
    ]
    for arm, values in summary["overall"].items():
        lines.append(f"| {LABELS[arm]} | " + " | ".join(f"{values[n]:.1f}" for n in names) + " |")
    if summary["by_kind"]:
        arms = list(summary["overall"])
        counts = Counter(question.kind for question in labelled.questions)
        lines += [
            "",
            "R@1 / R@5 / MRR@10 by kind of question:",
            "",
            "| kind | questions | " + " | ".join(LABELS[arm] for arm in arms) + " |",
            "|---|---|" + "---|" * len(arms),
        ]
        for kind, by_arm in summary["by_kind"].items():
            cells = (
                f"{by_arm[arm]['recall@1']:.1f} / {by_arm[arm]['recall@5']:.1f} / "
                f"{by_arm[arm][f'mrr@{DEPTH}']:.1f}"
                for arm in arms
            )
            lines.append(f"| {kind} | {counts[kind]} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def below(summary: dict, thresholds: dict) -> list[str]:
    """What is under its threshold. A threshold of an arm that was not measured is not checked."""
    complaints = []
    wanted = thresholds.get(summary["set"], {})
    groups = [("", wanted.get("overall", {}), summary["overall"])]
    groups += [
        (f" {kind}", arms, summary["by_kind"].get(kind, {}))
        for kind, arms in wanted.get("by_kind", {}).items()
    ]
    for label, arms, measured in groups:
        for arm, limits in arms.items():
            for name, limit in limits.items():
                if arm in measured and measured[arm][name] < limit:
                    complaints.append(
                        f"{summary['set']}{label}: {LABELS[arm]} {name} {measured[arm][name]} < {limit}"
                    )
    return complaints


# ---------------------------------------------------------------------------------------- program


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def print_misses(labelled: LabelledSet, found: dict[str, list[list[str]]]) -> None:
    """Every question an arm did not answer first, with what it answered."""
    for arm, lists in found.items():
        for question, paths in zip(labelled.questions, lists):
            rank = first_hit(paths, question.answers)
            if rank != 1:
                print(
                    f"{labelled.name}\t{arm}\t{question.kind}\trank {rank or '-'}\t{question.text}\t"
                    f"wanted {','.join(sorted(question.answers))}\tgot {','.join(paths[:3])}"
                )


def measure(labelled: LabelledSet, connection, anew: bool, show_misses: bool, links: bool) -> dict:
    """Loads the set (when there is a connection), asks everything, returns the summary."""
    found: dict[str, list[list[str]]] = {}
    about = {}
    if connection is not None:
        load(connection, labelled, anew)
        about = {
            "model": require_vectors(connection, labelled),
            "server": connection.execute("select current_setting('server_version')").fetchone()[0],
        }
        for arm in [*ARMS, *(LINKS if links else [])]:
            found[arm] = search_arm(connection, labelled, arm)
    baseline = CharacterTfIdf(labelled.memories)
    found[TFIDF] = [baseline.search(question.text) for question in labelled.questions]
    if show_misses:
        print_misses(labelled, found)
    ranks = {
        arm: [first_hit(paths, q.answers) for paths, q in zip(lists, labelled.questions)]
        for arm, lists in found.items()
    }
    return summarise(labelled, ranks) | about


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Recall and MRR of memory_search on labelled questions.")
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        help="folder or file with a labelled set; may be repeated (default: tests/quality)",
    )
    parser.add_argument("--dsn", default="", help="connection string (default: the PG* environment)")
    parser.add_argument(
        "--sample",
        type=int,
        default=1000,
        help="questions of a public set, evenly spaced (default 1000, 0 = all); the own set is asked whole",
    )
    parser.add_argument(
        "--min",
        type=Path,
        default=ROOT / "tests/quality/thresholds.json",
        help="thresholds (default: tests/quality/thresholds.json)",
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "bench/results", help="where the results are written"
    )
    parser.add_argument("--dry-run", action="store_true", help="no server: only TF-IDF, no files")
    parser.add_argument("--links", action="store_true", help="also with the link arm, by several weights")
    parser.add_argument("--reload", action="store_true", help="delete the stored rows first")
    parser.add_argument("--misses", action="store_true", help="list the questions not answered first")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    try:
        thresholds = json.loads(options.min.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise QualityError(f"cannot read the thresholds: {error}") from error
    sets = read_sets(options.data or [ROOT / "tests/quality"], options.sample)
    if options.dry_run:
        return report(sets, None, options, thresholds)
    import psycopg  # only here, so that a dry run needs nothing but Python

    try:
        with psycopg.connect(options.dsn, autocommit=True) as connection:
            return report(sets, connection, options, thresholds)
    except psycopg.Error as error:
        raise QualityError(str(error).strip()) from error


def report(sets: list[LabelledSet], connection, options: argparse.Namespace, thresholds: dict) -> int:
    """Measures, prints and writes every set; 1 when a figure is below its threshold, else 0."""
    complaints = []
    for labelled in sets:
        summary = measure(labelled, connection, options.reload, options.misses, options.links)
        text = table(labelled, summary)
        print(text)
        if connection is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            stem = options.out / f"quality-{labelled.name}"
            stem.with_suffix(".md").write_text(text, encoding="utf-8")
            stem.with_suffix(".json").write_text(
                json.dumps(summary, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
            )
        complaints += below(summary, thresholds)
    for complaint in complaints:
        progress(f"below threshold: {complaint}")
    return 1 if complaints else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except QualityError as error:
        progress(f"error: {error}")
        sys.exit(2)
