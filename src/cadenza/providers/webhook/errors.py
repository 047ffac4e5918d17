"""What a receiver's status means, by the Standard Webhooks specification; its body is never shown.

Anybody can stand behind the address, so no words are passed on. Whatever the receiver refuses is tried
again by the pipeline, except a 410 (closed) and redirects (not followed).
"""

from datetime import datetime

from cadenza.providers.errors import (
    Refusal,
    Row,
    Table,
    disconnected,
    forbidden,
    transient,
    try_later,
    unsure,
)
from cadenza.providers.http.outcome import Reply
from cadenza.providers.outcome import Outcome, TryLater, WaitScope
from cadenza.providers.waits import retry_after


def read(reply: Reply, now: datetime) -> Refusal:
    """Read the status and the wait; every answer is the receiver's own."""
    return Refusal(status=reply.status, wait=retry_after(reply, now))


def wait_or_unconfirmed(refusal: Refusal, message: str) -> Outcome:
    """Wait if a time was named, for then nothing was done; else it may have been."""
    if refusal.wait is not None:
        return TryLater(refusal.wait, WaitScope.ACCOUNT, message)
    return unsure(refusal, message)


def by_status(refusal: Refusal, message: str) -> Outcome:
    """Judge every other status."""
    if 300 <= refusal.status < 400:
        elsewhere = f"{message} It leads elsewhere, which is not followed: correct it."
        return forbidden(refusal, elsewhere)
    if refusal.status >= 500 or refusal.status in {408, 499}:
        return unsure(refusal, message)
    return transient(refusal, f"{message} It answered with status {refusal.status}.")


TABLE = Table(
    network="The receiver",
    read=read,
    rows=(
        Row(410, None, None, disconnected, "The receiver has closed this address"),
        Row(429, None, None, try_later(WaitScope.ACCOUNT), "The receiver asks us to slow down"),
        Row(502, None, None, wait_or_unconfirmed, "The receiver is too busy"),
        Row(503, None, None, wait_or_unconfirmed, "The receiver is not ready"),
        Row(504, None, None, wait_or_unconfirmed, "The receiver took too long"),
    ),
    unknown=Row(None, None, None, by_status, "The receiver did not take it"),
)
