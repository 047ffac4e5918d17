"""A schedule tells what comes, and after downtime fires what its policy says, and no more."""

from datetime import UTC, datetime, timedelta
from time import thread_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cadenza.core.recurrence import (
    MOST_FIRED,
    ON_TIME,
    Missed,
    Recurrence,
    Within,
    by_cron,
    by_interval,
    due_occurrences,
    last_occurrence,
    next_occurrence,
    preview,
    start_of,
)
from cadenza.core.zones import Fold, Gap, Mark, NaiveDatetimeError

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
YEAR = timedelta(days=365)
HOURLY = by_cron("0 * * * *")


def test_an_interval_keeps_the_phase_of_its_anchor() -> None:
    every = by_interval(timedelta(minutes=90), datetime(2026, 1, 1, 0, 7, tzinfo=UTC))

    assert next_occurrence(every, NOON) == datetime(2026, 5, 4, 12, 7, tzinfo=UTC)
    assert next_occurrence(every, NOON + 8 * MINUTE) == datetime(2026, 5, 4, 13, 37, tzinfo=UTC)


def test_an_interval_begins_with_its_anchor() -> None:
    every = by_interval(HOUR, NOON)

    assert next_occurrence(every, NOON - YEAR) == NOON
    assert next_occurrence(every, NOON - timedelta.resolution) == NOON
    assert next_occurrence(every, NOON) == NOON + HOUR


def test_repeat_until_is_the_last_instant_allowed() -> None:
    until_two = by_cron("0 * * * *", repeat_until=NOON + 2 * HOUR)

    assert next_occurrence(until_two, NOON + HOUR) == NOON + 2 * HOUR
    assert next_occurrence(until_two, NOON + 2 * HOUR) is None
    assert due_occurrences(until_two, NOON, NOON + YEAR).fire == (NOON + 2 * HOUR,)


def test_nothing_due_fires_nothing() -> None:
    due = due_occurrences(HOURLY, NOON, NOON + 59 * MINUTE)

    assert due.fire == ()
    assert due.missed == 0
    assert due.next == NOON + HOUR
    assert due.decided_until == NOON + 59 * MINUTE


def test_missed_runs_collapse_into_the_newest_by_default() -> None:
    due = due_occurrences(HOURLY, NOON, NOON + 5 * HOUR + 20 * MINUTE)

    assert due.fire == (NOON + 5 * HOUR,)
    assert due.missed == 4
    assert due.counted_all
    assert due.next == NOON + 6 * HOUR


def test_skip_fires_only_what_is_on_time() -> None:
    on_time = due_occurrences(HOURLY, NOON, NOON + 5 * HOUR + ON_TIME, Missed.SKIP)
    too_late = due_occurrences(HOURLY, NOON, NOON + 5 * HOUR + ON_TIME + SECOND, Missed.SKIP)

    assert on_time.fire == (NOON + 5 * HOUR,)
    assert on_time.missed == 4
    assert too_late.fire == ()
    assert too_late.missed == 5


def test_all_fires_each_oldest_first() -> None:
    due = due_occurrences(HOURLY, NOON, NOON + 3 * HOUR, Missed.ALL)

    assert due.fire == (NOON + HOUR, NOON + 2 * HOUR, NOON + 3 * HOUR)
    assert due.missed == 0


def test_all_hands_out_a_long_backlog_in_parts_and_loses_none() -> None:
    every_second, end = by_cron("* * * * * *"), NOON + timedelta(seconds=2500)
    parts: list[int] = []
    fired: list[datetime] = []
    last = NOON
    while last < end:
        due = due_occurrences(every_second, last, end, Missed.ALL)
        parts.append(len(due.fire))
        fired += due.fire
        last = due.decided_until

    assert fired == [NOON + n * SECOND for n in range(1, 2501)]
    assert parts == [MOST_FIRED, MOST_FIRED, 500]


def test_within_fires_each_that_is_young_enough() -> None:
    due = due_occurrences(HOURLY, NOON, NOON + 5 * HOUR, Within(2 * HOUR))

    assert due.fire == (NOON + 3 * HOUR, NOON + 4 * HOUR, NOON + 5 * HOUR)
    assert due.missed == 2


def test_within_a_span_beyond_all_time_is_all() -> None:
    forever = due_occurrences(HOURLY, NOON, NOON + 3 * HOUR, Within(timedelta.max))

    assert forever == due_occurrences(HOURLY, NOON, NOON + 3 * HOUR, Missed.ALL)


def test_a_clock_that_went_back_fires_nothing_twice() -> None:
    due = due_occurrences(HOURLY, NOON + HOUR, NOON + 10 * MINUTE)

    assert due.fire == ()
    assert due.decided_until == NOON + HOUR
    assert due.next == NOON + 2 * HOUR


@pytest.mark.parametrize("missed", [*Missed, Within(HOUR)])
@pytest.mark.parametrize("schedule", [by_cron("* * * * * *"), by_interval(SECOND, NOON)])
def test_a_year_of_missed_seconds_is_decided_at_once(
    schedule: Recurrence, missed: Missed | Within
) -> None:
    begin = thread_time()
    due = due_occurrences(schedule, NOON, NOON + YEAR, missed)

    assert (
        thread_time() - begin < 5
    )  # of this thread's work: going through the seconds takes minutes
    assert len(due.fire) <= MOST_FIRED
    if missed in {Missed.ONCE, Missed.SKIP}:
        assert due.fire == (NOON + YEAR,)
    if schedule.cron is not None and missed is not Missed.ALL:
        assert not due.counted_all
    elif missed is Missed.ONCE:
        assert due.missed == YEAR // SECOND - 1


