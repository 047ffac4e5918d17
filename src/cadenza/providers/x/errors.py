"""How X refuses: a problem in JSON, whose `type` ends in a code; a few have only their sentence.

Those few sentences are compared whole. Every reply names the end of its rate window.
"""

from datetime import datetime, timedelta
from typing import Any

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    prepare_again,
    rejected,
    transient,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import WaitScope
from cadenza.providers.waits import retry_after, until_epoch

DUPLICATE = "duplicate"
CAPPED = "usage-capped"
SENTENCES = {
    "You are not allowed to create a Tweet with duplicate content.": DUPLICATE,
    "You are not permitted to perform this action.": "not-permitted",
    "Your media IDs are invalid.": "media-gone",
}
TYPES = frozenset(
    {
        *("invalid-request", "resource-not-found", "not-authorized-for-resource"),
        *("client-forbidden", CAPPED, "rate-limit-exceeded", "unsupported-authentication"),
    }
)
QUARTER = timedelta(minutes=15)


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read a problem; sign-in answers carry their code in `error`."""
    body = reply.json()
    if not isinstance(body, dict) or not ({"title", "detail", "type", "error"} & set(body)):
        return None
    words = _words(body)
    code = _code(body, words)
    wait = retry_after(reply, now)
    # The window's end stands on every reply; used-up credits do not come back with it.
    if wait is None and reply.status == 429 and code != CAPPED:
        wait = until_epoch(reply, "x-rate-limit-reset", now)
    return Refusal(status=reply.status, code=code, words=words, wait=wait)


def _words(body: dict[str, Any]) -> str:
    errors = body.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    inner = first.get("message") if isinstance(first, dict) else None
    for words in (inner, body.get("detail"), body.get("error_description"), body.get("title")):
        if isinstance(words, str) and words:
            return words
    return ""


def _code(body: dict[str, Any], words: str) -> str | None:
    for sentence in (words, body.get("detail")):
        if isinstance(sentence, str) and sentence in SENTENCES:
            return SENTENCES[sentence]
    last = str(body.get("type") or "").rpartition("/")[2]
    if last in TYPES:
        return last
    error = body.get("error")
    return error if isinstance(error, str) and error in SIGN_IN_CODES else None


SIGN_IN_CODES = frozenset(
    {"invalid_request", "invalid_grant", "invalid_client", "unauthorized_client"}
)

TABLE = Table(
    network="X",
    read=read,
    rows=(
        Row(None, "unsupported-authentication", None, disconnected, "X does not accept our token"),
        Row(401, None, None, disconnected, "X does not accept our token"),
        Row(
            None,
            CAPPED,
            None,
            try_later(WaitScope.APP, timedelta(hours=6)),
            "The app's credits with X are used up; look at its plan",
        ),
        # publish.py looks whether the twin is this very post before it believes this row.
        Row(403, DUPLICATE, None, rejected, "X already has this text from the account; change it"),
        Row(
            403,
            "not-permitted",
            None,
            forbidden,
            "X does not let the account post this: too long, media, or a right is missing",
        ),
        Row(403, "client-forbidden", None, forbidden, "X does not let our app do this"),
        Row(403, None, None, forbidden, "The account may not do this; look at it on X"),
        Row(
            400, "media-gone", None, prepare_again, "The uploaded media are gone; they go up again"
        ),
        Row(400, None, None, rejected, "X does not take this content"),
        Row(404, None, None, rejected, "X does not know what was asked for"),
        Row(413, None, None, rejected, "A file is too large for X"),
        Row(
            429,
            None,
            None,
            try_later(WaitScope.ACCOUNT, QUARTER),
            "X asks this account to slow down",
        ),
        Row(500, None, None, unsure, "X had trouble"),
        Row(502, None, None, unsure, "X had trouble"),
        Row(503, None, None, unsure, "X is not ready"),
        Row(504, None, None, unsure, "X took too long"),
    ),
)

SIGN_IN = Table(
    network="X",
    read=read,
    rows=(
        Row(None, "invalid_client", None, forbidden, "X does not know our app: check its id"),
        Row(None, "unauthorized_client", None, forbidden, "X does not know our app: check its id"),
        Row(400, None, None, disconnected, "The sign-in is over; connect the account again"),
        Row(401, None, None, disconnected, "The sign-in is over; connect the account again"),
        Row(429, None, None, try_later(WaitScope.APP, QUARTER), "X asks us to slow down"),
        Row(500, None, None, transient, "X had trouble"),
        Row(503, None, None, transient, "X is not ready"),
    ),
)
