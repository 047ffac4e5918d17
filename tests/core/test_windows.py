from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.core.windows import (
    Hours,
    Range,
    closes_at,
    is_open,
    next_common_opening,
    next_opening,
)
from cadenza.core.zones import Zone, get_zone

NEW_YORK = get_zone("America/New_York")


def weekday_hours(
    zone: Zone,
    *,
    start: time = time(9),
    end: time = time(18),
    holidays: frozenset[date] = frozenset(),
) -> Hours:
    """Return the same hours from Monday to Friday, 09:00 to 18:00 unless told."""
    day = (Range(start, end),)
    return Hours(zone, ((), day, day, day, day, day, ()), holidays)


OFFICE = weekday_hours(NEW_YORK)
NIGHT = Hours(NEW_YORK, ((), (), (), (), (), (Range(time(22), time(4)),), ()))  # Fridays


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_the_start_is_inside_and_the_end_is_not() -> None:
    assert is_open(OFFICE, utc("2026-06-01T13:00"))
    assert not is_open(OFFICE, utc("2026-06-01T12:59:59"))
    assert is_open(OFFICE, utc("2026-06-01T21:59:59"))
    assert not is_open(OFFICE, utc("2026-06-01T22:00"))


def test_friday_evening_opens_again_on_monday_at_nine() -> None:
    assert next_opening(OFFICE, utc("2026-06-05T22:00")) == utc("2026-06-08T13:00")


def test_an_open_instant_is_its_own_opening() -> None:
    assert next_opening(OFFICE, utc("2026-06-01T15:17:09")) == utc("2026-06-01T15:17:09")


def test_hours_follow_the_wall_clock_over_a_change() -> None:
    assert next_opening(OFFICE, utc("2026-03-06T23:00")) == utc("2026-03-09T13:00")  # was 14:00
    assert closes_at(OFFICE, utc("2026-03-09T13:00")) == utc("2026-03-09T22:00")


def test_a_holiday_is_closed() -> None:
    hours = weekday_hours(NEW_YORK, holidays=frozenset({date(2026, 6, 1)}))
    assert next_opening(hours, utc("2026-06-01T13:00")) == utc("2026-06-02T13:00")


def test_an_overnight_range_belongs_to_the_day_it_starts_on() -> None:
    assert is_open(NIGHT, utc("2026-06-06T02:00"))  # Friday 22:00
    assert is_open(NIGHT, utc("2026-06-06T07:59"))  # Saturday 03:59
    assert not is_open(NIGHT, utc("2026-06-07T02:00"))  # Saturday 22:00
    assert not is_open(NIGHT, utc("2026-06-05T07:00"))  # Friday 03:00
    assert closes_at(NIGHT, utc("2026-06-06T02:00")) == utc("2026-06-06T08:00")


def test_a_holiday_takes_its_own_night_and_leaves_the_eves() -> None:
    friday = Hours(NEW_YORK, NIGHT.ranges, frozenset({date(2026, 6, 5)}))
    assert not is_open(friday, utc("2026-06-06T07:00"))
    saturday = Hours(NEW_YORK, NIGHT.ranges, frozenset({date(2026, 6, 6)}))
    assert is_open(saturday, utc("2026-06-06T07:00"))


def test_a_range_that_meets_a_gap_opens_when_the_gap_ends() -> None:
    hours = Hours(NEW_YORK, ((Range(time(2, 15), time(4)),), *[()] * 6))
    assert next_opening(hours, utc("2026-03-08T05:00")) == utc("2026-03-08T07:00")


def test_a_range_inside_a_gap_does_not_open_that_day() -> None:
    hours = Hours(NEW_YORK, ((Range(time(2, 15), time(2, 45)),), *[()] * 6))
    assert next_opening(hours, utc("2026-03-08T05:00")) == utc("2026-03-15T06:15")


def test_a_range_that_ends_in_a_gap_closes_when_it_begins() -> None:
    hours = Hours(NEW_YORK, ((Range(time(1), time(2, 30)),), *[()] * 6))
    assert closes_at(hours, utc("2026-03-08T06:30")) == utc("2026-03-08T07:00")


