"""Read a session that a server handed out: two tokens and when the first one ends.

The end stands inside the access token; it is read without trusting it, only to renew in time. A token
whose end cannot be read is taken to last an hour.
"""

import json
from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta

from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.providers.reply import HttpSuccess

GUESS = timedelta(hours=1)


def tokens_of(got: HttpSuccess, now: datetime) -> Tokens | None:
    """Read both tokens; None if one is missing, so that an empty one never replaces a good one."""
    access, refresh = got.text("accessJwt"), got.text("refreshJwt")
    if access is None or refresh is None:
        return None
    return Tokens(
        access=Secret(access),
        refresh=Secret(refresh),
        expires_at=_end(access) or now + GUESS,
        refreshed_at=now,
    )


def _end(token: str) -> datetime | None:
    try:
        claims = token.split(".")[1]
        data = json.loads(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        return datetime.fromtimestamp(float(data["exp"]), UTC)
    except (ValueError, LookupError, TypeError, OverflowError, OSError):
        return None
