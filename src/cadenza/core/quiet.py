"""Quiet hours: when somebody is left alone, on their own clock.

Written as `22:00-08:00`, with the zone behind it where it is somebody's own: `22:00-08:00 Europe/Berlin`. What is not
quiet is open, so the rules of `windows.py` hold: an hour that happens twice is quiet twice.
"""

import re
from datetime import time
from functools import lru_cache

from cadenza.core.windows import Hours, Range
from cadenza.core.zones import get_zone

SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


def is_span(text: str) -> bool:
    """Say whether it names quiet hours: two different times of a day."""
    found = SPAN.fullmatch(text)
    return found is not None and found.group(1, 2) != found.group(3, 4)


@lru_cache(maxsize=1024)
def open_hours(quiet: str) -> Hours:
    """Return the hours that are not quiet."""
    span, _, zone = quiet.partition(" ")
    begins, _, ends = span.partition("-")
    awake = (Range(time.fromisoformat(ends), time.fromisoformat(begins)),)
    return Hours(get_zone(zone), (awake,) * 7)
