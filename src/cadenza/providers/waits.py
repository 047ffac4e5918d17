"""How long a network asks us to wait, from its headers; None where it does not say.

Three spellings are in use: seconds or a date (`Retry-After`), an instant as epoch seconds, and an
instant in ISO 8601. All come out as a span of at least a second: clocks differ, and zero would spin.
"""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from cadenza.providers.http.outcome import Reply

SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=1)


def bounded(wait: timedelta) -> timedelta:
    """Keep a wait within a second and a day, whatever a header claims."""
    return min(max(wait, SHORTEST), LONGEST)


def retry_after(reply: Reply, now: datetime) -> timedelta | None:
    """Read `Retry-After`: seconds (also with a fraction) or a date."""
    value = (reply.header("retry-after") or "").strip()
    if not value:
        return None
    try:
        return bounded(timedelta(seconds=float(value)))
    except (ValueError, OverflowError):
        pass
    try:
        at = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return bounded((at if at.tzinfo else at.replace(tzinfo=UTC)) - now)


def seconds_in(reply: Reply, header: str) -> timedelta | None:
    """Read a header that holds seconds from now, of an answer that was refused for its rate (429)."""
    try:
        seconds = float(reply.header(header) or "")
        return bounded(timedelta(seconds=seconds)) if reply.status == 429 else None
    except (ValueError, OverflowError):
        return None


def until_epoch(reply: Reply, header: str, now: datetime) -> timedelta | None:
    """Read a header that holds an instant as seconds since 1970."""
    try:
        return bounded(datetime.fromtimestamp(float(reply.header(header) or ""), UTC) - now)
    except (ValueError, OverflowError, OSError):
        return None


def until_iso(reply: Reply, header: str, now: datetime) -> timedelta | None:
    """Read a header that holds an instant in ISO 8601."""
    try:
        at = datetime.fromisoformat((reply.header(header) or "").strip())
    except ValueError:
        return None
    return bounded((at if at.tzinfo else at.replace(tzinfo=UTC)) - now)
