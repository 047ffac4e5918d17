"""What a delivery is and which moves it may make.

The states are those of `core/rollup.py`; `TRANSITIONS` is the only list of moves, and `docs/states.md`
draws it. "Held" is no state: it is how a due delivery in a closed lane shows, with the gate's reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from cadenza.core.channels import Channel
from cadenza.core.rollup import DeliveryState as State


class Action(StrEnum):
    """What limits count by."""

    EMAIL = "email"
    MESSAGE = "message"
    CONNECTION_REQUEST = "connection_request"
    INMAIL = "inmail"
    POST = "post"
    BROADCAST = "broadcast"


TRANSITIONS: frozenset[tuple[State, State]] = frozenset(
    {
        (State.DRAFT, State.SCHEDULED),  # approved
        (State.DRAFT, State.MISSED),  # not approved in time
        (State.DRAFT, State.CANCELED),
        (State.DRAFT, State.SKIPPED),  # recipient inactive
        (State.SCHEDULED, State.DRAFT),  # approval voided, or taken back
        (State.SCHEDULED, State.SENDING),  # permitted
        (State.SCHEDULED, State.MISSED),  # too late
        (State.SCHEDULED, State.CANCELED),
        (State.SCHEDULED, State.SKIPPED),  # suppressed, recipient inactive
        (State.SCHEDULED, State.FAILED),  # cannot be rendered, or its process kept dying
        (State.SENDING, State.SENT),
        (State.SENDING, State.SCHEDULED),  # never left, or the other side wants a wait
        (State.SENDING, State.FAILED),
        (State.SENDING, State.UNCONFIRMED),
        (State.UNCONFIRMED, State.SENT),  # evidence, or a person
        (State.UNCONFIRMED, State.SCHEDULED),  # provably absent, or a person says so
        (State.UNCONFIRMED, State.FAILED),
        (State.FAILED, State.SCHEDULED),  # retried by hand
        (State.FAILED, State.DRAFT),  # changed since, and not approved
        (State.SKIPPED, State.SCHEDULED),  # the recipient was not to blame
        (State.SKIPPED, State.DRAFT),
        (State.MISSED, State.SCHEDULED),
        (State.MISSED, State.DRAFT),
        (State.CANCELED, State.SCHEDULED),  # undo
        (State.CANCELED, State.DRAFT),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDelivery:
    """A delivery as a planner hands it to the pipeline."""

    id: str
    workspace_id: str
    account_id: str
    channel: Channel
    action: Action
    due_at: datetime
    content: str  # JSON, complete for its channel
    lane_id: str | None = None  # the account's own when not given
    post_id: str | None = None
    campaign_id: str | None = None
    recipient: str | None = None
    approved: bool = True
    slot_at: datetime | None = None
    not_after_at: datetime | None = None
    wall_time: str | None = None
    zone: str | None = None
    priority: int = 0
    retry_limit: int = 3
    mode: str = "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedPost:
    """A post as one account's one channel gets it: what a planner gives an instant to.

    Composed by `posts/`; its pieces for one account go out at the same instant.
    """

    post_id: str
    account_id: str
    channel: Channel
    content: str  # JSON, complete for its channel
    approved: bool


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A claimed delivery in a worker's hands: its key, its fence, and what the claim saw."""

    workspace_id: str
    id: str
    lease: int
    row: dict[str, Any] = field(compare=False, repr=False)


def account_scope(account_id: str) -> str:
    """Return the name of an account's own lane, which is the scope of its limits too."""
    return f"account:{account_id}"


def locks_of(tickets: Iterable[ClaimedDelivery]) -> list[str]:
    """Name what a batch decides about: the accounts, and the lanes that several accounts may share."""
    names: set[str] = set()
    for ticket in tickets:
        own = account_scope(ticket.row["account_id"])
        names.add(f"account:{ticket.workspace_id}:{ticket.row['account_id']}")
        if ticket.row["lane_id"] != own:
            names.add(f"lane:{ticket.workspace_id}:{ticket.row['lane_id']}")
    return sorted(names)
