"""What the processes of a server cost, read from /proc: memory as shared out by the kernel, CPU time.

What it is not: a profiler. What must hold: the reader is root or the user the server runs as, on Linux.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
MB = 1e6
# How often the peak is looked for. A look costs about a millisecond, so never while latency is measured.
SAMPLE_SECONDS = 0.02


def stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the third (state) on; the second may contain anything."""
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()


class Server:
    """A running server, known by its data folder."""

    def __init__(self, data: Path) -> None:
        self.postmaster = int((data / "postmaster.pid").read_text().split()[0])

    def pids(self) -> list[int]:
        """The postmaster and its children, which are all processes of a server."""
        found = [self.postmaster]
        for entry in PROC.iterdir():
            if entry.name.isdigit():
                try:
                    if int(stat(int(entry.name))[1]) == self.postmaster:
                        found.append(int(entry.name))
                except (FileNotFoundError, ProcessLookupError):
                    continue
        return found

    def pss_mb(self) -> float:
        """Memory of all processes, each shared page counted once in all."""
        return sum(memory_mb(pid, "Pss") for pid in self.pids())

    def cpu_seconds(self) -> float:
        """User and system time so far, of processes that have ended as well."""
        ended = sum(int(field) for field in stat(self.postmaster)[13:15]) / TICKS
        return ended + sum(process_seconds(pid) for pid in self.pids())

    @contextmanager
    def peak_pss_mb(self) -> Iterator[list[float]]:
        """Collects pss_mb() every SAMPLE_SECONDS while the body runs; the peak is the max of the list."""
        samples = [self.pss_mb()]
        done = threading.Event()

        def sample() -> None:
            while not done.wait(SAMPLE_SECONDS):
                samples.append(self.pss_mb())

        thread = threading.Thread(target=sample)
        thread.start()
        try:
            yield samples
        finally:
            done.set()
            thread.join()


def process_seconds(pid: int) -> float:
    """User and system time of one process so far, to 10 ms; 0 if it has ended."""
    try:
        return sum(int(field) for field in stat(pid)[11:13]) / TICKS
    except (FileNotFoundError, ProcessLookupError):
        return 0.0


def memory_mb(pid: int, *kinds: str) -> float:
    """Sum of some lines of /proc/PID/smaps_rollup, such as Pss or Private_Dirty; 0 if it has ended."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    sizes = dict(line.split()[:2] for line in lines[1:])
    return sum(int(sizes.get(f"{kind}:", 0)) for kind in kinds) * 1024 / MB


def peak_mb(pid: int) -> float:
    """Most memory a process has had in use, shared pages it touched included."""
    lines = (PROC / str(pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024 / MB


def private_mb(pid: int) -> float:
    """Memory that a process shares with no other."""
    return memory_mb(pid, "Private_Dirty", "Private_Clean")


def wait_for_end(pid: int) -> None:
    """Returns when the process is gone."""
    while (PROC / str(pid)).exists():
        time.sleep(0.001)
