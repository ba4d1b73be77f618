"""Throw-away PostgreSQL servers for tests that start, stop, crash and copy them.

What it is for: `Cluster` is one server in a temporary folder, `Session` one connection to it, and
`ClusterTest` a test class with a server of its own whose log is read at the end.

What it is not: a fixture of data. Each test file makes what it needs.

What must hold: a server listens on a Unix socket in its own folder only, so the port is the same for all of
them and never meets another server; every class leaves no process and no file behind; every server's log is
free of panics, of signals nobody sent, and of SQLSTATE XX000, which would be a bug of the extension.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg

PGBIN = Path(os.environ["SUMMER_MEMORY_PGBIN"])
DEFAULT_MODEL = "multilingual-e5-small"
MODEL_FOLDER = Path(os.environ["SUMMER_MEMORY_MODEL"])
# Part of the socket's name, nothing more.
PORT = 54340
DATABASE = "summer"
# A limit for things that take a moment: never a measurement.
PATIENCE = 60

CONF = {
    "listen_addresses": "",
    "port": str(PORT),
    "shared_buffers": "64MB",
    "max_wal_size": "512MB",
    # A killed process loses nothing it has handed to the kernel; only a power cut would.
    "fsync": "off",
    "logging_collector": "off",
    "log_line_prefix": "%m [%p] %b %e ",
    "timezone": "UTC",
    "lc_messages": "C",
}

_template: Path | None = None


def template() -> Path:
    """Data folder that initdb made, once a run."""
    global _template
    if _template is None:
        folder = Path(tempfile.mkdtemp(prefix="smc."))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _template = folder / "data"
        subprocess.run(
            [PGBIN / "initdb", "-D", _template, "-U", "postgres", "--auth=trust", "--no-sync",
             *os.environ["SUMMER_MEMORY_INITDB"].split()],
            check=True, capture_output=True)
        with open(_template / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write("include 'test.conf'\n")
    return _template


class Session:
    """One connection in autocommit mode; `notices` collects what the server says."""

    def __init__(self, connection: psycopg.Connection):
        self.connection = connection
        # (severity, message, SQLSTATE) of each.
        self.notices: list[tuple[str, str, str]] = []
        connection.add_notice_handler(self._notice)

    def _notice(self, notice: psycopg.errors.Diagnostic):
        # Read at once: the result behind it is freed after the call.
        self.notices.append((notice.severity_nonlocalized, notice.message_primary, notice.sqlstate))

    @property
    def pid(self) -> int:
        return self.connection.info.backend_pid

    def run(self, sql: str, *arguments) -> int:
        """Executes; the number of rows it was about."""
        # None instead of an empty tuple: without arguments "%" is an ordinary character.
        return self.connection.execute(sql, arguments or None).rowcount

    def rows(self, sql: str, *arguments) -> list[tuple]:
        return self.connection.execute(sql, arguments or None).fetchall()

    def column(self, sql: str, *arguments) -> list:
        return [row[0] for row in self.rows(sql, *arguments)]

    def value(self, sql: str, *arguments):
        rows = self.rows(sql, *arguments)
        assert len(rows) == 1, f"{len(rows)} rows instead of one"
        return rows[0][0]

    def warnings(self) -> list[str]:
        """Messages of the warnings since the last call."""
        found = [message for severity, message, _ in self.notices if severity == "WARNING"]
        self.notices.clear()
        return found

    def transaction(self):
        return self.connection.transaction()

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Cluster:
    """One server. `preload` puts the extension into shared_preload_libraries; `conf` adds settings."""

    def __init__(self, *, preload: bool = True, conf: dict[str, str] | None = None, data: Path | None = None):
        # Short, because the path of a socket has at most 107 bytes.
        self.home = Path(tempfile.mkdtemp(prefix="smc."))
        self.data = self.home / "data"
        self.log_file = self.home / "log"
        self.models = self.home / "models"
        self.models.mkdir()
        self.conf = {**CONF, "unix_socket_directories": str(self.home), **(conf or {})}
        if preload:
            self.conf["shared_preload_libraries"] = "summer_memory"
        self.process: subprocess.Popen | None = None
        self.sessions: list[Session] = []
        if data is None:
            shutil.copytree(template(), self.data)
        atexit.register(self.remove)

    # Life of the server

    def start(self):
        """Starts the server and waits until it accepts connections."""
        (self.data / "test.conf").write_text(
            "".join(f"{name} = '{value}'\n" for name, value in self.conf.items()), encoding="utf-8")
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [PGBIN / "postgres", "-D", self.data], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        eventually(self.answers, "the server starts", on_failure=self.log)

    def answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the server did not start:\n{self.log()}")
        try:
            self.connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: int = signal.SIGINT):
        """SIGINT is a fast shutdown, SIGQUIT an immediate one."""
        for session in self.sessions:
            session.close()
        self.sessions.clear()
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=PATIENCE)
            self.process = None

    def restart(self, how: int = signal.SIGINT):
        self.stop(how)
        self.start()

    def reload(self):
        """Makes every process read the configuration again."""
        (self.data / "test.conf").write_text(
            "".join(f"{name} = '{value}'\n" for name, value in self.conf.items()), encoding="utf-8")
        self.process.send_signal(signal.SIGHUP)

    def kill(self):
        """Kills the postmaster and all its children at once, as a machine out of memory would."""
        children = self.children()
        self.process.kill()
        for pid in children:
            send(pid, signal.SIGKILL)
        self.process.wait(timeout=PATIENCE)
        self.process = None
        eventually(lambda: not any(alive(pid) for pid in children), "all children are gone")
        self.sessions.clear()

    def remove(self):
        """Stops the server and deletes its folder; does nothing the second time."""
        if self.process is not None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.home, ignore_errors=True)
        atexit.unregister(self.remove)

    # Clients

    def connect(self, database: str = DATABASE, *, user: str = "postgres", options: str = "") -> Session:
        connection = psycopg.connect(
            host=str(self.home), port=PORT, dbname=database, user=user, options=options, autocommit=True,
            connect_timeout=PATIENCE)
        session = Session(connection)
        self.sessions.append(session)
        return session

    def create_database(self, name: str = DATABASE, *, extension: bool = True):
        with self.connect("postgres") as session:
            session.run(f"create database {name}")
        if extension:
            with self.connect(name) as session:
                session.run("set client_min_messages = warning")
                session.run("create extension summer_memory cascade")

    def client(self, program: str, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess:
        """Runs one of PostgreSQL's programs against this server."""
        done = subprocess.run(
            [PGBIN / program, "-h", self.home, "-p", str(PORT), "-U", "postgres", *arguments],
            capture_output=True, text=True, encoding="utf-8", check=False)
        if check and done.returncode != 0:
            raise AssertionError(f"{program} failed:\n{done.stdout}{done.stderr}")
        return done

    # Looking at it

    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def children(self) -> list[int]:
        return [pid for pid, parent in parents() if parent == self.process.pid]

    def workers(self, kind: str) -> list[int]:
        """Processes of a kind, such as "summer_memory model"; those without a database are in no view."""
        postmaster = int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if parent == postmaster and command.startswith(f"postgres: {kind}"):
                found.append(int(entry.name))
        return sorted(found)

    def log_problems(self, killed: int = 0) -> list[str]:
        """Lines no healthy server writes. `killed` processes were killed on purpose."""
        signals = re.compile(r"was terminated by signal|terminated by exception")
        grave = re.compile(r"PANIC|TRAP:|panicked at| XX000 ")
        lines = self.log().splitlines()
        problems = [line for line in lines if grave.search(line)]
        crashed = [line for line in lines if signals.search(line)]
        return problems + (crashed if len(crashed) != killed else [])


