"""What is told: kinds, what people may choose, one thing to tell, and how telling ended.

Outbox rows name what happened (`delivery.sent`); people choose by topic (`published`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cadenza.sql.tx import Row


class Topic(StrEnum):
    """What a person can choose about."""

    PUBLISHED = "published"
    FAILED = "failed"
    ACCOUNT = "account"


class Choice(StrEnum):
    """How a person wants to hear of it."""

    EACH = "each"
    DIGEST = "digest"
    OFF = "off"


class EventKind(StrEnum):
    """What happened; a program chooses by these."""

    SENT = "delivery.sent"
    FAILED = "delivery.failed"
    MISSED = "delivery.missed"
    UNCONFIRMED = "delivery.unconfirmed"
    AT_RISK = "delivery.at_risk"
    UNAPPROVED = "delivery.unapproved"
    EXPIRING = "account.expiring"
    NEEDS_RECONNECT = "account.needs_reconnect"
    SUSPENDED = "account.suspended"
    LIMITED = "account.limited"
    HELD = "installation.held"
    DRY = "queue.dry"
    IMPORT_DONE = "import.done"
    SUBSCRIBED = "contact.subscribed"
    UNSUBSCRIBED = "contact.unsubscribed"
    CAMPAIGN_COMPLETED = "campaign.completed"
    CAMPAIGN_PAUSED = "campaign.paused"
    REPLIED = "inbox.replied"
    BOUNCED = "inbox.bounced"
    COMPLAINED = "inbox.complained"


TOPICS: Mapping[str, Topic] = {
    EventKind.SENT: Topic.PUBLISHED,
    EventKind.FAILED: Topic.FAILED,
    EventKind.MISSED: Topic.FAILED,
    EventKind.UNCONFIRMED: Topic.FAILED,
    EventKind.AT_RISK: Topic.FAILED,
    EventKind.UNAPPROVED: Topic.FAILED,
    EventKind.EXPIRING: Topic.ACCOUNT,
    EventKind.NEEDS_RECONNECT: Topic.ACCOUNT,
    EventKind.SUSPENDED: Topic.ACCOUNT,
    EventKind.LIMITED: Topic.ACCOUNT,
    EventKind.HELD: Topic.ACCOUNT,
    EventKind.CAMPAIGN_COMPLETED: Topic.ACCOUNT,
    EventKind.CAMPAIGN_PAUSED: Topic.ACCOUNT,
    EventKind.DRY: Topic.ACCOUNT,
}
DEFAULTS = {
    Topic.PUBLISHED: Choice.DIGEST,
    Topic.FAILED: Choice.EACH,
    Topic.ACCOUNT: Choice.EACH,
}
DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class NoticeBatch:
    """Things to tell together, by one medium to one target, claimed by one dispatcher."""

    workspace_id: str
    medium: str
    target_id: str
    group_key: str
    lease: int
    attempts: int
    news: tuple[Row, ...]  # outbox rows, oldest first, with what they are about

    @property
    def key(self) -> str:
        """Name it: the same for every repetition, so that a receiver knows one."""
        return f"{self.workspace_id}/{self.news[0]['id']}/{self.medium}/{self.target_id}"


@dataclass(frozen=True, slots=True)
class Delivered:
    """The other side has it."""


@dataclass(frozen=True, slots=True)
class RetryLater:
    """Not now; try again, not sooner than `wait` if one is named. `silent`: nobody answered at all."""

    message: str
    wait: timedelta | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class NotAttempted:
    """Put back without a call: the other side kept silent a moment ago."""


@dataclass(frozen=True, slots=True)
class GaveUp:
    """It cannot be told to this target; `gone`: nor can anything else."""

    message: str
    gone: bool = False


Ending = Delivered | RetryLater | NotAttempted | GaveUp


@dataclass(frozen=True, slots=True)
class Email:
    """A mail, before it has an envelope."""

    to: str
    name: str
    subject: str
    text: str
    html: str
    key: str
    at: datetime
