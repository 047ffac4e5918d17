"""Foreign values as JSON can hold them: dates as ISO texts, ids and numbers of others as texts.

Also what their cron expressions mean, where releases of one package differ about it.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.core.cron import CronError, Dialect, parse
from cadenza.core.zones import get_zone

TURNED = "priorities are turned round: there the higher goes first, here the lower"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE = datetime(2028, 1, 1, tzinfo=UTC), datetime(2032, 1, 1, tzinfo=UTC)  # with a leap day


def to_plain(value: Any) -> Any:
    """Return the value as JSON can hold it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, datetime):
        found = to_instant(value)
        return None if found is None else found.isoformat()
    if isinstance(value, Mapping):
        return {str(name): to_plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [to_plain(inner) for inner in value]
    return str(value)


def to_payload(value: Any) -> dict[str, Any]:
    """Return a payload: an object as it is, anything else under the name `data`."""
    if value is None:
        return {}
    plain = to_plain(value)
    return plain if isinstance(plain, dict) else {"data": plain}


def to_instant(value: object) -> datetime | None:
    """Read a time as others keep it: a date, milliseconds, a text; None if it is none."""
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _EPOCH + timedelta(milliseconds=value)
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return None


def differs_by_release(cron: str) -> bool:
    """Say whether cron-parser, in its releases to 4 and from 5 on, names other days by it.

    The old ones take a day or weekday field that lists everything for an open one.
    """
    words = cron.split()
    if len(words) not in (5, 6):
        return False
    days = " ".join(["0 0 0", *words[-3:]])
    begin, end = _CYCLE
    zone = get_zone("UTC")
    try:
        old, new = (
            list(parse(days, dialect).occurrences(begin, zone, until=end))
            for dialect in (Dialect.MONGODB_CRON, Dialect.STANDARD)
        )
    except CronError:
        return False  # it is refused with its own reason
    return old != new
