"""An account's hours for an action: posts and broadcasts have none, outreach keeps office hours.

Settings may say otherwise per action: `{"hours": {"email": {"start": "08:00", "end": "20:00",
"days": [1, 2, 3, 4, 5]}, "post": null}, "holidays": ["2026-12-25"], "holiday_calendars": ["DE-BY"]}`; Sunday is 0.
"""

from collections.abc import Mapping
from datetime import date, time
from typing import Any

import msgspec

from cadenza.accounts.model import Account
from cadenza.core.holiday_calendars import Holidays
from cadenza.core.windows import Hours, Range
from cadenza.core.zones import get_zone, zone_names

OUTREACH = frozenset({"email", "message", "connection_request", "inmail"})
OFFICE: dict[str, Any] = {"start": "09:00", "end": "18:00", "days": [1, 2, 3, 4, 5]}


def usual_hours(action: str) -> dict[str, Any] | None:
    """Return the hours that hold where settings say nothing of an action; None: at any time."""
    return OFFICE if action in OUTREACH else None


def hours_of(account: Account, action: str) -> Hours | None:
    """Return the hours within which the account may do this; None: at any time."""
    settings: dict[str, Any] = msgspec.json.decode(account.settings)
    chosen = settings.get("hours", {})
    said = chosen[action] if action in chosen else usual_hours(action)
    if said is None:
        return None
    span = (Range(time.fromisoformat(said["start"]), time.fromisoformat(said["end"])),)
    days = set(said.get("days", OFFICE["days"]))
    ranges = tuple(span if day in days else () for day in range(7))
    return Hours(get_zone(account.zone), ranges, holidays_in(settings))


def holidays_in(settings: Mapping[str, Any]) -> Holidays:
    """Return an account's holidays as its settings name them."""
    own = frozenset(date.fromisoformat(day) for day in settings.get("holidays", ()))
    return Holidays(own, tuple(settings.get("holiday_calendars", ())))


def recipient_hours(hours: Hours | None, zone: str | None) -> Hours | None:
    """Return the same hours on a recipient's clock; None: the account's own are all that holds."""
    if hours is None or zone in (None, hours.zone.name) or zone not in zone_names():
        return None
    return Hours(get_zone(zone), hours.ranges)
