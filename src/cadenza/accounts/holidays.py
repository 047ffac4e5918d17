"""An account's holidays: list those that come, with their names, and add the whole days of a calendar file.

Dates of one's own are kept in the account's settings, at most 400; those of countries are worked out when asked.
Run changes under `configure.lock_of`.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from cadenza.accounts.configure import Change, configure, find_account
from cadenza.core.holiday_calendars import holidays_of
from cadenza.core.read_ics import IcsError, read_ics
from cadenza.core.zones import get_zone, local_day
from cadenza.sql.tx import Row, Tx

MOST = 400
AHEAD = timedelta(days=730)
A_YEAR = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Holiday:
    """One date; `calendar` is the country whose it is, None: the account's own."""

    day: date
    name: str
    calendar: str | None


@dataclass(frozen=True, slots=True)
class HolidaysImported:
    """What a calendar file added, and what it held besides."""

    added: tuple[Holiday, ...]
    there_already: int
    left_out: int  # events that are no whole days


@dataclass(frozen=True, slots=True)
class NotImported:
    """The file cannot be read, or is too much: nothing was changed."""

    message: str


def list_holidays(now: datetime, account: Row) -> list[Holiday]:
    """List the holidays of the next year."""
    settings: dict[str, Any] = msgspec.json.decode(account["settings"])
    first = local_day(now, get_zone(account["zone"]))
    last = first + A_YEAR
    names: dict[str, str] = settings.get("holiday_names", {})
    own = [
        Holiday(date.fromisoformat(day), names.get(day, ""), None)
        for day in settings.get("holidays", ())
    ]
    public = [
        Holiday(day, name, calendar)
        for calendar in settings.get("holiday_calendars", ())
        for year in range(first.year, last.year + 1)
        for day, name in holidays_of(calendar, year).items()
    ]
    found = [each for each in (*own, *public) if first <= each.day <= last]
    return sorted(found, key=lambda each: (each.day, each.calendar or ""))


def import_holidays(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, ics: str, by: str
) -> HolidaysImported | NotImported | None:
    """Add the whole days of the next two years from a calendar file; None: there is no such account."""
    row = find_account(tx, workspace_id, account_id)
    if row is None:
        return None
    settings: dict[str, Any] = msgspec.json.decode(row["settings"])
    today = local_day(now, get_zone(row["zone"]))
    try:
        found = read_ics(ics, first=today, last=today + AHEAD)
    except IcsError as wrong:
        return NotImported(str(wrong))
    kept = {day for day in settings.get("holidays", ()) if date.fromisoformat(day) >= today}
    fresh = {day: name for day, name in found.days.items() if day.isoformat() not in kept}
    if len(kept) + len(fresh) > MOST:
        return NotImported(
            f"The account would have {len(kept) + len(fresh)} holidays: at most {MOST} are kept."
        )
    names: dict[str, str] = settings.get("holiday_names", {})
    change = Change(
        holidays=sorted({*kept, *(day.isoformat() for day in fresh)}),
        holiday_names={
            **{day: name for day, name in names.items() if day in kept},
            **{day.isoformat(): name for day, name in fresh.items()},
        },
    )
    configure(tx, now, workspace_id=workspace_id, account_id=account_id, change=change, by=by)
    return HolidaysImported(
        tuple(Holiday(day, name, None) for day, name in fresh.items()),
        len(found.days) - len(fresh),
        found.left_out,
    )
