"""Read what an OAuth 2 server hands out, for a sign-in and for a refresh.

A refresh that brings no new refresh token keeps the one there was: a server that rotates them always
sends the next. When a token ends may be written as a number or as text; without it we think of no end.
Limit: only the plain fields of RFC 6749; Meta's exchange reads its own.
"""

from datetime import datetime, timedelta

from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.reply import HttpSuccess

LONGEST = timedelta(days=3650)  # no answer makes a token live longer to us


def lasts(written: object) -> timedelta | None:
    """Read how long a token lives, in seconds; None where nothing sensible is said."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    try:
        seconds = float(written)
    except (ValueError, OverflowError):
        return None
    return timedelta(seconds=min(seconds, LONGEST.total_seconds())) if seconds > 0 else None


def read_tokens(got: HttpSuccess, now: datetime, before: Tokens | None = None) -> Tokens | None:
    """Read the tokens of an answer; None when it holds no access token."""
    access, refresh = got.text("access_token"), got.text("refresh_token")
    life = lasts(got.at("expires_in"))
    if access is None:
        return None
    return Tokens(
        access=Secret(access),
        refresh=Secret(refresh) if refresh else before.refresh if before else None,
        expires_at=now + life if life else None,
        refreshed_at=now,
        extra=before.extra if before else {},
    )
