"""Zone arithmetic against two that share no code with it.

One is PostgreSQL, where its tz database says the same as ours. The other walks through
real time and writes down what the wall clock shows: what it never shows is a gap, what
it shows twice is a fold.
"""

from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from importlib import resources
from itertools import compress
from operator import eq, ne
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.core.slots import upcoming_slots
from cadenza.core.weekly import WeeklySchedule
from cadenza.core.zones import (
    Fold,
    Gap,
    Mark,
    Zone,
    day_bounds,
    get_zone,
    local,
    local_day,
    resolve,
    steady_offset,
    zone_names,
)
from tests.servers.postgres import PrivatePostgres

MINUTE, QUARTER, HOUR, DAY = (timedelta(minutes=m) for m in (1, 15, 60, 1440))
FIRST, LAST = date(2020, 1, 1), date(2099, 12, 31)


def changed_days(zone: Zone, first: date, last: date) -> list[date]:
    days = range(first.toordinal(), last.toordinal() + 1)
    return [date.fromordinal(o) for o in days if steady_offset.__wrapped__(o, zone) is None]


# ------------------------------------------------------------------ PostgreSQL


def same_rules(name: str, theirs: Path, noons: list[datetime]) -> bool:
    """Whether both tz databases say the same of the years that we compare."""
    ours = resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    if ours == (theirs / name).read_bytes():
        return True
    with (theirs / name).open("rb") as file:
        their_zone = ZoneInfo.from_file(file)
    our_zone = get_zone(name).rules
    return all(map(eq, map(our_zone.utcoffset, noons), map(their_zone.utcoffset, noons)))


@pytest.fixture(scope="module")
def comparable(postgres: PrivatePostgres) -> list[str]:
    # PostgreSQL takes names without a slash (CET, EST) for abbreviations first.
    named = sorted(name for name in zone_names() if "/" in name)
    own = next(postgres.install.rglob("timezone"), Path("/usr/share/zoneinfo"))
    days = range(FIRST.toordinal(), LAST.toordinal() + 1)
    noons = [datetime.fromordinal(day) + 12 * HOUR for day in days]
    names = [name for name in named if same_rules(name, own, noons)]
    assert len(names) > 0.9 * len(named)
    return names


async def test_postgres_shows_the_same_wall_clock_in_every_zone(
    postgres: PrivatePostgres, comparable: list[str]
) -> None:
    random = Random(20260308)
    start = datetime(2020, 1, 1, tzinfo=UTC)
    connection = await asyncpg.connect(postgres.dsn)
    for name in comparable:
        instants = [start + timedelta(seconds=random.randrange(80 * 31_556_952)) for _ in range(80)]
        rows = await connection.fetch(
            "SELECT i AT TIME ZONE $2 AS wall FROM unnest($1::timestamptz[]) "
            "WITH ORDINALITY AS u(i, n) ORDER BY n",
            instants,
            name,
        )
        ours = [local(i, get_zone(name)).replace(tzinfo=None, fold=0) for i in instants]
        assert ours == [row["wall"] for row in rows], name
    await connection.close()


