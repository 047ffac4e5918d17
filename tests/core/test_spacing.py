from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.ids import SeededRandom
from cadenza.core.spacing import pace, random_for, random_gap, random_gaps

START = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def test_twenty_a_minute_are_all_given_three_seconds_apart() -> None:
    spaced = pace(20, cursor=START, every=MINUTE / 20)
    assert spaced.instants == tuple(START + 3 * SECOND * i for i in range(20))
    assert spaced.cursor == START + MINUTE


def test_a_second_call_goes_on_where_the_first_ended() -> None:
    whole = pace(10, cursor=START, every=MINUTE).instants
    first = pace(4, cursor=START, every=MINUTE)
    assert first.instants + pace(6, cursor=first.cursor, every=MINUTE).instants == whole


def test_nothing_asked_moves_nothing() -> None:
    assert pace(0, cursor=START, every=MINUTE) == pace(0, cursor=START, every=SECOND)
    assert pace(0, cursor=START, every=MINUTE).cursor == START


SPANS = st.integers(0, 600).map(lambda s: timedelta(seconds=s))


@given(
    counts=st.lists(st.integers(0, 20), min_size=1, max_size=4),
    every=SPANS,
    jitter=SPANS,
    minimum=SPANS,
    seed=st.integers(),
)
def test_neighbours_keep_the_minimum_even_across_calls(
    counts: list[int], every: timedelta, jitter: timedelta, minimum: timedelta, seed: int
) -> None:
    rng, cursor = SeededRandom(seed), START
    instants: list[datetime] = []
    for count in counts:
        spaced = pace(count, cursor=cursor, every=every, jitter=jitter, minimum=minimum, rng=rng)
        instants += spaced.instants
        cursor = spaced.cursor
    assert len(instants) == sum(counts)
    assert all(b - a >= minimum for a, b in pairwise(instants))


@given(seed=st.integers(), count=st.integers(1, 50))
def test_lateness_does_not_add_up(seed: int, count: int) -> None:
    spaced = pace(count, cursor=START, every=MINUTE, jitter=10 * SECOND, rng=SeededRandom(seed))
    for index, instant in enumerate(spaced.instants):
        assert timedelta(0) <= instant - (START + MINUTE * index) < 10 * SECOND


def test_the_same_key_gives_the_same_plan_and_another_another() -> None:
    def plan(*key: object) -> tuple[datetime, ...]:
        rng = random_for(*key)
        gaps = {"shortest": 5 * MINUTE, "longest": 20 * MINUTE}
        return random_gaps(30, cursor=START, rng=rng, **gaps).instants

    assert plan("spring", "ada", 1) == plan("spring", "ada", 1)
    assert plan("spring", "ada", 1) != plan("spring", "ben", 1)
    assert plan("a", "bc") != plan("ab", "c")


@given(seed=st.integers(), low=st.integers(0, 100), width=st.integers(0, 100))
def test_a_random_gap_stays_within_its_bounds(seed: int, low: int, width: int) -> None:
    shortest, longest = low * SECOND, (low + width) * SECOND
    gap = random_gap(shortest, longest, rng=SeededRandom(seed))
    assert shortest <= gap <= longest
    assert gap % SECOND == timedelta(0)
    floor = longest + SECOND
    assert random_gap(shortest, longest, minimum=floor, rng=SeededRandom(seed)) == floor


def test_both_ends_of_a_random_gap_are_reached() -> None:
    rng = SeededRandom(7)
    seen = {random_gap(SECOND, 4 * SECOND, rng=rng) for _ in range(200)}
    assert seen == {SECOND * n for n in (1, 2, 3, 4)}


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="every is"):
        pace(1, cursor=START, every=-SECOND)
    with pytest.raises(ValueError, match="count is -1"):
        pace(-1, cursor=START, every=SECOND)
    with pytest.raises(ValueError, match="needs a generator"):
        pace(1, cursor=START, every=SECOND, jitter=SECOND)
    with pytest.raises(ValueError, match="below the shortest"):
        random_gap(MINUTE, SECOND, rng=SeededRandom(1))
