"""Writes what a gate refused: the delivery leaves the worker's hands, and the reason is kept.

What ends, ends with the gate's state. What waits goes back, and its lane rests until it can go, so that
nothing of it is looked at before; where several accounts share the lane and only this one has to wait, the
delivery alone is put off. None uses up a try.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import claim, lanes, planners
from cadenza.deliveries.announce import DeliveryEvent, announce
from cadenza.deliveries.gates import MAX_PER_DAY, NETWORK, RECIPIENT_CAP, End, Facts, Wait
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.planners import Refused, Transition
from cadenza.deliveries.rate_limit_waits import rests_alone
from cadenza.sql.tx import Tx

PERSON = timedelta(minutes=5)  # how long a lane rests when only a person can open the gate
OF_THE_ACCOUNT = frozenset({"account", "hours", MAX_PER_DAY, "budgets"})


@dataclass(frozen=True, slots=True)
class DeliveryRefusal:
    """A gate's no to one delivery."""

    ticket: ClaimedDelivery
    gate: str
    answer: End | Wait
    until: datetime
    alone: bool  # the others of its lane may go on
    by_scope: bool  # a limit of its campaign or sequence: by no account any of it may go
    between: bool  # parts of a thread: the try that its first part began is not used up

    @classmethod
    def at(
        cls,
        now: datetime,
        ticket: ClaimedDelivery,
        facts: Facts,
        gate: str,
        answer: End | Wait,
        *,
        between: bool = False,
    ) -> Self:
        """Put a gate's answer down."""
        until = (isinstance(answer, Wait) and answer.until) or now + PERSON
        shared = facts.lane.account_id is None
        by_scope = answer.message.startswith(f"{facts.delivery.scope} ")
        alone = gate == RECIPIENT_CAP or (shared and gate in OF_THE_ACCOUNT and not by_scope)
        if gate == NETWORK and facts.wait is not None:
            alone = rests_alone(facts.wait, facts.delivery)
        return cls(ticket, gate, answer, until, alone, by_scope, between)


def refuse(tx: Tx, now: datetime, refused: Sequence[DeliveryRefusal]) -> None:
    """Write refusals."""
    if not refused:
        return
    refused = _ask_planners(tx, now, refused)
    _end(tx, now, [one for one in refused if isinstance(one.answer, End)])
    _wait(tx, now, [one for one in refused if isinstance(one.answer, Wait)])
    claim.free_lane_room(tx, [one.ticket.delivery for one in refused])
    rests = [
        one for one in refused if isinstance(one.answer, Wait) and not one.alone and one.until > now
    ]
    lanes.park_all(tx, now, [_park(one) for one in rests if not one.by_scope])
    lanes.park_scopes(tx, now, [_park(one) for one in rests if one.by_scope])


def _park(one: DeliveryRefusal) -> lanes.Park:
    delivery = one.ticket.delivery
    name = delivery.scope if one.by_scope else delivery.lane_id
    return lanes.Park(delivery.workspace_id, name, one.until, one.answer.message, one.gate)


def _ask_planners(
    tx: Tx, now: datetime, refused: Sequence[DeliveryRefusal]
) -> list[DeliveryRefusal]:
    """Let planners give other times to what their limits sent back; the rest of the lane goes on."""
    moved = planners.replan(
        tx,
        now,
        [
            Refused(one.ticket.delivery, one.gate, one.until)
            for one in refused
            if isinstance(one.answer, Wait) and one.gate in OF_THE_ACCOUNT
        ],
    )
    return [
        replace(one, until=moved[key], alone=True)
        if (key := one.ticket.delivery.key) in moved
        else one
        for one in refused
    ]


def _end(tx: Tx, now: datetime, ended: Sequence[DeliveryRefusal]) -> None:
    ends = [(one.ticket, one.answer) for one in ended if isinstance(one.answer, End)]
    if not ends:
        return
    tx.run(
        """
        UPDATE delivery SET state = new.becomes, reason = new.why, leased_until = NULL, worker = NULL,
            failed_at = new.fails_at, ended_at = new.ends_at
        FROM TABLE(:new) AS new (
            workspace_id text, id text, held bigint, becomes text, why text, fails_at timestamptz,
            ends_at timestamptz
        )
        WHERE delivery.workspace_id = new.workspace_id AND delivery.id = new.id AND lease = held
        """,
        new=[
            (
                ticket.workspace_id,
                ticket.id,
                ticket.lease,
                end.state.value,
                end.message,
                now if end.state is State.FAILED else None,
                None if end.state is State.FAILED else now,
            )
            for ticket, end in ends
        ],
    )
    announce(
        tx,
        now,
        [DeliveryEvent.of(ticket.delivery, end.state, end.message) for ticket, end in ends],
    )
    planners.count(tx, now, [Transition(ticket.delivery, end.state) for ticket, end in ends])


def _wait(tx: Tx, now: datetime, waiting: Sequence[DeliveryRefusal]) -> None:
    if not waiting:
        return
    tx.run(
        """
        UPDATE delivery SET state = 'scheduled', leased_until = NULL, worker = NULL,
            deferrals = deferrals + 1, reason = new.why, attempts = attempts - new.unburnt,
            was_due_at = CASE WHEN new.put_off_until IS NULL THEN was_due_at ELSE due_at END,
            due_at = CASE WHEN new.put_off_until IS NULL THEN due_at ELSE new.put_off_until END
        FROM TABLE(:new) AS new (
            workspace_id text, id text, held bigint, why text, unburnt integer, put_off_until timestamptz
        )
        WHERE delivery.workspace_id = new.workspace_id AND delivery.id = new.id AND lease = held
        """,
        new=[
            (
                one.ticket.workspace_id,
                one.ticket.id,
                one.ticket.lease,
                one.answer.message,
                1 if one.between else 0,
                one.until if one.alone and one.until > now else None,
            )
            for one in waiting
        ],
    )
