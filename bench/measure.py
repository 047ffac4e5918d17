"""Arithmetic over marks and processes: rate, percentiles, duplicates, CPU of others, memory.

Pure where it can be; what reads the machine goes through psutil. The rate is the slope of the
completion curve from the moment every worker has handled a job to the last job, so start-up
is never counted; a system that fetches in batches gains at most one batch in its last fetch.
"""

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.marks import Mark


def slope(marks: Sequence[Mark], workers: int, limit: int | None = None) -> float | None:
    """Return jobs a second once all workers run; None where some worker never handled a job."""
    first: dict[int, int] = {}
    for mark in marks:
        first.setdefault(mark.pid, mark.at_ns)
    if len(first) < workers:
        return None
    begin = max(first.values())
    counted = [mark.at_ns for mark in marks if mark.at_ns > begin][:limit]
    if len(counted) < 2:
        return None
    return len(counted) * 1e9 / (counted[-1] - begin)


def duplicates(marks: Sequence[Mark]) -> int:
    """Count the handlings beyond the first of each number."""
    return len(marks) - len({mark.number for mark in marks})


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with its lowest and highest round."""

    median: float
    low: float
    high: float
    rounds: int

    @staticmethod
    def of(values: Sequence[float]) -> "Spread":
        """Summarise the rounds."""
        return Spread(statistics.median(values), min(values), max(values), len(values))

    def ahead_of(self, other: "Spread") -> bool:
        """Say whether even our worst round beats the other's best."""
        return self.low > other.high


def busy_seconds() -> float:
    """Return the CPU seconds that the whole machine has spent, but for idle and stolen time."""
    times = psutil.cpu_times()
    return times.user + times.system + times.nice


def tree_seconds(root: psutil.Process) -> float:
    """Return the CPU seconds of a process, everything below it and what they have reaped."""
    total = 0.0
    for process in [root, *root.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


class Neighbours:
    """Measures how much CPU processes that are not ours take, in cores."""

    def __init__(self) -> None:
        """Start counting."""
        self.root = psutil.Process()
        self.begin = time.monotonic()
        self.busy, self.ours = busy_seconds(), tree_seconds(self.root)

    def cores(self) -> float:
        """Return the cores that others took since the start."""
        elapsed = max(time.monotonic() - self.begin, 1e-3)
        others = (busy_seconds() - self.busy) - (tree_seconds(self.root) - self.ours)
        return max(0.0, others) / elapsed


def resident_megabytes(pids: Sequence[int]) -> float:
    """Return the resident memory of the processes and everything below them."""
    total = 0
    for pid in pids:
        root = psutil.Process(pid)
        total += sum(
            process.memory_info().rss for process in [root, *root.children(recursive=True)]
        )
    return total / 2**20


def thread_seconds(pids: Sequence[int]) -> float:
    """Return CPU seconds of process trees to the nanosecond: clock ticks are too coarse for idling."""
    total = 0
    for pid in pids:
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            for task in Path(f"/proc/{process.pid}/task").iterdir():
                total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9
