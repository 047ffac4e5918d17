"""Days on which nobody works: dates of one's own, and the public holidays of countries and their parts.

A calendar is named as ISO 3166 does, `DE` or `DE-BY`; its dates come from the `holidays` library, a year at a time,
observed days (a Friday for a Saturday) included. The library is loaded when a calendar is first asked for. Limit:
it knows what laws say today; what a parliament changes comes with its next release.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from cadenza.core.suggest import did_you_mean


class UnknownCalendarError(ValueError):
    """No country, or no part of that country, is called so."""


@dataclass(frozen=True, slots=True)
class Holidays:
    """Dates of one's own, and calendars; ask with `day in holidays`."""

    own: frozenset[date] = frozenset()
    calendars: tuple[str, ...] = ()

    def __contains__(self, day: object) -> bool:
        if not isinstance(day, date):
            return False
        return day in self.own or any(day in holidays_of(c, day.year) for c in self.calendars)


@lru_cache(maxsize=2_048)
def holidays_of(calendar: str, year: int) -> Mapping[date, str]:
    """Return a calendar's holidays of one year with their names."""
    from holidays import country_holidays

    country, _, part = check_calendar(calendar).partition("-")
    found = country_holidays(country, subdiv=part or None, years=year, language="en_US")
    return dict(sorted(found.items()))


def check_calendar(name: str) -> str:
    """Return the exact name of a calendar, or raise UnknownCalendarError."""
    from holidays import list_supported_countries

    known = list_supported_countries(include_aliases=False)
    country, _, part = name.strip().upper().partition("-")
    if country not in known:
        raise UnknownCalendarError(
            f"{name!r} is no country's calendar: write DE, or DE-BY for a part of it."
            f"{did_you_mean(country, known)}"
        )
    parts = {each.upper(): each for each in known[country]}
    if part and part not in parts:
        raise UnknownCalendarError(
            f"{country} has no part {part!r}: there are {', '.join(known[country]) or 'none'}."
        )
    return f"{country}-{parts[part]}" if part else country
