"""Arithmetic over marks: rate, percentiles, duplicates, spread. Pure, so that it can be tested.

The rate is the slope of the completion curve from the moment every worker has handled a job
until the last one is handled and settled, so start-up is never counted; a system that fetches
in batches gains at most one batch by it.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.marks import Mark


def slope(
    marks: Sequence[Mark],
    workers: int,
    *,
    limit: int | None = None,
    settled_ns: int | None = None,
) -> float | None:
    """Return jobs a second once all workers run; None where some worker never handled a job.

    `settled_ns` moves the end to where the store was empty: work handled but not yet settled
    would be done again after a crash, so it is not finished.
    """
    first: dict[int, int] = {}
    for mark in marks:
        first.setdefault(mark.pid, mark.at_ns)
    if len(first) < workers:
        return None
    begin = max(first.values())
    counted = [mark.at_ns for mark in marks if mark.at_ns > begin][:limit]
    if len(counted) < 2:
        return None
    return len(counted) * 1e9 / (max(counted[-1], settled_ns or 0) - begin)


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
