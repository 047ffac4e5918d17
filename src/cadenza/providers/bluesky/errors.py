"""How AT Protocol servers refuse: `{"error": "Name", "message": "..."}`.

The name is the code. An expired token is a 400 here, not a 401. "InvalidSwap" on our own key means
that the record is there already, so it is an unconfirmed send to look into and not a refusal.
"""

import re
from datetime import datetime, timedelta

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    prepare_again,
    rejected,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import WaitScope
from cadenza.providers.waits import retry_after, until_epoch

_NAME = re.compile(r"[A-Za-z]{1,60}")
MISSING = "RecordNotFound"


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read the error body."""
    body = reply.json()
    name = body.get("error") if isinstance(body, dict) else None
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    message = body.get("message")
    limited = reply.status == 429
    return Refusal(
        status=reply.status,
        code=name,
        words=message if isinstance(message, str) else name,
        wait=retry_after(reply, now)
        or (until_epoch(reply, "ratelimit-reset", now) if limited else None),
    )


TABLE = Table(
    network="Bluesky",
    read=read,
    before_it=WaitScope.ACCOUNT,
    rows=(
        Row(None, "ExpiredToken", None, disconnected, "The session has run out"),
        Row(None, "InvalidToken", None, disconnected, "The session is not accepted"),
        Row(None, "AuthMissing", None, disconnected, "The server saw no session"),
        Row(
            None,
            "AuthenticationRequired",
            None,
            disconnected,
            "The handle or the app password is wrong",
        ),
        Row(
            None,
            "AuthFactorTokenRequired",
            None,
            forbidden,
            "This account asks for a code by e-mail: use an app password instead",
        ),
        Row(None, "AccountTakedown", None, forbidden, "Bluesky has taken this account down"),
        Row(None, "AccountDeactivated", None, forbidden, "This account is switched off"),
        Row(None, "AccountNotFound", None, disconnected, "The server does not know the account"),
        Row(401, None, None, disconnected, "The session is not accepted"),
        Row(400, "InvalidSwap", None, unsure, "A record with this key is there already"),
        Row(400, "BlobNotFound", None, prepare_again, "An uploaded file is gone on the server"),
        Row(400, MISSING, None, rejected, "The server does not have this post"),
        Row(400, "InvalidRequest", None, rejected, "The server does not take this content"),
        Row(413, None, None, rejected, "A file is too large for this server"),
        Row(
            429,
            None,
            None,
            try_later(WaitScope.ACCOUNT, timedelta(minutes=5)),
            "The server asks this account to slow down",
        ),
        Row(500, "InternalServerError", None, unsure, "The server stumbled"),
    ),
)
