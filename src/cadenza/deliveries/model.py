"""What a delivery is and which moves it may make.

The states are those of `core/rollup.py`; `TRANSITIONS` is the only list of moves, and `docs/states.md`
draws it. "Held" is no state: it is how a due delivery in a closed lane shows, with the gate's reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import msgspec
from msgspec import Struct, structs

from cadenza.accounts.model import Account
from cadenza.core.channels import Channel
from cadenza.core.rollup import DeliveryState as State
from cadenza.sql.values import Key, columns

ALSO = "; and meanwhile "  # between the two reasons of a hold


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
    sequence_id: str | None = None
    contact_id: str | None = None
    step: int = 0
    template_version_id: str | None = None  # content holds its variables then
    audience_id: str | None = None  # who left this list gets nothing
    recipient: str | None = None
    approved: bool = True
    slot_at: datetime | None = None
    not_after_at: datetime | None = None
    wall_time: str | None = None
    zone: str | None = None
    priority: int = 0
    retry_limit: int = 3
    mode: str = "live"
    quiet: str | None = None  # when the recipient is left alone: `22:00-08:00 Europe/Berlin`

    @property
    def lane(self) -> str:
        """Name the lane that it waits in."""
        return self.lane_id or account_scope(self.account_id)


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

    @property
    def recipient(self) -> str | None:
        """A post is for whoever follows the account."""
        return None


class Delivery(Struct, frozen=True):
    """A row of `delivery`, as the pipeline knows it."""

    workspace_id: str
    id: str
    lane_id: str
    account_id: str
    channel: Channel
    action: Action
    post_id: str | None
    campaign_id: str | None
    sequence_id: str | None
    contact_id: str | None
    step: int
    template_version_id: str | None
    audience_id: str | None
    recipient: str | None
    state: State
    reason: str | None
    due_at: datetime
    slot_at: datetime | None
    not_after_at: datetime | None
    priority: int
    content: str
    revision: int
    approved: bool
    mode: str
    quiet: str | None
    prepared: str | None
    parts_sent: str  # JSON: remote ids of a thread's parts
    unready_at: datetime | None
    attempts: int
    failures: int
    crashes: int
    retry_limit: int
    lease: int
    leased_until: datetime | None
    sent_at: datetime | None
    url: str | None

    @property
    def key(self) -> Key:
        """Name it among all workspaces."""
        return self.workspace_id, self.id

    @property
    def fence(self) -> tuple[str, str, int]:
        """Name this claim of it among all others."""
        return self.workspace_id, self.id, self.lease

    @property
    def account_key(self) -> Key:
        """Name its account among all workspaces."""
        return self.workspace_id, self.account_id

    @property
    def lane_key(self) -> Key:
        """Name its lane among all workspaces."""
        return self.workspace_id, self.lane_id

    @property
    def scope(self) -> str:
        """Name the campaign or sequence whose limits hold for it too; else its lane."""
        return self.lane_id.partition("@")[0]

    @property
    def shares_lane(self) -> bool:
        """Say whether other accounts wait in its lane."""
        own = account_scope(self.account_id)
        return self.lane_id not in (own, lane_of(self.scope, self.account_id))

    @property
    def planner(self) -> str | None:
        """Name the planner that counts and plans it; None: it is a post's, or stands for itself."""
        if self.campaign_id is not None:
            return "campaign"
        return "sequence" if self.sequence_id is not None else None

    @property
    def is_leased(self) -> bool:
        """Say whether a worker holds it."""
        return self.leased_until is not None

    @property
    def sent_parts(self) -> list[str | None]:
        """The remote ids of a thread's parts that are out."""
        return msgspec.json.decode(self.parts_sent)


COLUMNS = columns(Delivery, "delivery")


class Lane(Struct, frozen=True):
    """A row of `lane`: where deliveries wait, and what keeps them waiting."""

    workspace_id: str
    id: str
    account_id: str | None
    paused: bool
    paused_until: datetime | None
    pause_reason: str | None
    parked_until: datetime | None
    park_reason: str | None
    parked_by: str | None
    held_at: datetime | None
    opened_at: datetime | None
    unresumed_until: datetime | None
    epoch: int


class Workspace(Struct, frozen=True):
    """A row of `workspace` with the installation's own: whether anything of it may leave."""

    id: str
    stopped_at: datetime | None
    stop_reason: str | None
    max_per_day: int | None
    recipient_cap: int | None
    recipient_cap_days: int | None
    held_at: datetime | None  # of the whole installation
    hold_reason: str | None
    beat_at: datetime | None  # the last sign of life of any worker


class ProviderRate(Struct, frozen=True):
    """A row of `provider_rate`: how often all accounts together may call a network."""

    provider: str
    amount: int
    per_seconds: int
    free_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkWait:
    """Nothing of the scope before `until`: a network asked for it."""

    scope: Key
    until: datetime
    reason: str
    by: str = "network"


class Attempt(Struct, frozen=True):
    """A row of `attempt`: one irreversible call, its intent and what is known of it."""

    workspace_id: str
    id: str
    delivery_id: str
    number: int
    part: int
    lease: int
    key: str
    began_at: datetime
    deadline_at: datetime
    outcome: str | None
    remote_id: str | None
    url: str | None
    repeated_until: datetime | None


class ClaimedDelivery(Struct, frozen=True):
    """A delivery in a worker's hands, with the account that sends it: what the claim saw."""

    delivery: Delivery
    account: Account
    epoch: int | None = (
        None  # of its lane when it was claimed; None: it is looked into, not claimed
    )
    claimed_at: datetime | None = None
    problem: str | None = None  # why its content cannot be made

    @property
    def workspace_id(self) -> str:
        """Name its workspace."""
        return self.delivery.workspace_id

    @property
    def id(self) -> str:
        """Name the delivery."""
        return self.delivery.id

    @property
    def lease(self) -> int:
        """The number that its writes are fenced by."""
        return self.delivery.lease

    def sending(self, *, begun: bool) -> Delivery:
        """Return the delivery as it is once its call has begun."""
        return structs.replace(self.delivery, state=State.SENDING) if begun else self.delivery

    @property
    def fence(self) -> tuple[str, str, int]:
        """Name this claim among all others."""
        return self.delivery.fence


def account_scope(account_id: str) -> str:
    """Return the name of an account's own lane, which is the scope of its limits too."""
    return f"account:{account_id}"


def lane_of(scope: str, account_id: str) -> str:
    """Return the name of the lane in which a campaign's or sequence's deliveries by one account wait."""
    return f"{scope}@{account_id}"


def locks_of(deliveries: Iterable[Delivery]) -> list[str]:
    """Name what a batch decides about: the accounts, and the scopes that several accounts share."""
    names: set[str] = set()
    for each in deliveries:
        names.add(f"account:{each.workspace_id}:{each.account_id}")
        if each.scope != account_scope(each.account_id):
            names.add(f"lane:{each.workspace_id}:{each.scope}")
    return sorted(names)
