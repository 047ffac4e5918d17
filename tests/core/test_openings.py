from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.core.offset_spans import to_instant
from cadenza.core.openings import Openings
from cadenza.core.windows import Hours, Range, is_open
from cadenza.core.zones import get_zone, local_day

NEW_YORK, BERLIN = get_zone("America/New_York"), get_zone("Europe/Berlin")
ZONES = (
    "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia",
    "America/St_Johns", "Africa/Casablanca", "Asia/Tokyo", "America/Santiago", "Pacific/Chatham",
)  # fmt: skip


def office(zone_name: str, start: time = time(9), end: time = time(18)) -> Hours:
    day = (Range(start, end),)
    return Hours(get_zone(zone_name), ((), day, day, day, day, day, ()))


def clock(second: int) -> str:
    return to_instant(second).strftime("%H:%M")


def test_a_weekday_is_one_piece_that_opens() -> None:
    (piece,) = Openings(NEW_YORK, office("America/New_York")).on(date(2026, 6, 1).toordinal())
    assert (clock(piece.start), clock(piece.end)) == ("13:00", "22:00")
    assert piece.is_first


def test_common_hours_are_those_of_both() -> None:
    both = Openings(NEW_YORK, office("America/New_York"), office("Europe/Berlin"))
    (piece,) = both.on(date(2026, 6, 1).toordinal())
    assert (clock(piece.start), clock(piece.end)) == ("13:00", "16:00")


def test_without_hours_the_whole_day_is_open_and_nothing_opens_at_midnight() -> None:
    (piece,) = Openings(NEW_YORK).on(date(2026, 6, 1).toordinal())
    assert piece.end - piece.start == 86_400
    assert not piece.is_first


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 8), 23), (date(2026, 11, 1), 25)])
def test_a_day_on_which_clocks_change_is_as_long_as_it_is(day: date, hours: int) -> None:
    assert Openings(NEW_YORK).seconds_on(day.toordinal()) == hours * 3_600


def test_an_overnight_range_is_cut_at_midnight_and_opens_once() -> None:
    night = Hours(NEW_YORK, ((), (), (), (), (), (Range(time(22), time(4)),), ()))
    openings = Openings(NEW_YORK, night)
    friday, saturday = (openings.on(date(2026, 6, day).toordinal()) for day in (5, 6))
    assert [piece.is_first for piece in (*friday, *saturday)] == [True, False]
    assert friday[-1].end == saturday[0].start


@given(
    st.sampled_from(ZONES), st.sampled_from(ZONES),
    st.integers(date(2025, 1, 1).toordinal(), date(2028, 1, 1).toordinal()),
    st.integers(0, 86_399), st.times(), st.times(),
)  # fmt: skip
def test_pieces_hold_exactly_the_open_seconds_of_their_day(
    account: str, recipient: str, day: int, second: int, start: time, end: time
) -> None:
    whole = start.replace(microsecond=0), end.replace(microsecond=0)
    mine, theirs = office(account, *whole), office(recipient)
    openings = Openings(get_zone(account), mine, theirs)
    at = datetime.combine(date.fromordinal(day), time(), UTC) + timedelta(seconds=second)
    ordinal = local_day(at, get_zone(account)).toordinal()
    inside = any(
        to_instant(p.start) <= at < to_instant(p.end) and p.day == ordinal
        for p in openings.on(ordinal)
    )
    assert inside == (is_open(mine, at) and is_open(theirs, at))
