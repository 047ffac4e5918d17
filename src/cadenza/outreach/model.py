"""What a sequence is: its steps, its accounts, who is enrolled, and the answers that its operations give.

A sequence writes to each person step by step. A person's row says which step is next and how it stands; the times
themselves are deliveries, which only the pipeline sends.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from cadenza.core.channels import Channel
from cadenza.deliveries.model import Action
from cadenza.sql.tx import Row

JOB = "plan_sequence"
QUEUE = "product"
PLANNER = "sequence"
ACTIONS = {
    Channel.EMAIL: Action.EMAIL,
    Channel.LINKEDIN_MESSAGE: Action.MESSAGE,
    Channel.LINKEDIN_INVITATION: Action.CONNECTION_REQUEST,
    Channel.LINKEDIN_INMAIL: Action.INMAIL,
}


class SequenceState(StrEnum):
    """Whether it plans and sends."""

    DRAFT = "draft"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"


class Assignment(StrEnum):
    """How accounts are chosen for people."""

    ROUND_ROBIN = "round_robin"  # in turn; later additions go on with the turn
    BALANCED = "balanced"  # who has least to do for what may be done a day
    STICKY = "sticky"  # who wrote to this person before, else in turn


class ContactState(StrEnum):
    """How an enrolled person stands."""

    WAITING = "waiting"  # the next step has no time yet
    PLANNED = "planned"
    PAUSED = "paused"
    SNOOZED = "snoozed"
    FINISHED = "finished"
    STOPPED = "stopped"


class StopCause(StrEnum):
    """What ends a sequence for a person."""

    REPLY = "reply"
    BOUNCE = "bounce"
    ACCEPTED = "accepted"
    UNSUBSCRIBE = "unsubscribe"
    COMPLAINT = "complaint"
    BY_HAND = "by_hand"
    NOT_SENT = "not_sent"  # a step failed, was skipped or missed
    ENDED = "ended"  # the sequence itself


CHOICES = (StopCause.REPLY, StopCause.BOUNCE, StopCause.ACCEPTED)
USUAL_STOPS = (StopCause.REPLY, StopCause.BOUNCE)


class StepVariant(msgspec.Struct, frozen=True, kw_only=True):
    """A template version, and its share of the people."""

    template_version_id: str
    share: int = 1


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a sequence."""

    channel: Channel
    variants: tuple[StepVariant, ...]
    wait_days: int = 0
    only_if: str | None = None
    same_thread: bool = False

    @property
    def action(self) -> Action:
        """What limits count it by."""
        return ACTIONS[self.channel]


class ReadyMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was written for one person."""

    channel: Channel
    text: str
    subject: str = ""
    wait_days: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """A sequence with its steps and accounts."""

    workspace_id: str
    id: str
    name: str
    state: SequenceState
    state_reason: str | None
    assignment: Assignment
    turn: int
    shortest_gap: int
    longest_gap: int
    even: bool
    recipient_hours: bool
    stop_on: tuple[StopCause, ...]
    steps: tuple[Step, ...]
    account_labels: tuple[str, ...]  # where accounts are chosen by label: these join and leave
    account_ids: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrolled:
    """A person in a sequence."""

    workspace_id: str
    sequence_id: str
    contact_id: str
    position: int
    state: ContactState
    cause: str | None
    detail: str | None
    account_id: str | None
    next_step: int
    messages: tuple[ReadyMessage, ...]
    ready_at: datetime
    last_sent_at: datetime | None
    thread_id: str | None
    thread_subject: str | None
    accepted_at: datetime | None
    replied_at: datetime | None
    bounced_at: datetime | None
    added_at: datetime

    def step(self, sequence: Sequence) -> Step | None:
        """Return the next step; None: there is none left."""
        return step_of(sequence, self.messages, self.next_step)


@dataclass(frozen=True, slots=True)
class NoSuchSequence:
    """The workspace has no sequence of that id."""

    id: str


@dataclass(frozen=True, slots=True)
class NoSuchEnrolled:
    """That person is not in the sequence."""

    contact_id: str


@dataclass(frozen=True, slots=True)
class NameTaken:
    """Another sequence is called so."""

    name: str


@dataclass(frozen=True, slots=True)
class NotNow:
    """It is in another state: nothing was changed."""

    state: str
    message: str


@dataclass(frozen=True, slots=True)
class Unfit:
    """Something that was given does not fit: the field, a code, and what to do."""

    field: str
    code: str
    message: str


_messages = msgspec.json.Decoder(tuple[ReadyMessage, ...])
_variants = msgspec.json.Decoder(tuple[StepVariant, ...])
_labels = msgspec.json.Decoder(tuple[str, ...])
_stops = msgspec.json.Decoder(tuple[StopCause, ...])


def to_json(value: Any) -> str:
    """Write a column that holds JSON."""
    return msgspec.json.encode(value).decode()


def step_of(sequence: Sequence, messages: tuple[ReadyMessage, ...], number: int) -> Step | None:
    """Return a step by its number: ready-made messages are steps of their own."""
    if messages:
        if number >= len(messages):
            return None
        one = messages[number]
        return Step(channel=one.channel, variants=(), wait_days=one.wait_days)
    return sequence.steps[number] if number < len(sequence.steps) else None


def sequence_of(row: Row, steps: Iterable[Row], accounts: Iterable[Row]) -> Sequence:
    """Make a sequence of its rows."""
    return Sequence(
        workspace_id=row["workspace_id"],
        id=row["id"],
        name=row["name"],
        state=SequenceState(row["state"]),
        state_reason=row["state_reason"],
        assignment=Assignment(row["assignment"]),
        turn=row["turn"],
        shortest_gap=row["shortest_gap"],
        longest_gap=row["longest_gap"],
        even=bool(row["even"]),
        recipient_hours=bool(row["recipient_hours"]),
        stop_on=_stops.decode(row["stop_on"]),
        steps=tuple(
            Step(
                channel=Channel(step["channel"]),
                variants=_variants.decode(step["variants"]),
                wait_days=step["wait_days"],
                only_if=step["only_if"],
                same_thread=bool(step["same_thread"]),
            )
            for step in steps
        ),
        account_labels=_labels.decode(row["account_labels"]),
        account_ids=tuple(account["account_id"] for account in accounts),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
    )


def enrolled_of(row: Row) -> Enrolled:
    """Make an enrolled person of a row."""
    return Enrolled(
        workspace_id=row["workspace_id"],
        sequence_id=row["sequence_id"],
        contact_id=row["contact_id"],
        position=row["position"],
        state=ContactState(row["state"]),
        cause=row["cause"],
        detail=row["detail"],
        account_id=row["account_id"],
        next_step=row["next_step"],
        messages=() if row["messages"] is None else _messages.decode(row["messages"]),
        ready_at=row["ready_at"],
        last_sent_at=row["last_sent_at"],
        thread_id=row["thread_id"],
        thread_subject=row["thread_subject"],
        accepted_at=row["accepted_at"],
        replied_at=row["replied_at"],
        bounced_at=row["bounced_at"],
        added_at=row["added_at"],
    )


def sequence_lock(workspace_id: str, sequence_id: str) -> str:
    """Name what whoever changes a sequence or assigns its people holds."""
    return f"sequence:{workspace_id}:{sequence_id}"


def account_lock(workspace_id: str, account_id: str) -> str:
    """Name what whoever plans or permits for an account holds."""
    return f"account:{workspace_id}:{account_id}"


def scope_of(sequence_id: str) -> str:
    """Return the name of a sequence's scope: its lanes are paused by it."""
    return f"sequence:{sequence_id}"
