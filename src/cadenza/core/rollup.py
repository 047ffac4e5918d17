"""What does a post look like, given what became of its deliveries?

A pure and total function, computed on read and never stored: two truths would drift.
The rules are tried in order and the first that fits wins; canceled and skipped
deliveries do not count for anything.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class DeliveryState(StrEnum):
    """The one set of states of a delivery."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNCONFIRMED = "unconfirmed"
    MISSED = "missed"
    CANCELED = "canceled"
    SKIPPED = "skipped"


class PostState(StrEnum):
    """How a post shows."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"
    PUBLISHING = "publishing"
    PUBLISHING_REST = "publishing_rest"
    NEEDS_CHECK = "needs_check"
    PUBLISHED = "published"
    PARTIALLY_PUBLISHED = "partially_published"
    FAILED = "failed"
    MISSED = "missed"


DROPPED = frozenset({DeliveryState.CANCELED, DeliveryState.SKIPPED})
TO_COME = frozenset({DeliveryState.DRAFT, DeliveryState.SCHEDULED})
LOST = frozenset({DeliveryState.FAILED, DeliveryState.MISSED})
LIVE = TO_COME | {DeliveryState.SENDING, DeliveryState.UNCONFIRMED}


@dataclass(frozen=True, slots=True)
class Leg:
    """One delivery, as far as its post cares."""

    state: DeliveryState
    due_at: datetime | None = None
    sent_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RollUp:
    """The post's state, its first sending and the earliest of what still lives."""

    state: PostState
    published_at: datetime | None
    scheduled_at: datetime | None


def roll_up(legs: Iterable[Leg]) -> RollUp:
    """Return how a post shows, from all its deliveries."""
    counted = [leg for leg in legs if leg.state not in DROPPED]
    sent = [leg.sent_at for leg in counted if leg.state is DeliveryState.SENT and leg.sent_at]
    due = [leg.due_at for leg in counted if leg.state in LIVE and leg.due_at]
    return RollUp(
        state=state_of(leg.state for leg in counted),
        published_at=min(sent, default=None),
        scheduled_at=min(due, default=None),
    )


def state_of(states: Iterable[DeliveryState]) -> PostState:
    """Return the post's state from the states of its deliveries alone."""
    found = frozenset(states) - DROPPED
    if not found:
        return PostState.DRAFT
    if DeliveryState.SENDING in found:
        return PostState.PUBLISHING
    if DeliveryState.UNCONFIRMED in found:
        return PostState.NEEDS_CHECK
    if DeliveryState.SENT in found:
        return _state_once_sent(found)
    if found <= LOST:
        return PostState.FAILED if DeliveryState.FAILED in found else PostState.MISSED
    return PostState.DRAFT if DeliveryState.DRAFT in found else PostState.SCHEDULED


def _state_once_sent(found: frozenset[DeliveryState]) -> PostState:
    if found & TO_COME:
        return PostState.PUBLISHING_REST
    return PostState.PARTIALLY_PUBLISHED if found & LOST else PostState.PUBLISHED
