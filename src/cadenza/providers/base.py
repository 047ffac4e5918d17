"""The protocol of a network adapter: small, repeatable where it can be, one irreversible call.

The delivery pipeline drives it: `validate` when content is saved and again before sending; `prepare` as often as
needed (uploads, containers; what it saved comes back as `state`); `publish` once per part, right after
a durable intent was written; `find_out` when no answer came; `finish` for what is only nice to have.
An adapter keeps nothing between calls and never retries by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from cadenza.core.channels import Channel
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.message import AccountRef, App, Message, Tokens
from cadenza.providers.outcome import Finding, Outcome, Sent


class Idempotency(StrEnum):
    """What keeps a repeated call from becoming a second post."""

    NATIVE = "native"  # an idempotency key, for a window
    SOME_SERVERS = "some_servers"  # a key, on servers that are known to keep it; others ignore it
    OWN_ID = "own_id"  # we choose the record's id: the same call again is the same record
    PER_CONTAINER = "per_container"  # what was prepared can be published once
    NONE = "none"


QUICKLY = timedelta(seconds=25)  # for an irreversible call that carries words alone
LONGEST = timedelta(minutes=5)
PACE = 250_000  # bytes a second that the slowest line is expected to carry


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a channel of a provider can do; the pipeline plans its unconfirmed sends by it."""

    idempotency: Idempotency
    window: timedelta | None = None  # of a native key
    findable: bool  # `find_out` can prove presence or absence
    repeats: bool = False  # `find_out` makes the call again: what never left leaves then
    threads: bool = False
    first_comment: bool = False
    fetches_media: bool = False  # needs a public address of the media
    needs_recipient: bool = False
    pace: int | None = (
        None  # bytes a second at least, where the irreversible call carries the files
    )

    def takes(self, message: Message) -> timedelta:
        """Say how long the irreversible call may take: longer by size if the files go with it."""
        if self.pace is None:
            return QUICKLY
        size = sum(item.size for item in message.media)
        return min(LONGEST, QUICKLY + timedelta(seconds=size / self.pace))


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a message that this channel will not take, and what to do about it."""

    code: str
    message: str
    field: str = "text"
    blocking: bool = True


@dataclass(frozen=True, slots=True)
class Prepared:
    """Preparation is complete; `state` is JSON and is kept before the irreversible call."""

    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StillPreparing:
    """Preparation got further: keep `state`, wait, and call `prepare` again with it. Burns nothing."""

    state: Mapping[str, Any]
    wait: timedelta = timedelta()
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptContext:
    """Everything one call may use. `key` is the attempt's idempotency key, the same for its repeats."""

    account: AccountRef
    tokens: Tokens
    app: App
    http: OutboundClient
    now: datetime
    message: Message
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])  # what `prepare` saved
    key: str = ""
    part: int = 0  # of a thread, from 0
    sent_parts: tuple[str, ...] = ()  # remote ids of the parts before
    began_at: datetime | None = None  # of the attempt that is looked for by `find_out`
    others: frozenset[str] = frozenset()  # posts that are other deliveries', so never this one


def use_of(provider: str) -> str:
    """Name the use of a network, for which the settings may vouch for hosts."""
    return f"providers.{provider}"


class Provider(Protocol):
    """A network, as the pipeline sees it."""

    @property
    def name(self) -> str: ...

    @property
    def channels(self) -> tuple[Channel, ...]: ...

    def capabilities(self, channel: Channel) -> Capabilities: ...

    def validate(self, message: Message, account: AccountRef) -> list[Problem]:
        """Say all that the network would refuse, by its own way of counting."""
        ...

    async def prepare(self, call: AttemptContext) -> Prepared | StillPreparing | Outcome:
        """Do what is invisible and may be repeated; go on from `call.state` where it left off."""
        ...

    async def publish(self, call: AttemptContext) -> Outcome:
        """Make the one irreversible call for one part."""
        ...

    async def find_out(self, call: AttemptContext) -> Finding:
        """Look whether the attempt's part is there."""
        ...

    async def finish(self, call: AttemptContext, sent: Sent) -> Sent:
        """Bring permalink, first comment and the like; its failure is never the delivery's."""
        ...

    async def refresh(self, call: AttemptContext) -> Tokens | Outcome:
        """Exchange the tokens for fresh ones; called by one process at a time per account."""
        ...
