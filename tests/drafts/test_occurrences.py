"""When a rule occurs, compared with python-dateutil, which knows nothing of our arithmetic."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from dateutil import rrule, tz
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.weekly import Weekday
from cadenza.core.zones import Fold, Gap, Mark, get_zone
from cadenza.drafts.occurrences import Occurrence, Timing, occurrences, target_month
from cadenza.drafts.pattern import (
    Daily,
    Interval,
    Monthly,
    NthWeekday,
    Pattern,
    PatternError,
    ShortMonth,
    Weekly,
    read_anchor,
    read_pattern,
    write_pattern,
)

ZONES = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Pacific/Auckland",
    "Australia/Lord_Howe",  # clocks change by half an hour
    "Asia/Kathmandu",
    "Pacific/Chatham",
    "America/St_Johns",
]
# dateutil's weekdays, by our numbers: Sunday is 0.
DAYS = [rrule.SU, rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA]
NINE = time(9)

times = st.lists(
    st.times(min_value=time(0), max_value=time(23, 59)).map(
        lambda t: t.replace(second=0, microsecond=0, fold=0)  # a wall time as it is written
    ),
    min_size=1,
    max_size=4,
    unique=True,
).map(tuple)
steps = st.integers(1, 7)
weekdays = st.frozensets(st.sampled_from(Weekday), min_size=1)
nths = st.builds(NthWeekday, st.sampled_from([1, 2, 3, 4, 5, -1, -2, -5]), st.sampled_from(Weekday))
month_days = st.integers(1, 31) | st.integers(-31, -1)
patterns = st.one_of(
    st.builds(Weekly, weekdays, times, steps),
    st.builds(Daily, times, steps),
    st.builds(
        Monthly,
        times,
        days=st.frozensets(month_days, min_size=1, max_size=3),
        step=steps,
        short_month=st.just(ShortMonth.SKIP),
    ),
    st.builds(Monthly, times, weekdays=st.frozensets(nths, min_size=1, max_size=3), step=steps),
)
starts = st.datetimes(read_anchor("2024-01-01"), read_anchor("2027-12-31")).map(
    lambda t: t.replace(second=0, microsecond=0)
)


def oracle_dates(pattern: Pattern, begin: date, last: date) -> list[date]:
    """The same dates by RFC 5545, as dateutil reads it."""
    start, until = datetime.combine(begin, time()), datetime.combine(last, time())
    match pattern:
        case Daily(step=step):
            found = rrule.rrule(rrule.DAILY, start, interval=step, until=until)
        case Weekly():
            found = rrule.rrule(
                rrule.WEEKLY,
                start,
                interval=pattern.step,
                byweekday=[DAYS[day] for day in pattern.weekdays],
                wkst=rrule.MO,
                until=until,
            )
        case Monthly(days=days) if days:
            found = rrule.rrule(
                rrule.MONTHLY, start, interval=pattern.step, bymonthday=sorted(days), until=until
            )
        case Monthly():
            found = rrule.rrule(
                rrule.MONTHLY,
                start,
                interval=pattern.step,
                byweekday=[DAYS[each.weekday](each.nth) for each in pattern.weekdays],
                until=until,
            )
        case Interval():
            raise AssertionError
    return [each.date() for each in found]


def oracle_instants(timing: Timing, after: datetime, until: datetime) -> list[datetime]:
    assert not isinstance(timing.pattern, Interval)
    there = ZoneInfo(str(timing.zone))
    last = timing.ends or (until + timedelta(days=3)).date()
    found: set[datetime] = set()
    for day in oracle_dates(timing.pattern, timing.starts.date(), last):
        for wall in timing.pattern.times:
            naive = datetime.combine(day, wall)
            if naive >= timing.starts:  # dateutil moves what a gap swallowed; fold 0 is the first
                found.add(tz.resolve_imaginary(naive.replace(tzinfo=there)).astimezone(UTC))
    return sorted(each for each in found if after < each <= until)


@given(
    pattern=patterns,
    zone=st.sampled_from(ZONES),
    start=starts,
    skip=st.integers(-40, 900),
    span=st.integers(1, 120),
    ends=st.none() | st.integers(0, 900),
)
def test_a_rule_occurs_when_dateutil_says(
    pattern: Pattern, zone: str, start: datetime, skip: int, span: int, ends: int | None
) -> None:
    last = None if ends is None else start.date() + timedelta(days=ends)
    timing = Timing(pattern, get_zone(zone), start, last)
    after = start.replace(tzinfo=UTC) + timedelta(days=skip)
    until = after + timedelta(days=span)
    found = [each.instant for each in occurrences(timing, after=after, until=until)]
    assert found == oracle_instants(timing, after, until)


@given(
    pattern=patterns | st.builds(Interval, st.integers(1, 200)),
    zone=st.sampled_from(ZONES),
    start=starts,
    cuts=st.lists(st.integers(1, 60 * 24 * 40), min_size=1, max_size=5),
)
def test_windows_joined_hold_the_same_as_one_window(
    pattern: Pattern, zone: str, start: datetime, cuts: list[int]
) -> None:
    timing = Timing(pattern, get_zone(zone), start, fold=Fold.BOTH)
    begin = start.replace(tzinfo=UTC) - timedelta(days=1)
    edges = [begin]
    for cut in cuts:
        edges.append(edges[-1] + timedelta(minutes=cut))
    whole = occurrences(timing, after=begin, until=edges[-1])
    pieces = [
        each for low, high in pairwise(edges) for each in occurrences(timing, after=low, until=high)
    ]
    assert pieces == whole
    assert len({each.key for each in whole}) == len(whole), "a key names one occurrence"


@given(hours=st.integers(1, 500), zone=st.sampled_from(ZONES), start=starts)
def test_an_interval_keeps_real_hours_over_a_change_of_clocks(
    hours: int, zone: str, start: datetime
) -> None:
    timing = Timing(Interval(hours), get_zone(zone), start)
    begin = start.replace(tzinfo=UTC) - timedelta(days=2)
    found = occurrences(timing, after=begin, until=begin + timedelta(days=250))
    gaps = {b.instant - a.instant for a, b in pairwise(found)}
    assert gaps <= {timedelta(hours=hours)}


def _monthly(day: int, short: ShortMonth) -> list[str]:
    timing = Timing(
        Monthly((NINE,), days=frozenset({day}), short_month=short),
        get_zone("Europe/Berlin"),
        read_anchor("2026-12-31"),
    )
    found = occurrences(
        timing, after=datetime(2026, 12, 1, tzinfo=UTC), until=datetime(2027, 6, 1, tzinfo=UTC)
    )
    return [each.day.isoformat() for each in found]


def test_the_31st_does_not_drift_after_a_february() -> None:
    assert _monthly(31, ShortMonth.LAST) == [
        "2026-12-31",
        "2027-01-31",
        "2027-02-28",
        "2027-03-31",
        "2027-04-30",
        "2027-05-31",
    ]


def test_short_months_can_be_left_out() -> None:
    assert _monthly(31, ShortMonth.SKIP) == ["2026-12-31", "2027-01-31", "2027-03-31", "2027-05-31"]


def test_the_last_day_in_a_leap_year_is_the_29th() -> None:
    timing = Timing(
        Monthly((NINE,), days=frozenset({30, -1})), get_zone("UTC"), read_anchor("2028-02-01")
    )
    found = occurrences(
        timing, after=datetime(2028, 1, 1, tzinfo=UTC), until=datetime(2028, 3, 1, tzinfo=UTC)
    )
    assert [each.day for each in found] == [date(2028, 2, 29)], "the 30th and the last are one"


def _new_york(
    day: date, *walls: str, gap: Gap = Gap.SHIFT, fold: Fold = Fold.FIRST
) -> list[Occurrence]:
    at = tuple(time.fromisoformat(wall) for wall in walls)
    start = datetime.combine(day, time())
    timing = Timing(Daily(at), get_zone("America/New_York"), start, day, gap, fold)
    noon = datetime.combine(day, time(12), tzinfo=UTC)
    return occurrences(timing, after=noon - timedelta(days=2), until=noon + timedelta(days=2))


def test_a_time_in_a_gap_shifts_and_keeps_its_name() -> None:
    (found,) = _new_york(date(2026, 3, 8), "02:30")
    assert found.instant == datetime(2026, 3, 8, 7, 30, tzinfo=UTC)  # 03:30 there
    assert (found.slot, found.mark, found.wall_time) == ("02:30", Mark.GAP, "2026-03-08T02:30")


def test_two_times_that_a_gap_brings_together_are_one() -> None:
    (found,) = _new_york(date(2026, 3, 8), "02:30", "03:30")
    assert (found.slot, found.mark) == ("03:30", Mark.NONE)


def test_a_time_in_a_gap_can_be_left_out() -> None:
    assert _new_york(date(2026, 3, 8), "02:30", gap=Gap.SKIP) == []


def test_a_time_that_comes_twice_runs_once() -> None:
    (found,) = _new_york(date(2026, 11, 1), "01:30")
    assert found.instant == datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
    assert found.mark is Mark.FOLD


def test_both_passes_of_a_repeated_hour_have_keys_of_their_own() -> None:
    found = _new_york(date(2026, 11, 1), "01:30", fold=Fold.BOTH)
    assert [each.slot for each in found] == ["01:30", "01:30/2"]
    assert [each.wall_time for each in found] == ["2026-11-01T01:30"] * 2


def test_the_target_month_is_that_of_the_local_date() -> None:
    timing = Timing(Daily((time(8),)), get_zone("Pacific/Auckland"), read_anchor("2026-12-01"))
    first = occurrences(
        timing, after=datetime(2026, 11, 29, tzinfo=UTC), until=datetime(2026, 12, 1, tzinfo=UTC)
    )[0]
    assert first.instant.month == 11
    assert target_month(first, timing.zone) == "2026-12"


def test_a_date_that_a_zone_left_out_goes_to_the_next() -> None:
    timing = Timing(
        Daily((NINE,)), get_zone("Pacific/Apia"), read_anchor("2011-12-30"), date(2011, 12, 30)
    )
    (found,) = occurrences(
        timing, after=datetime(2011, 12, 28, tzinfo=UTC), until=datetime(2012, 1, 2, tzinfo=UTC)
    )
    assert found.instant == datetime(2011, 12, 30, 19, tzinfo=UTC)  # the 31st at 09:00 there
    assert found.day == date(2011, 12, 30)
    in_the_31st = datetime(2011, 12, 30, 10, 30, tzinfo=UTC)
    until = in_the_31st + timedelta(days=1)
    assert occurrences(timing, after=in_the_31st, until=until) == [found], "asked a day later"


@given(patterns | st.builds(Interval, st.integers(1, 1000)))
def test_a_pattern_reads_back_as_it_was_written(pattern: Pattern) -> None:
    assert read_pattern(write_pattern(pattern)) == pattern


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("daily", "an object with a kind"),
        ({"kind": "weakly", "times": ["09:00"]}, "weekly"),
        ({"kind": "weekly", "times": ["09:00"]}, "at least one weekday"),
        ({"kind": "weekly", "weekdays": [7], "times": ["09:00"]}, "0 (Sunday) to 6"),
        ({"kind": "daily", "times": ["9:00"]}, "HH:MM"),
        ({"kind": "daily", "times": ["24:01"]}, "HH:MM"),
        ({"kind": "daily", "times": []}, "at least one time"),
        ({"kind": "daily", "times": "09:00"}, "is a list"),
        ({"kind": "daily", "times": ["09:00"], "step": 0}, "step is 1"),
        ({"kind": "daily", "times": ["09:00"], "steps": 2}, "step"),
        ({"kind": "monthly", "times": ["09:00"]}, "names days"),
        ({"kind": "monthly", "times": ["09:00"], "days": [32]}, "1 to 31"),
        ({"kind": "monthly", "times": ["09:00"], "days": [1], "short_month": "x"}, "short_month"),
        ({"kind": "monthly", "times": ["09:00"], "weekdays": [{"nth": 6, "weekday": 1}]}, "nth"),
        ({"kind": "interval", "hours": 0}, "1 to"),
        ({"kind": "interval", "hours": True}, "whole number"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused_with_a_reason(
    shape: object, message: str
) -> None:
    with pytest.raises(PatternError) as refused:
        read_pattern(shape)
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["soon", "2026-11-16T09:00:30", "2026-11-16T09:00Z", "1969-01-01"])
def test_a_start_is_a_wall_time_to_the_minute(text: str) -> None:
    with pytest.raises(PatternError):
        read_anchor(text)
