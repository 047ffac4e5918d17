"""What a person may do to one delivery: cancel it, retry it, send it now, settle an unconfirmed send.

Each is one conditional update: it names the states that it moves from, and when the delivery has
moved on meanwhile the answer says where it stands now, and nothing is changed.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.accounts.model import read_accounts
from cadenza.core.rollup import TO_COME
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.gates import HURRY
from cadenza.deliveries.hand_over_slot import hand_over_slots
from cadenza.deliveries.model import ClaimedDelivery, Delivery
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.reconcile import (
    UnconfirmedAttempt,
    last_attempt,
    last_part,
    nothing_arrives_after,
    resolve,
    send_again,
)
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.transition import Changes, Move, end_waiting, move
from cadenza.providers.outcome import Found, Sent
from cadenza.sql.tx import Tx
from cadenza.sql.values import select


@dataclass(frozen=True, slots=True)
class ChangedDelivery:
    """Done; this is where it stands now."""

    state: State
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class NotNow:
    """It has moved on: nothing was changed, and this is where it stands."""

    state: State
    message: str


@dataclass(frozen=True, slots=True)
class NoSuchDelivery:
    """The workspace has no delivery of that id."""


@dataclass(frozen=True, slots=True)
class NeedsRemoteId:
    """A part of a thread is there, but the next ones follow it by its id: give that, or leave them unsent."""

    part: int  # as people count
    left: int


TRIED_SINCE = "it was tried again since you looked: look at the account again, then decide"
Answer = ChangedDelivery | NotNow | NoSuchDelivery


def cancel(tx: Tx, now: datetime, *, workspace_id: str, id: str, reason: str) -> Answer:
    """Cancel a delivery; one whose call is under way cannot be called back."""
    before = _row(tx, workspace_id, id)
    waits = before is not None and before.state in TO_COME and not before.is_leased
    why = Reason.of(Code.CANCELED, message=reason)
    moved = end_waiting(tx, now, [before] if before and waits else [], State.CANCELED, why)
    hand_over_slots(tx, [each.delivery for each in moved])
    return _answer(
        tx,
        workspace_id,
        id,
        len(moved),
        State.CANCELED,
        "a call that may be under way cannot be called back",
    )


def retry(tx: Tx, now: datetime, *, workspace_id: str, id: str) -> Answer:
    """Try what failed or was missed once more, with fresh attempts; its history stays."""
    before = _row(tx, workspace_id, id)
    ended = before is not None and before.state in (State.FAILED, State.MISSED) and before.approved
    again = Changes(due_at=now, slot_at=None, fresh=True)
    moved = move(tx, now, [Move(before, State.SCHEDULED, again)] if before and ended else [])
    return _answer(
        tx,
        workspace_id,
        id,
        len(moved),
        State.SCHEDULED,
        "only what failed or was missed can be retried",
    )


def publish_now(tx: Tx, now: datetime, *, workspace_id: str, id: str) -> Answer:
    """Make the same delivery due now, before others; it frees its slot. A second click changes nothing.

    It passes slot and hours; never a stop, a pause, approval, suppression or budgets: the permit asks.
    """
    before = _row(tx, workspace_id, id)
    waits = before is not None and before.state is State.SCHEDULED and not before.is_leased
    at_once = Changes(due_at=now, slot_at=None, priority=HURRY)
    moved = move(tx, now, [Move(before, State.SCHEDULED, at_once)] if before and waits else [])
    hand_over_slots(tx, [each.delivery for each in moved])
    row = _row(tx, workspace_id, id)
    if row is not None and not moved and row.state in (State.SCHEDULED, State.SENDING, State.SENT):
        return ChangedDelivery(row.state, "it is on its way already")
    return _answer(
        tx, workspace_id, id, len(moved), State.SCHEDULED, "only an approved delivery can be sent"
    )


def decide_unconfirmed(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    id: str,
    fence: int,
    is_there: bool,
    remote_id: str | None = None,
    rest: bool = True,
) -> Answer | NeedsRemoteId:
    """A person has looked: it is there, or it is not and is to be sent again.

    `fence` is the delivery's lease when they looked: what they saw says nothing of an attempt made since.
    That it is not there can be said once no byte of the call can still arrive. In the middle of a thread the unconfirmed send is about one part. With its id the rest follows; `rest=False` leaves
    the rest unsent.
    """
    row = _row(tx, workspace_id, id)
    if row is None:
        return NoSuchDelivery()
    attempt = last_attempt(tx, row)
    if row.state != State.UNCONFIRMED or attempt is None:
        return NotNow(row.state, "there is no doubt about it")
    if row.lease != fence:
        return NotNow(State.UNCONFIRMED, TRIED_SINCE)
    account = read_accounts(tx, [row.account_key])[row.account_key]
    unconfirmed = UnconfirmedAttempt(ClaimedDelivery(row, account), attempt)
    if not is_there:
        over = nothing_arrives_after(attempt)
        if now < over:
            message = f"the call may still arrive until {over:%H:%M:%S} UTC: look again after that"
            return NotNow(State.UNCONFIRMED, message)
        return ChangedDelivery(send_again(tx, now, unconfirmed))
    said = "a person says that it is there"
    first, last = attempt.part + 2, last_part(unconfirmed) + 1  # as people count
    if first > last:
        return _there(tx, now, unconfirmed, remote_id, said)
    left = f"parts {first} to {last}" if first < last else f"part {last}"
    if not rest:
        return _there(tx, now, unconfirmed, remote_id, f"{said}; {left} were not sent")
    if remote_id is None:
        return NeedsRemoteId(first - 1, last - first + 1)
    return ChangedDelivery(resolve(tx, now, unconfirmed, Found(remote_id)), f"{left} follow")


def _there(
    tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt, remote_id: str | None, note: str
) -> Answer:
    sent = Sent(remote_id, note=note)
    called_at = unconfirmed.attempt.began_at
    settle(tx, now, [Result(unconfirmed.ticket, sent, unconfirmed.attempt.id, called_at=called_at)])
    return ChangedDelivery(State.SENT)


def _row(tx: Tx, workspace_id: str, id_: str) -> Delivery | None:
    key = (workspace_id, id_)
    return select(tx, Delivery, "delivery", [key]).get(key)


def _answer(tx: Tx, workspace_id: str, id_: str, moved: int, state: State, message: str) -> Answer:
    row = _row(tx, workspace_id, id_)
    if row is None:
        return NoSuchDelivery()
    if not moved:
        return NotNow(row.state, f"it is {row.state}: {message}")
    lanes.refresh(tx, [row.lane_key])
    return ChangedDelivery(state)
