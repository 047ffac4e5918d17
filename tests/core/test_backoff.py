from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.backoff import Backoff, delay

PLAIN = Backoff()


def test_delays_double_from_five_seconds_to_an_hour() -> None:
    seconds = [delay(PLAIN, attempt).total_seconds() for attempt in range(1, 13)]
    assert seconds == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


def test_a_million_attempts_still_wait_an_hour() -> None:
    for attempt in (2000, 10**6, 10**18):
        assert delay(PLAIN, attempt) == timedelta(hours=1)
    assert delay(Backoff(factor=1e300), 3) == timedelta(hours=1)


def test_a_factor_of_one_keeps_the_base() -> None:
    assert delay(Backoff(factor=1), 10**9) == timedelta(seconds=5)


def test_no_base_means_no_wait_and_a_low_cap_wins() -> None:
    assert delay(Backoff(base=timedelta(0)), 50) == timedelta(0)
    assert delay(Backoff(cap=timedelta(seconds=2)), 1) == timedelta(seconds=2)


@given(st.integers(1, 10**6), st.floats(0, 1, exclude_max=True), st.floats(0, 1))
def test_luck_only_shortens_and_by_its_share_at_most(
    attempt: int, fraction: float, jitter: float
) -> None:
    full = delay(PLAIN, attempt)
    short = delay(Backoff(jitter=jitter), attempt, fraction=fraction)
    slip = timedelta(microseconds=1)
    assert full * (1 - jitter) - slip <= short <= full


@given(st.integers(1, 5000))
def test_a_later_attempt_never_waits_less(attempt: int) -> None:
    assert delay(PLAIN, attempt) <= delay(PLAIN, attempt + 1) <= PLAIN.cap


def test_nonsense_is_refused() -> None:
    for make in (
        lambda: Backoff(factor=0.5),
        lambda: Backoff(factor=float("nan")),
        lambda: Backoff(jitter=1.5),
        lambda: Backoff(base=timedelta(seconds=-1)),
        lambda: delay(PLAIN, 0),
        lambda: delay(PLAIN, 1, fraction=1.0),
    ):
        with pytest.raises(ValueError):
            make()
