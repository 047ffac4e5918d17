"""Fills the names in a category's copy: `{{month}}`, `{{brand}}`, and what the category itself defines.

A name that nothing stands for is refused when the category is saved; should one be left all the same
(the code that knew it went), it stays visible as written. Values are put in once and never read again
for names, so a value cannot smuggle another in.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from cadenza.core.suggest import did_you_mean
from cadenza.core.zones import Zone, local
from cadenza.posts.model import PLACEHOLDER

KNOWN = ("brand", "category", "date", "day", "month", "time", "weekday", "year")
_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_MONTHS = "January February March April May June July August September October November December"
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"


def names_in(copy: str) -> set[str]:
    """Return the names that a copy uses."""
    return set(_NAME.findall(copy))


def why_not(copy: str, variables: Mapping[str, str]) -> str | None:
    """Return what is wrong with a copy, or None."""
    known = {*variables, *KNOWN}
    unknown = sorted(names_in(copy) - known)
    if unknown:
        guess = did_you_mean(unknown[0], known)
        return f"{{{{{unknown[0]}}}}} stands for nothing.{guess} Add it to the variables."
    return None


def fill(copy: str, values: Mapping[str, str]) -> str:
    """Put values in for names."""
    return _NAME.sub(lambda found: values.get(found[1], found[0]), copy)


def moment_values(instant: datetime, zone: Zone) -> dict[str, str]:
    """Return what can be said of an instant, on the zone's calendar."""
    there = local(instant, zone)
    return {
        "date": there.date().isoformat(),
        "day": str(there.day),
        "month": _MONTHS.split()[there.month - 1],
        "time": f"{there:%H:%M}",
        "weekday": _WEEKDAYS.split()[there.weekday()],
        "year": str(there.year),
    }


def as_placeholder(text: str) -> str:
    """Mark a text so that nobody takes it for a finished one."""
    return f"{PLACEHOLDER} {text}".rstrip()


def is_placeholder(text: str) -> bool:
    """Say whether a text still holds the mark."""
    return PLACEHOLDER in text
