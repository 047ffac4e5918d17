"""Cron agrees with two strangers: the cronsim library, and a walk through every minute."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import takewhile

import pytest
from cronsim import CronSim
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cadenza.core.cron import parse
from cadenza.core.zones import Fold, Gap, get_zone, local, resolve

MINUTE = timedelta(minutes=1)
UTC_ZONE = get_zone("UTC")
CHANGES = [
    ("America/New_York", date(2026, 3, 8)),
    ("America/New_York", date(2026, 11, 1)),
    ("Europe/Berlin", date(2026, 3, 29)),
    ("Europe/Berlin", date(2026, 10, 25)),
    ("Australia/Lord_Howe", date(2026, 4, 5)),
    ("Australia/Lord_Howe", date(2026, 10, 4)),
    ("Pacific/Auckland", date(2026, 4, 5)),
    ("Pacific/Auckland", date(2026, 9, 27)),
    ("America/Havana", date(2025, 3, 9)),
    ("America/Havana", date(2025, 11, 2)),
    ("Antarctica/Troll", date(2026, 3, 29)),
    ("Antarctica/Troll", date(2026, 10, 25)),
    ("Africa/Casablanca", date(2026, 2, 15)),
    ("Pacific/Apia", date(2011, 12, 30)),
    ("Asia/Kathmandu", date(2026, 5, 5)),
]


def _field(low: int, high: int, *, stepped: bool = True) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    step = st.integers(1, high)
    # Two different ends: cronsim reads 5-5/2 as 5/2.
    span = st.lists(number, min_size=2, max_size=2, unique=True).map(sorted)
    forms = [
        st.just("*"),
        number.map(str),
        span.map(lambda ends: f"{ends[0]}-{ends[1]}"),
        st.tuples(span, step).map(lambda pair: f"{pair[0][0]}-{pair[0][1]}/{pair[1]}"),
        st.lists(number, min_size=1, max_size=4).map(lambda ns: ",".join(map(str, ns))),
    ]
    if stepped:
        forms.append(step.map(lambda n: f"*/{n}"))
    return st.one_of(forms)


# A stepped star in a day field is left out: there cronsim follows Debian, where any star
# leaves the field open, and we follow the number of days it names.
_DAYS = st.one_of(_field(1, 28, stepped=False), st.sampled_from(["L", "LW"]))
_WEEKDAYS = st.one_of(
    _field(0, 7, stepped=False),
    st.sampled_from(["mon", "MON-fri", "5L", "tue#2", "0#5", "7"]),
)
EXPRESSIONS = st.tuples(_field(0, 59), _field(0, 23), _DAYS, _field(1, 12), _WEEKDAYS).map(" ".join)
STARTS = st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def _ours(expression: str, start: datetime, zone: str, n: int) -> list[datetime]:
    runs = parse(expression).occurrences(start, get_zone(zone))
    return [run for _, run in zip(range(n), runs, strict=False)]


@given(EXPRESSIONS, STARTS)
@example("0 0 29 2 *", datetime(1999, 3, 1, tzinfo=UTC))
@settings(max_examples=300, deadline=None)
def test_it_agrees_with_cronsim_in_utc(expression: str, start: datetime) -> None:
    theirs = CronSim(expression, start)

    for run in _ours(expression, start, "UTC", 8):
        assert run == next(theirs)


@given(_field(0, 59), EXPRESSIONS, STARTS)
@settings(max_examples=150, deadline=None)
def test_it_agrees_with_cronsim_on_seconds(second: str, rest: str, start: datetime) -> None:
    theirs = CronSim(f"{second} {rest}", start)

    for run in _ours(f"{second} {rest}", start, "UTC", 8):
        assert run == next(theirs)


@given(EXPRESSIONS, st.sampled_from(["America/New_York", "Asia/Kathmandu", "Europe/Berlin"]))
@settings(max_examples=150, deadline=None)
def test_it_agrees_with_cronsim_in_zones_while_no_clock_changes(expression: str, name: str) -> None:
    zone = get_zone(name)
    start = datetime(2026, 11, 10, 12, 34, 56, tzinfo=UTC)
    end = datetime(2027, 3, 10, tzinfo=UTC)
    theirs = CronSim(expression, start.astimezone(zone.rules))

    for run in takewhile(lambda run: run < end, _ours(expression, start, name, 8)):
        assert run == next(theirs).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Plain:
    """An expression held as sets, matched in the most obvious way."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int] | None
    weekdays: frozenset[int] | None

    @property
    def text(self) -> str:
        parts = (self.minutes, self.hours, self.days, None, self.weekdays)
        return " ".join("*" if p is None else ",".join(map(str, sorted(p))) for p in parts)

    def fits(self, wall: datetime) -> bool:
        return (
            wall.minute in self.minutes and wall.hour in self.hours and self.fits_day(wall.date())
        )

    def fits_day(self, day: date) -> bool:
        by_date = self.days is not None and day.day in self.days
        by_weekday = self.weekdays is not None and day.isoweekday() % 7 in self.weekdays
        return by_date or by_weekday or (self.days is None and self.weekdays is None)


