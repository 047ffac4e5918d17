"""What is counted of a worker, and how Prometheus reads it.

Counting is a dictionary and a list per task, so that it costs a fraction of a microsecond on the hot
path; the numbers become metric families only when somebody scrapes. `collector(meters)` is registered
with a Prometheus registry by whoever serves `/metrics`.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cadenza.engine.job import Claimed
from cadenza.engine.outcomes import Verdict

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

BUCKETS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)


@dataclass(slots=True)
class Spans:
    """A histogram of seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one span."""
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


class Meters:
    """The counters of one process."""

    def __init__(self) -> None:
        self.runs: dict[tuple[str, str, Verdict], int] = {}
        self.spans: dict[tuple[str, str], Spans] = {}
        self.claims = 0
        self.claimed = 0
        self.settled = 0
        self.refused = 0  # settlements that found their lease gone
        self.dropped = 0  # settlements that raised an error of ours in every form
        self.rescued = 0
        self.buried = 0
        self.fired = 0
        self.store_errors = 0

    def ran(self, claimed: Claimed, verdict: Verdict, seconds: float) -> None:
        """Count one run."""
        key = (claimed.queue, claimed.task, verdict)
        self.runs[key] = self.runs.get(key, 0) + 1
        spans = self.spans.get(key[:2])
        if spans is None:
            spans = self.spans[key[:2]] = Spans()
        spans.add(seconds)


class collector:  # noqa: N801 - reads as a function: registry.register(collector(meters))
    """Meters as Prometheus wants them."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters

    def collect(self) -> "Iterator[Metric]":
        """Yield every family."""
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        meters = self._meters
        runs = CounterMetricFamily(
            "cadenza_jobs_run", "Runs of jobs by outcome", labels=["queue", "task", "outcome"]
        )
        for (queue, task, verdict), count in meters.runs.items():
            runs.add_metric([queue, task, verdict.value], count)
        yield runs
        spans = HistogramMetricFamily(
            "cadenza_job_seconds", "How long runs took", labels=["queue", "task"]
        )
        for (queue, task), span in meters.spans.items():
            spans.add_metric([queue, task], buckets=_cumulated(span), sum_value=span.total)
        yield spans
        for name, text, value in (
            ("claims", "Claims that brought something", meters.claims),
            ("jobs_claimed", "Jobs claimed", meters.claimed),
            ("jobs_settled", "Outcomes written", meters.settled),
            ("settlements_refused", "Outcomes of a lost lease, not written", meters.refused),
            ("settlements_dropped", "Outcomes that could not be written at all", meters.dropped),
            ("jobs_rescued", "Jobs taken back from silent workers", meters.rescued),
            ("jobs_buried", "Jobs failed because their process kept dying", meters.buried),
            ("schedules_fired", "Occurrences that this process fired", meters.fired),
            (
                "store_errors",
                "Calls to the store that failed and were tried again",
                meters.store_errors,
            ),
        ):
            yield CounterMetricFamily(f"cadenza_{name}", text, value=value)


def _cumulated(span: Spans) -> list[tuple[str, float]]:
    so_far = 0
    buckets: list[tuple[str, float]] = []
    for bound, count in zip((*BUCKETS, float("inf")), span.counts, strict=True):
        so_far += count
        buckets.append(("+Inf" if bound == float("inf") else str(bound), so_far))
    return buckets
