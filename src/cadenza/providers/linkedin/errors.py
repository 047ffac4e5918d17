"""How LinkedIn refuses: `{status, serviceErrorCode, code, message}`, some of it missing at times.

Two facts stand in sentences alone and are matched whole: whose daily limit is used up, and of which
post a text is a duplicate. LinkedIn names no time to wait; daily limits end at midnight UTC.
"""

import re
from datetime import UTC, datetime, time, timedelta
from typing import Any

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    not_ready,
    prepare_again,
    rejected,
    transient,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import Outcome, Rejected, Sent, WaitScope
from cadenza.providers.waits import bounded, retry_after

DUPLICATE = "DUPLICATE_POST"
POST_URL = "https://www.linkedin.com/feed/update/{}"
# Asking a moment before LinkedIn's own midnight would cost another whole day.
AFTER_MIDNIGHT = timedelta(minutes=1)
_CODE = re.compile(r"[A-Z][A-Z_]{2,60}")
_DUPLICATE = re.compile(r"Content is a duplicate of (urn:li:\w+:\d+)\.?")
_THROTTLE = re.compile(
    r"Resource level throttle (APPLICATION|MEMBER) DAY limit for calls to this resource is reached\."
)


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read the error body, wherever its code stands."""
    body = reply.json()
    if not isinstance(body, dict) or not ({"message", "code", "serviceErrorCode"} & set(body)):
        return None
    words = body.get("message")
    words = words if isinstance(words, str) else ""
    number = body.get("serviceErrorCode")
    wait = retry_after(reply, now)
    if reply.status == 429 and wait is None:
        wait = until_midnight(now)
    return Refusal(
        status=reply.status,
        code=_code(body, words.strip()),
        subcode=number if isinstance(number, int) else None,
        words=words,
        wait=wait,
    )


def read_sign_in(reply: Reply, now: datetime) -> Refusal | None:
    """Read an answer of the sign-in host: `{error, error_description}`."""
    body = reply.json()
    code = body.get("error") if isinstance(body, dict) else None
    if not isinstance(code, str):
        return None
    words = body.get("error_description")
    known = code if code in SIGN_IN_CODES else None
    words = words if isinstance(words, str) else ""
    return Refusal(status=reply.status, code=known, words=words, wait=retry_after(reply, now))


def until_midnight(now: datetime) -> timedelta:
    """Return the time until LinkedIn's day is over."""
    tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
    return bounded(datetime.combine(tomorrow, time(), UTC) + AFTER_MIDNIGHT - now)


def already_there(refusal: Refusal, message: str) -> Outcome:
    """Say that the post exists: LinkedIn names it when it refuses the same text again."""
    named = _DUPLICATE.fullmatch(refusal.words.strip())
    if named is None:
        return Rejected(message, refusal.name)
    return Sent(named[1], POST_URL.format(named[1]), message)


def _code(body: dict[str, Any], words: str) -> str | None:
    if _DUPLICATE.fullmatch(words):
        return DUPLICATE
    throttle = _THROTTLE.fullmatch(words)
    if throttle:
        return throttle[1]
    details = body.get("errorDetails")
    inputs = details.get("inputErrors") if isinstance(details, dict) else None
    first = inputs[0] if isinstance(inputs, list) and inputs else None
    for place in (body, first):
        code = place.get("code") if isinstance(place, dict) else None
        if isinstance(code, str) and _CODE.fullmatch(code):
            return code
    return None


_WRONG = "LinkedIn does not take this content"

TABLE = Table(
    network="LinkedIn",
    read=read,
    rows=(
        Row(401, "REVOKED_ACCESS_TOKEN", None, disconnected, "The access was taken back"),
        Row(401, "EXPIRED_ACCESS_TOKEN", None, disconnected, "The access has run out"),
        Row(401, None, None, disconnected, "LinkedIn does not accept our token"),
        Row(
            403,
            None,
            None,
            forbidden,
            "The account may not do this: for a page, a role that may post is needed, and the app "
            "needs LinkedIn's permission",
        ),
        Row(
            400,
            "MEDIA_ASSET_WAITING_UPLOAD",
            None,
            not_ready(timedelta(seconds=20)),
            "Media are being worked on",
        ),
        Row(400, "MEDIA_ASSET_PROCESSING_FAILED", None, rejected, "LinkedIn cannot read a file"),
        Row(
            400,
            "EXPIRED_UPLOAD_URL",
            None,
            prepare_again,
            "An upload took too long; it starts again",
        ),
        Row(400, "FIELD_LENGTH_TOO_LONG", None, rejected, "The text is too long for LinkedIn"),
        Row(400, None, None, rejected, _WRONG),
        Row(404, None, None, rejected, "LinkedIn does not know what was asked for"),
        Row(409, DUPLICATE, None, already_there, "LinkedIn already had this very post"),
        Row(422, DUPLICATE, None, already_there, "LinkedIn already had this very post"),
        Row(409, None, None, rejected, _WRONG),
        Row(422, None, None, rejected, _WRONG),
        Row(
            426,
            None,
            None,
            # Nothing about any post is wrong: all of LinkedIn waits for the operator.
            try_later(WaitScope.APP, timedelta(hours=1)),
            "LinkedIn has closed this version of its API; set a newer version in the app's settings",
        ),
        Row(429, "APPLICATION", None, try_later(WaitScope.APP), "The app's daily limit is used up"),
        Row(429, None, None, try_later(WaitScope.ACCOUNT), "The account's daily limit is used up"),
        Row(500, None, None, unsure, "LinkedIn had trouble"),
        Row(503, None, None, unsure, "LinkedIn is not ready"),
        Row(504, None, None, unsure, "LinkedIn took too long"),
    ),
)

SIGN_IN_CODES = frozenset(
    {"invalid_grant", "invalid_request", "invalid_client", "unauthorized_client", "access_denied"}
)
SIGN_IN = Table(
    network="LinkedIn",
    read=read_sign_in,
    rows=(
        Row(
            None, "invalid_client", None, forbidden, "LinkedIn does not know our app: check its id"
        ),
        Row(None, "unauthorized_client", None, forbidden, "LinkedIn has not approved our app"),
        Row(400, None, None, disconnected, "The sign-in is over; connect the account again"),
        Row(401, None, None, disconnected, "The sign-in is over; connect the account again"),
        Row(429, None, None, try_later(WaitScope.APP), "LinkedIn asks us to slow down"),
        Row(500, None, None, transient, "LinkedIn had trouble"),
        Row(503, None, None, transient, "LinkedIn is not ready"),
    ),
)