async def test_postgres_reads_the_same_wall_times_around_changes_of_clocks(
    postgres: PrivatePostgres, comparable: list[str]
) -> None:
    random = Random(20261101)
    met: defaultdict[Mark, int] = defaultdict(int)
    connection = await asyncpg.connect(postgres.dsn)
    for name in comparable:
        zone = get_zone(name)
        year = random.randrange(2020, 2099)
        for day in changed_days(zone, date(year, 1, 1), date(year, 12, 31)):
            times = [time(m // 60, m % 60) for m in random.sample(range(1440), 40)]
            times += [time(m // 60, m % 60) for m in range(0, 240, 9)]
            walls = [datetime.combine(day, t) for t in times]
            rows = await connection.fetch(
                "SELECT w AT TIME ZONE $2 AS i, (w AT TIME ZONE $2) AT TIME ZONE $2 = w AS real "
                "FROM unnest($1::timestamp[]) WITH ORDINALITY AS u(w, n) ORDER BY n",
                walls,
                name,
            )
            for wall, row in zip(walls, rows, strict=True):
                answer = resolve(wall.date(), wall.time(), zone, fold=Fold.BOTH)
                where = (name, wall, answer)
                met[answer.mark] += 1
                assert row["real"] is (answer.mark is not Mark.GAP), where
                if answer.mark is not Mark.GAP:
                    assert row["i"] in answer.instants, where
    await connection.close()
    assert min(met[Mark.GAP], met[Mark.FOLD]) > 100


# ------------------------------------------------------------- a walk through time

WALKED = st.sampled_from(
    [
        "America/New_York",
        "Europe/London",
        "Europe/Dublin",  # its summer time is the standard one
        "Australia/Lord_Howe",
        "America/Santiago",
        "America/Havana",
        "Africa/Cairo",
        "Africa/Casablanca",
        "Antarctica/Troll",
        "Asia/Gaza",
        "America/Nuuk",
        "Pacific/Chatham",
        "Asia/Kathmandu",
    ]
)


@settings(max_examples=40)
@given(name=WALKED, year=st.integers(2005, 2099), data=st.data())
def test_every_minute_of_a_day_with_a_change_is_read_as_the_clock_shows_it(
    name: str, year: int, data: st.DataObject
) -> None:
    zone = get_zone(name)
    changes = changed_days(zone, date(year, 1, 1), date(year, 12, 31))
    day = data.draw(st.sampled_from(changes or [date(year, 3, 1)]))
    shown: defaultdict[datetime, list[datetime]] = defaultdict(list)
    instant = datetime.combine(day, time(), UTC) - 18 * HOUR
    for _ in range(60 * 60):
        shown[instant.astimezone(zone.rules).replace(tzinfo=None, fold=0)].append(instant)
        instant += MINUTE
    for minute in range(1440):
        wall = datetime.combine(day, time()) + MINUTE * minute
        answer = resolve(day, wall.time(), zone, fold=Fold.BOTH)
        instants = shown.get(wall, [])
        assert answer.mark is [Mark.GAP, Mark.NONE, Mark.FOLD][len(instants)]
        if instants:
            assert list(answer.instants) == instants
            assert resolve(day, wall.time(), zone).instants == (instants[0],)
            assert resolve(day, wall.time(), zone, fold=Fold.SECOND).instants == (instants[-1],)
            continue
        before = max(w for w in shown if w < wall)
        after = min(w for w in shown if w > wall)
        gap_end, length = shown[after][0], after - before - MINUTE
        assert resolve(day, wall.time(), zone, gap=Gap.NEXT_VALID).instants == (gap_end,)
        assert local(answer.instants[0], zone).replace(tzinfo=None) == wall + length


@given(name=st.sampled_from(sorted(zone_names())), at=st.integers(0, 80 * 31_556_952))
def test_an_instant_lies_in_the_bounds_of_its_own_day(name: str, at: int) -> None:
    zone = get_zone(name)
    instant = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=at)
    start, end = day_bounds(local_day(instant, zone), zone)
    assert start <= instant < end
    there = local(instant, zone)
    back = resolve(there.date(), there.time(), zone, fold=Fold.BOTH)
    assert instant in back.instants


def unlike_zones() -> list[Zone]:
    """One zone for each set of rules: links say nothing new."""
    files = {
        resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes(): name
        for name in sorted(zone_names())
    }
    return [get_zone(name) for name in files.values()]


@pytest.mark.parametrize(
    ("first", "last"), [(2024, 2030), pytest.param(1970, 2100, marks=pytest.mark.slow)]
)
def test_a_day_whose_ends_agree_has_no_change_inside(first: int, last: int) -> None:
    days = range(date(first, 1, 1).toordinal(), date(last, 1, 1).toordinal())
    midnights = [datetime.fromordinal(day) for day in days]
    later = [[m.replace(hour=hour) for m in midnights] for hour in range(3, 24, 3)]
    for zone in unlike_zones():
        at_midnight = list(map(zone.rules.utcoffset, midnights))
        for column in later:
            differs = map(ne, at_midnight, map(zone.rules.utcoffset, column))
            for day in compress(days, differs):
                assert steady_offset.__wrapped__(day, zone) is None, (zone, date.fromordinal(day))


# --------------------------------------------------------------- a year of slots

TWELVE = [
    "America/New_York",
    "America/Los_Angeles",
    "America/Santiago",
    "America/Havana",
    "Europe/Dublin",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Kathmandu",
    "Asia/Gaza",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "Pacific/Chatham",
]
FIVE = (time(0, 15), time(2, 30), time(9), time(15, 45), time(23, 30))


def slots_by_watching(zone: Zone, year: int) -> list[datetime]:
    """Stand by the wall clock every quarter of an hour and note when a slot is due."""
    due: dict[datetime, datetime] = {}
    instant = datetime(year, 1, 1, tzinfo=UTC) - DAY
    shown = instant.astimezone(zone.rules).replace(tzinfo=None, fold=0) - QUARTER
    while instant < datetime(year + 1, 1, 1, tzinfo=UTC) + DAY:
        wall = instant.astimezone(zone.rules).replace(tzinfo=None, fold=0)
        expected = shown + QUARTER
        while expected < wall:  # the clock jumped over these
            if expected.time() in FIVE:
                jumped = wall - (shown + QUARTER)
                due.setdefault(expected, instant + (expected + jumped - wall))
            expected += QUARTER
        if wall.time() in FIVE:
            due.setdefault(wall, instant)  # the first time only
        instant, shown = instant + QUARTER, wall
    return sorted({i for wall, i in due.items() if wall.year == year})


@pytest.mark.parametrize("name", TWELVE)
@pytest.mark.parametrize("year", [2026, 2031, 2077])
def test_a_year_of_slots_equals_a_year_of_watching_the_clock(name: str, year: int) -> None:
    zone = get_zone(name)
    schedule = WeeklySchedule(zone, (FIVE,) * 7)
    span = (datetime(year, 1, 1, tzinfo=UTC) - DAY, datetime(year + 1, 1, 1, tzinfo=UTC) + DAY)
    slots = upcoming_slots(schedule, not_before=span[0], until=span[1])
    assert [s.instant for s in slots if s.day.year == year] == slots_by_watching(zone, year)
