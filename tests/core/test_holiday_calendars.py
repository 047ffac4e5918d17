from datetime import UTC, date, datetime, time

import pytest

from cadenza.core.holiday_calendars import (
    Holidays,
    UnknownCalendarError,
    check_calendar,
    holidays_of,
)
from cadenza.core.openings import Openings
from cadenza.core.windows import Hours, Range, is_open, next_opening
from cadenza.core.zones import get_zone

WEEK = tuple((Range(time(9), time(18)),) if 1 <= day <= 5 else () for day in range(7))
BERLIN = get_zone("Europe/Berlin")


def test_a_part_of_a_country_has_days_that_the_country_has_not() -> None:
    assert date(2026, 1, 6) in Holidays(calendars=("DE-BY",))
    assert date(2026, 1, 6) not in Holidays(calendars=("DE",))
    assert holidays_of("DE", 2026)[date(2026, 12, 25)] == "Christmas Day"


def test_a_holiday_on_a_saturday_is_observed_on_the_friday_where_the_law_says_so() -> None:
    assert date(2026, 7, 3) in Holidays(calendars=("US",))


def test_calendars_reach_as_far_as_anybody_plans() -> None:
    assert date(2099, 12, 25) in Holidays(calendars=("DE",))


def test_hours_are_closed_on_dates_of_ones_own_and_of_calendars() -> None:
    hours = Hours(BERLIN, WEEK, Holidays(frozenset({date(2026, 12, 28)}), ("DE",)))
    christmas = datetime(2026, 12, 25, 10, tzinfo=UTC)  # a Friday
    assert not is_open(hours, christmas)
    assert next_opening(hours, christmas) == datetime(2026, 12, 29, 8, tzinfo=UTC)
    openings = Openings(BERLIN, hours)
    assert openings.on(date(2026, 12, 25).toordinal()) == ()
    assert openings.on(date(2026, 12, 29).toordinal()) != ()


@pytest.mark.parametrize("name", ["DE", "de", "DE-BY", "de-by", "DE-Augsburg", "US-CA"])
def test_names_are_read_as_people_write_them(name: str) -> None:
    assert check_calendar(name).upper() == name.upper()


@pytest.mark.parametrize(
    ("name", "message"), [("XX", "no country"), ("DE-ZZ", "BY"), ("", "no country")]
)
def test_an_unknown_calendar_is_refused_with_what_there_is(name: str, message: str) -> None:
    with pytest.raises(UnknownCalendarError, match=message):
        check_calendar(name)
