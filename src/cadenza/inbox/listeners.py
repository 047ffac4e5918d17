"""Who else acts on what comes in: packages above, such as outreach, register a listener in `bootstrap`.

A listener is called in the transaction that records an inbound item, once for each item, after the inbox's own
effects (suppression, counts, outbox). What it raises rolls all of that back, so it raises only on defects.
"""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from cadenza.sql.tx import Tx


class InboundKind(StrEnum):
    """What came in."""

    REPLY = "reply"
    OUT_OF_OFFICE = "out_of_office"  # any automatic answer: not a reply
    UNSUBSCRIBE = "unsubscribe"  # a reply that asks us to stop
    HARD_BOUNCE = "hard_bounce"
    SOFT_BOUNCE = "soft_bounce"
    POLICY_BOUNCE = "policy_bounce"  # the address is fine; the sender is refused
    CONTENT_BOUNCE = "content_bounce"  # the message has to change
    COMPLAINT = "complaint"
    ACCEPTED = "accepted"  # a connection request
    DELIVERED = "delivered"
    DELAYED = "delayed"
    OPEN = "open"
    CLICK = "click"
    UNKNOWN = "unknown"  # for a person to look at

    @property
    def is_bounce(self) -> bool:
        """Say whether a message did not arrive."""
        return self.endswith("_bounce")


class InboundRecorded(Struct, frozen=True, kw_only=True):
    """One inbound item that was recorded in this transaction."""

    workspace_id: str
    inbound_id: str
    kind: InboundKind
    account_id: str
    contact_id: str | None
    address: str | None  # folded: the person's, on `channel`
    channel: str  # of the address: email, linkedin, telegram, …
    delivery_id: str | None  # what it answers to
    at: datetime


Listener = Callable[[Tx, datetime, InboundRecorded], None]
ON_INBOUND: list[Listener] = []


def register(listener: Listener) -> None:
    """Call this listener for everything that comes in; repeating it changes nothing."""
    if listener not in ON_INBOUND:
        ON_INBOUND.append(listener)


def tell_listeners(tx: Tx, now: datetime, recorded: InboundRecorded) -> None:
    """Call all listeners, in the order in which they registered."""
    for listener in ON_INBOUND:
        listener(tx, now, recorded)