@given(
    st.sampled_from(["*/7 * * * *", "30 1,2 * * *", "0 9 * * mon", "15 * * * *", "0 0 1 1 *"]),
    st.sampled_from(["UTC", "America/New_York", "Australia/Lord_Howe"]),
    st.sampled_from(Fold),
    st.datetimes(datetime(2026, 10, 30), datetime(2026, 11, 3), timezones=st.just(UTC)),  # noqa: DTZ001
    st.timedeltas(timedelta(0), timedelta(days=4)),
)
@settings(deadline=None)
def test_the_newest_by_halving_is_the_newest_by_walking(
    expression: str, zone: str, fold: Fold, after: datetime, span: timedelta
) -> None:
    schedule = by_cron(expression, zone, fold=fold)
    walked: datetime | None = None
    found = next_occurrence(schedule, after)
    while found is not None and found <= after + span:
        walked, found = found, next_occurrence(schedule, found)

    assert last_occurrence(schedule, after, after + span) == walked


@given(
    st.frozensets(st.integers(0, 59), min_size=1, max_size=6),
    st.integers(-5, 700),
)
@example(frozenset({8, 11, 23, 33, 37, 38}), 304)  # halving ends on the very second
@example(frozenset({1, 22, 33, 41, 42}), 353)
@settings(deadline=None)
def test_the_newest_of_neighbouring_seconds_is_found(seconds: frozenset[int], until: int) -> None:
    schedule = by_cron(",".join(map(str, sorted(seconds))) + " 0 12 4 5 *")
    passed = [NOON + n * SECOND for n in seconds if n <= until]

    found = last_occurrence(schedule, NOON - SECOND, NOON + until * SECOND)

    assert found == max(passed, default=None)


@given(
    st.lists(st.timedeltas(timedelta(0), 5 * HOUR), min_size=1, max_size=20),
    st.sampled_from([*Missed, Within(HOUR)]),
)
@settings(deadline=None)
def test_every_occurrence_is_fired_or_counted_as_missed_once(
    waits: list[timedelta], missed: Missed | Within
) -> None:
    schedule = by_cron("*/20 * * * *")
    last = now = NOON
    fired: list[datetime] = []
    lost = 0
    for wait in waits:
        now += wait
        due = due_occurrences(schedule, last, now, missed)
        fired += due.fire
        lost += due.missed
        last = due.decided_until

    assert len(fired) == len(set(fired))
    assert fired == sorted(fired)
    assert len(fired) + lost == (now - NOON) // (20 * MINUTE)


def test_a_preview_marks_what_a_change_of_clocks_touches() -> None:
    nightly = by_cron("30 2 * * *", "America/New_York")
    spring = preview(nightly, datetime(2026, 3, 7, tzinfo=UTC), 3)

    assert [f"{p.wall:%m-%d %H:%M}" for p in spring] == [
        "03-07 02:30",
        "03-08 03:30",
        "03-09 02:30",
    ]
    assert [p.mark for p in spring] == [Mark.NONE, Mark.GAP, Mark.NONE]
    assert spring[1].instant == datetime(2026, 3, 8, 7, 30, tzinfo=UTC)
    assert spring[1].zone.name == "America/New_York"

    autumn = preview(
        by_cron("30 1 * * *", "America/New_York", fold=Fold.BOTH),
        datetime(2026, 10, 31, 12, tzinfo=UTC),
        3,
    )
    assert [p.mark for p in autumn] == [Mark.FOLD, Mark.FOLD, Mark.NONE]


def test_a_preview_shows_no_run_that_the_policy_skips() -> None:
    nightly = by_cron("30 2 * * *", "America/New_York", gap=Gap.SKIP)
    shown = preview(nightly, datetime(2026, 3, 7, 12, tzinfo=UTC), 2)

    assert [p.wall.day for p in shown] == [9, 10]


def test_the_ends_of_time_break_nothing() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

    assert due_occurrences(by_cron("0 0 1 1 *"), first, NOON).fire == (
        datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert last_occurrence(by_interval(HOUR, NOON), first, NOON - HOUR) is None
    assert next_occurrence(by_interval(HOUR, NOON), last) is None
    assert next_occurrence(HOURLY, last) is None
    assert next_occurrence(HOURLY, first) == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_preview_ends_with_the_schedule() -> None:
    assert len(preview(by_cron("0 * * * *", repeat_until=NOON + HOUR), NOON, 10)) == 1


def test_jitter_is_the_same_everywhere_and_differs_by_key() -> None:
    schedule = by_cron("0 9 * * *", jitter=10 * MINUTE)
    starts = {start_of(schedule, NOON, f"schedule-{n}") for n in range(50)}

    assert start_of(schedule, NOON, "ada") == start_of(schedule, NOON, "ada")
    assert len(starts) == 50
    assert all(NOON <= start < NOON + 10 * MINUTE for start in starts)
    assert start_of(HOURLY, NOON, "ada") == NOON


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({}, "exactly one"),
        ({"cron": HOURLY.cron, "every": HOUR}, "exactly one"),
        ({"every": timedelta(0)}, "one second"),
        ({"every": HOUR, "jitter": -HOUR}, "negative"),
    ],
)
def test_a_recurrence_that_makes_no_sense_is_refused(wrong: dict[str, object], hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        Recurrence(**wrong)  # pyright: ignore[reportArgumentType]


def test_an_instant_without_an_offset_is_refused() -> None:
    with pytest.raises(NaiveDatetimeError):
        next_occurrence(HOURLY, datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(NaiveDatetimeError):
        by_interval(HOUR, datetime(2026, 1, 1))  # noqa: DTZ001