def _some(low: int, high: int) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(low, high), min_size=1, max_size=4)


PLAIN = st.builds(
    Plain,
    minutes=st.one_of(_some(0, 59), st.just(frozenset({0, 30})), st.just(frozenset(range(60)))),
    hours=st.one_of(_some(0, 4), _some(0, 23), st.just(frozenset(range(24)))),
    days=st.one_of(st.none(), _some(1, 31)),
    weekdays=st.one_of(st.none(), _some(0, 6)),
)


def _walked(plain: Plain, name: str, day: date, gap: Gap, fold: Fold) -> set[datetime]:
    """Return all runs near `day` by going through every minute."""
    zone = get_zone(name)
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - a wall clock's midnight
    minutes = [midnight + n * MINUTE for n in range(-2 * 1440, 4 * 1440)]
    if len(plain.hours) == 24:
        instants = [minute.replace(tzinfo=UTC) for minute in minutes]
        return {i for i in instants if plain.fits(local(i, zone).replace(tzinfo=None))}
    return {
        instant
        for wall in minutes
        if plain.fits(wall)
        for instant in resolve(wall.date(), wall.time(), zone, gap=gap, fold=fold).instants
    }


@given(PLAIN, st.sampled_from(CHANGES), st.sampled_from(Gap), st.sampled_from(Fold))
@settings(max_examples=120, deadline=None)
def test_it_agrees_with_a_walk_through_every_minute_where_clocks_change(
    plain: Plain, change: tuple[str, date], gap: Gap, fold: Fold
) -> None:
    name, day = change
    low = datetime(day.year, day.month, day.day, tzinfo=UTC) - timedelta(days=1)
    high = low + timedelta(days=3)
    expected = sorted(i for i in _walked(plain, name, day, gap, fold) if low < i <= high)

    found = parse(plain.text).occurrences(low, get_zone(name), gap=gap, fold=fold, until=high)

    assert list(found) == expected


@given(PLAIN, st.sampled_from(CHANGES), st.integers(-86400, 86400), st.sampled_from(Fold))
@settings(max_examples=150, deadline=None)
def test_the_answer_is_the_same_from_wherever_the_search_begins(
    plain: Plain, change: tuple[str, date], begin: int, fold: Fold
) -> None:
    zone, day = get_zone(change[0]), change[1]
    start = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=begin)
    cron = parse(plain.text)
    found = cron.next_after(start, zone, fold=fold)
    assert found is not None

    halfway = start + (found - start) / 2
    just_before = found - timedelta(microseconds=1)

    assert found > start
    assert cron.next_after(halfway, zone, fold=fold) == found
    assert cron.next_after(just_before, zone, fold=fold) == found


def test_leap_days_are_found_and_the_search_ends_with_2099() -> None:
    leap_days = list(parse("0 0 29 2 *").occurrences(datetime(2026, 1, 1, tzinfo=UTC), UTC_ZONE))

    assert leap_days[0] == datetime(2028, 2, 29, tzinfo=UTC)
    assert leap_days[-1] == datetime(2096, 2, 29, tzinfo=UTC)
    assert len(leap_days) == 18
    assert parse("0 0 * * *").next_after(datetime(2099, 12, 31, tzinfo=UTC), UTC_ZONE) is None


def test_the_last_working_day_is_never_a_weekend() -> None:
    runs = parse("0 0 LW * *").occurrences(
        datetime(2026, 1, 1, tzinfo=UTC), UTC_ZONE, until=datetime(2031, 1, 1, tzinfo=UTC)
    )

    found = list(runs)
    assert len(found) == 60
    for run in found:
        assert run.isoweekday() <= 5
        left = range(run.day + 1, monthrange(run.year, run.month)[1] + 1)
        assert all(run.replace(day=day).isoweekday() > 5 for day in left)


@pytest.mark.parametrize("weekday", range(7))
def test_the_last_weekday_of_a_month_comes_once_a_month_in_its_last_week(weekday: int) -> None:
    runs = parse(f"0 0 * * {weekday}L").occurrences(
        datetime(2026, 1, 1, tzinfo=UTC), UTC_ZONE, until=datetime(2031, 1, 1, tzinfo=UTC)
    )

    found = [run for run in runs if run.year < 2031]
    assert len({(run.year, run.month) for run in found}) == len(found) >= 59
    assert all((run + timedelta(days=7)).month != run.month for run in found)