class ClusterTest(unittest.TestCase):
    """A test class with one running server and, in database `summer`, the extension."""

    preload = True
    conf: dict[str, str] = {}
    # Processes the tests of the class kill while the server goes on.
    killed = 0
    cluster: Cluster

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(preload=cls.preload)
        cls.addClassCleanup(cls.cluster.remove)
        cls.prepare()
        cls.cluster.conf.update(cls.conf)
        cls.cluster.start()
        cls.cluster.create_database()

    @classmethod
    def prepare(cls):
        """What must be there before the server starts: models, settings that need the server's folder."""

    @classmethod
    def tearDownClass(cls):
        if cls.cluster.process is not None:
            cls.cluster.stop()
        problems = cls.cluster.log_problems(cls.killed)
        assert not problems, "the server's log has:\n" + "\n".join(problems)

    def connect(self, database: str = DATABASE, **options) -> Session:
        session = self.cluster.connect(database, **options)
        self.addCleanup(session.close)
        return session

    @contextmanager
    def refused(self, *states: str):
        """The block must end in an error with one of these SQLSTATEs; the error is given to it."""
        caught = Caught()
        try:
            yield caught
        except psycopg.Error as error:
            self.assertIn(error.sqlstate, states, str(error))
            caught.error = error
        else:
            self.fail(f"no error, expected {' or '.join(states)}")


class Caught:
    """The error a `refused` block ended with."""

    error: psycopg.Error


# Processes

def parents() -> list[tuple[int, int]]:
    """(pid, parent) of every process."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    # The name in parentheses may contain anything, spaces and parentheses included.
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            found.append((int(entry), int(fields[1])))
    return found


def alive(pid: int) -> bool:
    """Whether a process runs; a dead one nobody has waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def send(pid: int, number: int):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def threads(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/task"))


# Time

def eventually(check, what: str, *, seconds: float = PATIENCE, on_failure=None):
    """Asks again and again until `check()` is true, and returns what it gave."""
    deadline = time.monotonic() + seconds
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > deadline:
            more = f"\n{on_failure()}" if on_failure else ""
            raise AssertionError(f"not within {seconds} s: {what}{more}")
        time.sleep(0.05)


def together(count: int, body) -> list:
    """Runs body(0) … body(count - 1) at the same time; their results, or the first error."""
    start = threading.Barrier(count)

    def one(number):
        start.wait(PATIENCE)
        return body(number)

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(one, number) for number in range(count)]
        return [future.result(timeout=4 * PATIENCE) for future in futures]


@contextmanager
def meanwhile(body, *arguments):
    """Runs body while the block runs; gives its future."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(body, *arguments)


def under_way(session: Session) -> int:
    """Requests in the embedding queue."""
    return int(re.search(r"(\d+) request", session.value("select memory_embed_place()")).group(1))
