"""What the machine does meanwhile: CPU of other processes, CPU and memory of a worker.

Reads /proc through psutil, so Linux only where it matters (`thread_seconds`). Kernel threads
count as others; stolen and waiting time do not.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import psutil


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
