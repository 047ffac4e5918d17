"""How Mastodon refuses: `{"error": "..."}` with a status, and no codes.

Its sentences are the only codes there are, so the few that matter are compared whole, by equality;
servers in another language then fall to the row of their status, which is always safe.
"""

from datetime import datetime, timedelta

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    not_ready,
    prepare_again,
    rejected,
    stumbled,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import WaitScope
from cadenza.providers.waits import retry_after, until_iso

PROCESSING = "Cannot attach files that have not finished processing. Try again in a moment!"
THUMBNAIL = "Error processing thumbnail for uploaded media"
NO_PARENT = "The post you are trying to reply to does not appear to exist."
KNOWN = frozenset({PROCESSING, THUMBNAIL, NO_PARENT, "invalid_grant", "invalid_client"})
FIVE_MINUTES = timedelta(minutes=5)


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read the error body; OAuth's answers carry their code in the same place."""
    body = reply.json()
    words = body.get("error") if isinstance(body, dict) else None
    if not isinstance(words, str):
        return None
    more = body.get("error_description")
    wait = until_iso(reply, "x-ratelimit-reset", now) if reply.status == 429 else None
    return Refusal(
        status=reply.status,
        # Other sentences may quote anything, so they are words and never a code.
        code=words if words in KNOWN else None,
        words=more if isinstance(more, str) else words,
        wait=wait or retry_after(reply, now),
    )


TABLE = Table(
    network="Mastodon",
    read=read,
    before_it=WaitScope.ACCOUNT,
    rows=(
        Row(401, None, None, disconnected, "The server does not accept our token"),
        Row(403, None, None, forbidden, "The account may not do this; look at it on the server"),
        Row(404, NO_PARENT, None, rejected, "The post that this one answers is gone"),
        Row(404, None, None, rejected, "The server does not know what was asked for"),
        Row(410, None, None, rejected, "The server has removed what was asked for"),
        Row(422, PROCESSING, None, not_ready(timedelta(seconds=5)), "Media are being worked on"),
        Row(422, THUMBNAIL, None, prepare_again, "The server could not read an uploaded file"),
        Row(422, None, None, rejected, "The server does not take this content"),
        Row(
            429,
            None,
            None,
            try_later(WaitScope.ACCOUNT, FIVE_MINUTES),
            "The server asks this account to slow down",
        ),
        Row(400, "invalid_grant", None, disconnected, "The sign-in was not completed in time"),
        Row(400, None, None, rejected, "The server did not understand the request"),
        Row(413, None, None, rejected, "A file is too large for this server"),
        # 503 is also said while another request with the same key is at work: perhaps ours.
        Row(503, None, None, unsure, "The server is not ready"),
    ),
)

# Uploads are invisible, so their failures may simply be tried again.
UPLOADS = Table(
    network="Mastodon",
    read=read,
    before_it=WaitScope.ACCOUNT,
    rows=(Row(500, None, None, stumbled, "The server could not take a file"), *TABLE.rows),
)
