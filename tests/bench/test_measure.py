"""The benchmark's arithmetic: a wrong rate would make every comparison wrong."""

from bench.marks import Mark
from bench.measure import Spread, duplicates, percentile, slope

SECOND = 1_000_000_000


def test_the_rate_counts_from_the_moment_every_worker_has_handled_a_job() -> None:
    alone = [Mark(number, number * SECOND // 10, 1) for number in range(10)]
    both = [Mark(10 + i, SECOND + i * SECOND // 100, 1 + i % 2) for i in range(101)]

    rate = slope(alone + both, workers=2)

    assert rate is not None
    assert abs(rate - 100) < 1.5


def test_a_worker_that_never_handled_a_job_gives_no_rate() -> None:
    assert slope([Mark(number, number, 1) for number in range(10)], workers=2) is None


def test_jobs_count_as_finished_only_once_the_store_has_settled_them() -> None:
    marks = [Mark(number, number * SECOND // 100, 1) for number in range(101)]

    assert slope(marks, 1) == 100
    assert slope(marks, 1, settled_ns=2 * SECOND) == 50


def test_a_job_handled_twice_is_counted() -> None:
    assert duplicates([Mark(1, 1, 1), Mark(2, 2, 1), Mark(1, 3, 2)]) == 1


def test_percentiles_are_values_that_were_seen() -> None:
    values = [float(value) for value in range(1, 201)]

    assert percentile(values, 0.5) == 100.0
    assert percentile(values, 0.99) == 198.0


def test_spreads_that_cross_are_not_ahead() -> None:
    peer = Spread.of([100.0, 110.0, 120.0])

    assert Spread.of([121.0, 150.0]).ahead_of(peer)
    assert not Spread.of([119.0, 150.0]).ahead_of(peer)
