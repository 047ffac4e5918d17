"""How Discord refuses: `{code, message, errors}`; limits with seconds as a fraction.

A 429 that is a web page comes from the guard before Discord: this machine has sent too many bad
requests, so everything rests for long.
"""

from datetime import datetime, timedelta

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    rejected,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import WaitScope
from cadenza.providers.waits import bounded, retry_after

GUARD = "guard"
GLOBAL = "global"
_HOOK = "The webhook is gone; make a new one in Discord"


def read(reply: Reply, now: datetime) -> Refusal | None:
    """Read the code, or whose limit it is."""
    body = reply.json()
    if not isinstance(body, dict):
        if reply.status != 429:
            return None
        return Refusal(status=429, code=GUARD, wait=retry_after(reply, now))
    code, words, wait = body.get("code"), body.get("message"), body.get("retry_after")
    if not isinstance(code, int) and not isinstance(words, str):
        return None
    number = code if isinstance(code, int) and code != 0 else None
    return Refusal(
        status=reply.status,
        code=GLOBAL if body.get("global") is True else number,
        words=words if isinstance(words, str) else "",
        wait=_seconds(wait) or retry_after(reply, now),
    )


def _seconds(wait: object) -> timedelta | None:
    if isinstance(wait, bool) or not isinstance(wait, int | float):
        return None
    try:
        return bounded(timedelta(seconds=wait))
    except (OverflowError, ValueError):
        return None


TABLE = Table(
    network="Discord",
    read=read,
    rows=(
        Row(404, 10015, None, disconnected, _HOOK),
        Row(404, 10003, None, rejected, "The thread is gone; take another thread_id or none"),
        Row(401, None, None, disconnected, "Discord does not accept the webhook's address"),
        Row(404, None, None, disconnected, _HOOK),
        Row(400, 50035, None, rejected, "Discord does not take this content"),
        Row(400, 50006, None, rejected, "There is nothing to post"),
        Row(400, 240000, None, rejected, "Discord blocks a link in the text"),
        Row(400, 220001, None, rejected, "A forum needs a thread: set thread_id or thread_name"),
        Row(400, 220003, None, rejected, "Threads are made in forums only; leave thread_name out"),
        Row(400, None, None, rejected, "Discord does not take this content"),
        Row(None, 40005, None, rejected, "The files are too large for Discord"),
        Row(413, None, None, rejected, "The files are too large for Discord"),
        Row(403, None, None, forbidden, "The webhook may not post there"),
        Row(
            429,
            GUARD,
            None,
            try_later(WaitScope.APP, timedelta(hours=1)),
            "Discord's guard has shut us out for a while",
        ),
        Row(429, GLOBAL, None, try_later(WaitScope.APP), "Discord asks all of us to slow down"),
        Row(
            429, None, None, try_later(WaitScope.ACCOUNT), "Discord asks this webhook to slow down"
        ),
        Row(500, None, None, unsure, "Discord had trouble"),
        Row(502, None, None, unsure, "Discord had trouble"),
        Row(503, None, None, unsure, "Discord is not ready"),
        Row(504, None, None, unsure, "Discord took too long"),
    ),
)
