"""Runs the SQL of the documentation and compares what it prints with what the documentation says.

Every block marked ``sql`` of a file is run in order, in one session and a fresh database of its own; a block
marked ``text`` directly below is its expected output, as psql prints it. ``sql fails`` must raise an
error, ``sql norun`` is not run. Blank space at line ends, times and dates with a time do not count. A block marked
``python`` is run between them by Python, in a session of its own of the same database, with the PG* variables set.

Also checked: files that a document links to exist, and docs/reference.md names every function, view, table,
column and setting the extension has, and no other, settings with their defaults.

What must hold: the server of scripts/server.sh runs; nothing is left behind in it.
"""

import base64
import dataclasses
import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = "docs/reference.md"
MARK = "--8<-- block {} --8<--"

FENCE = re.compile(r"^(`{3,})\s*(.*?)\s*$")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
MASKS = (
    (re.compile(r"\b\d+(\.\d+)? ?ms\b"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+([+-]\d\d(:\d\d)?)?"), "<now>"),
)


@dataclasses.dataclass
class Block:
    """A block of SQL or Python, and the output below it if there is one."""

    line: int
    text: str
    fails: bool
    python: bool = False
    expected: str | None = None


def read_blocks(text):
    """The blocks of a Markdown text that are to be run."""
    blocks = []
    last = None
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if fence is None:
            if match:
                fence, kind, start, body = match[1], match[2].split(), number, []
            elif line.strip():
                last = None  # Prose between SQL and text: not its output.
        elif match and match[1] == fence and not match[2]:
            fence = None
            content = "\n".join(body)
            if kind[:1] in (["sql"], ["python"]) and "norun" not in kind:
                last = Block(start, content, "fails" in kind, kind[0] == "python")
                blocks.append(last)
            elif kind[:1] == ["text"] and last is not None:
                last.expected = content
                last = None
            else:
                last = None
        else:
            body.append(line)
    if fence is not None:
        raise SystemExit(f"a block that begins at line {start} does not end")
    return blocks


def psql(arguments, **options):
    command = [os.environ["PSQL"], "-X", "-q", *arguments]
    return subprocess.run(command, cwd=ROOT, text=True, encoding="utf-8", check=False, **options)


def admin(sql):
    done = psql(["-d", "postgres", "-v", "ON_ERROR_STOP=1"], input=sql, capture_output=True)
    if done.returncode:
        raise SystemExit(f"could not prepare a database: {done.stderr.strip()}\nIs the server running? scripts/server.sh start")


def script(blocks):
    """One psql script; marks in both streams tell which block an output belongs to."""
    lines = ["\\pset pager off"]
    for number, block in enumerate(blocks):
        mark = MARK.format(number)
        lines += [f"\\echo {mark}", f"\\warn {mark}", f"\\set ON_ERROR_STOP {'off' if block.fails else 'on'}"]
        # As one line, for psql reads a shell command up to the line's end.
        code = f"import base64; exec(base64.b64decode('{base64.b64encode(block.text.encode()).decode()}'))"
        lines.append(f'\\! python3 -c "{code}"' if block.python else block.text)
    lines += [f"\\echo {MARK.format(len(blocks))}", f"\\warn {MARK.format(len(blocks))}"]
    return "\n".join(lines) + "\n"


def by_block(output, count):
    """What each block printed; None for those that were not reached."""
    parts = re.split(r"^" + re.escape(MARK).replace(r"\{\}", r"\d+") + r"\n", output, flags=re.MULTILINE)[1:]
    return [parts[number] if number < len(parts) else None for number in range(count)]


def comparable(text):
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return [line for line in lines if line]


def run_blocks(name, blocks, database):
    """Runs the blocks in `database`; returns the failures."""
    environment = os.environ | {"PGDATABASE": database}
    done = psql(["-d", database], input=script(blocks), capture_output=True, env=environment)
    prints = by_block(done.stdout, len(blocks) + 1)
    notices = by_block(done.stderr, len(blocks) + 1)
    failures = []
    for number, block in enumerate(blocks):
        where = f"{name}:{block.line}"
        if prints[number] is None or notices[number] is None:
            failures.append(f"{where}: not reached")
            continue
        raised = re.search(r"^(ERROR: |Traceback )", notices[number], flags=re.MULTILINE)
        if raised and not block.fails:
            failures.append(f"{where}: {notices[number].strip()}")
        elif block.fails and not raised:
            failures.append(f"{where}: no error")
        elif block.expected is not None:
            expected = comparable(block.expected)
            actual = comparable(notices[number] + prints[number])
            if expected != actual:
                diff = difflib.unified_diff(expected, actual, "documented", "printed", lineterm="", n=1)
                failures.append(f"{where}: another output\n    " + "\n    ".join(diff))
    return failures


def check_links(path, text):
    failures = []
    for target in LINK.findall(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        if not re.match(r"[a-z]+:|#", target):
            file = target.split("#")[0]
            if not (path.parent / file).exists():
                failures.append(f"{path.relative_to(ROOT)}: link to \"{file}\", which is not there")
    return failures


NAMES = {
    "function": """
        select distinct p.proname || '(' from pg_proc p
        join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
        join pg_extension e on e.oid = d.refobjid where e.extname = 'summer_memory'""",
    "relation": """
        select c.relname from pg_class c where c.relkind in ('r', 'v')
        and (exists (select from pg_depend d join pg_extension e on e.oid = d.refobjid
            where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e' and e.extname = 'summer_memory')
        or c.relname in ('memories', 'memory_words', 'memory_options'))""",
    "column": """
        select a.attname from pg_attribute a
        where a.attrelid in ('memories'::regclass, 'memory_words'::regclass, 'memory_models'::regclass,
            'memory_status'::regclass) and a.attnum > 0 and not a.attisdropped""",
    "setting": "select name from pg_settings where name like 'summer_memory.%'",
}
DEFAULTS = "select name, boot_val || coalesce(' ' || unit, '') from pg_settings where name like 'summer_memory.%'"


def check_reference(text, database):
    """docs/reference.md and the installed extension name the same things."""
    failures = []

    def rows(sql):
        done = psql(["-At", "-F", "\t", "-d", database, "-v", "ON_ERROR_STOP=1"], input=sql, capture_output=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]

    code = " ".join(re.findall(r"^```.*?^```|`[^`\n]+`", text, flags=re.MULTILINE | re.DOTALL))
    for kind, sql in NAMES.items():
        for (name,) in rows(sql):
            if not re.search(r"(?<![a-z_.])" + re.escape(name), code):
                failures.append(f"{REFERENCE}: {kind} \"{name}\" is missing")
    functions = {name for (name,) in rows(NAMES["function"])}
    for name in sorted(set(re.findall(r"\b(?:memory|jieba)_[a-z_]+\(", code))):
        if name not in functions:
            failures.append(f"{REFERENCE}: function \"{name}\" does not exist")
    settings = dict(rows(DEFAULTS))
    for name in sorted(set(re.findall(r"\bsummer_memory\.[a-z0-9_]+\b", code))):
        if name not in settings and not name.endswith((".control", ".so")):
            failures.append(f"{REFERENCE}: setting \"{name}\" does not exist")
    for name, default in settings.items():
        row = re.search(r"^\| `" + re.escape(name) + r"` \| ([^|]*) \|", text, flags=re.MULTILINE)
        if row and row[1].strip().strip("`") != (default or "empty"):
            failures.append(f"{REFERENCE}: default of {name} is {default or 'empty'}, not {row[1].strip()}")
    return failures


def main():
    documents = sorted(ROOT.glob("README*.md")) + sorted(ROOT.glob("docs/*.md"))
    wanted = [(ROOT / name).resolve() for name in sys.argv[1:]]
    broken = False
    for path in documents:
        if wanted and path not in wanted:
            continue
        name = str(path.relative_to(ROOT))
        text = path.read_text(encoding="utf-8")
        blocks = read_blocks(text)
        failures = check_links(path, text)
        checks = len(blocks) + 1
        database = "docs_" + re.sub(r"\W", "_", path.stem.lower())
        admin(f"set client_min_messages = error; drop database if exists {database} with (force);")
        admin(f"create database {database} template template0 encoding 'UTF8';")
        try:
            failures += run_blocks(name, blocks, database)
            if name == REFERENCE:
                checks += 1
                failures += check_reference(text, database)
        finally:
            admin(f"drop database if exists {database} with (force);")
        for failure in failures:
            print(failure)
        broken = broken or bool(failures)
        failed = min(len(failures), checks)
        print(f"{name}: {checks - failed} passed, {failed} failed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