def test_a_repeated_hour_is_open_twice() -> None:
    hours = Hours(NEW_YORK, ((Range(time(0, 30), time(1, 30)),), *[()] * 6))
    assert closes_at(hours, utc("2026-11-01T04:45")) == utc("2026-11-01T05:30")
    assert next_opening(hours, utc("2026-11-01T05:30")) == utc("2026-11-01T06:00")
    assert closes_at(hours, utc("2026-11-01T06:00")) == utc("2026-11-01T06:30")


def test_ranges_that_touch_are_one() -> None:
    day = (Range(time(9), time(12)), Range(time(12), time(18)))
    hours = Hours(NEW_YORK, (day,) * 7)
    assert closes_at(hours, utc("2026-06-01T13:00")) == utc("2026-06-01T22:00")


def test_always_open_never_closes_and_never_open_never_opens() -> None:
    always = Hours(NEW_YORK, ((Range(time(), time()),),) * 7)
    assert closes_at(always, utc("2026-06-01T13:00")) is None
    assert is_open(always, utc("2026-03-08T07:00"))
    never = Hours(NEW_YORK, ((),) * 7)
    assert next_opening(never, utc("2026-06-01T13:00")) is None
    assert closes_at(never, utc("2026-06-01T13:00")) == utc("2026-06-01T13:00")


def test_two_parties_meet_when_both_are_open() -> None:
    tokyo = weekday_hours(get_zone("Asia/Tokyo"), start=time(8), end=time(23))
    both = (OFFICE, tokyo)
    assert next_common_opening(both, utc("2026-06-01T15:00")) == utc("2026-06-02T13:00")
    early = weekday_hours(get_zone("Asia/Tokyo"), start=time(9), end=time(12))
    month = timedelta(days=30)
    assert next_common_opening((OFFICE, early), utc("2026-06-01T15:00"), horizon=month) is None


def test_a_week_has_seven_days() -> None:
    with pytest.raises(ValueError, match="7 days"):
        Hours(NEW_YORK, ((),))


QUARTERS = st.integers(0, 95).map(lambda q: time(q // 4, q % 4 * 15))
RANGES = st.lists(st.builds(Range, QUARTERS, QUARTERS), max_size=2).map(tuple)
# Three days around a change of clocks in each.
CHANGES = st.sampled_from(
    [
        ("America/New_York", utc("2026-03-07T05:00")),
        ("America/New_York", utc("2026-10-31T04:00")),
        ("Australia/Lord_Howe", utc("2026-10-02T13:30")),
        ("Australia/Lord_Howe", utc("2026-04-03T13:00")),
        ("Antarctica/Troll", utc("2026-03-28T00:00")),
        ("America/Santiago", utc("2026-09-05T04:00")),
        ("Africa/Cairo", utc("2026-04-22T22:00")),
        ("Pacific/Apia", utc("2011-12-28T10:00")),
    ]
)


def plainly_open(hours: Hours, instant: datetime) -> bool:
    """The rule in other words: which range, if any, started before and has not ended?"""
    wall = instant.astimezone(ZoneInfo(hours.zone.name)).replace(tzinfo=None)
    for back in (0, 1):
        day = wall.date() - timedelta(days=back)
        for span in hours.ranges[day.isoweekday() % 7] if day not in hours.holidays else ():
            start = datetime.combine(day, span.start)
            end = datetime.combine(day, span.end)
            end += timedelta(days=1) if span.end <= span.start else timedelta(0)
            if start <= wall < end:
                return True
    return False


@settings(max_examples=60)
@given(where=CHANGES, week=st.lists(RANGES, min_size=7, max_size=7), offset=st.integers(0, 3 * 96))
def test_openings_and_closings_agree_with_a_quarter_hour_watch(
    where: tuple[str, datetime], week: list[tuple[Range, ...]], offset: int
) -> None:
    name, begin = where
    hours = Hours(get_zone(name), tuple(week), frozenset({date(2026, 4, 25)}))
    quarter = timedelta(minutes=15)
    start = begin + quarter * offset
    watch = [start + quarter * i for i in range(8 * 96)]
    for open_, ask in ((True, next_opening), (False, closes_at)):
        seen = next((i for i in watch if plainly_open(hours, i) is open_), None)
        answer = ask(hours, start, horizon=timedelta(days=8) - quarter)
        assert answer == seen
