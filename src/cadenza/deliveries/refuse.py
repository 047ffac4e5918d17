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
from cadenza.deliveries.gates import (
    MAX_PER_DAY,
    NETWORK,
    QUIET,
    RECIPIENT_CAP,
    RECIPIENT_HOURS,
    End,
    Facts,
    Wait,
)
from cadenza.deliveries.model import ClaimedDelivery, account_scope
from cadenza.deliveries.planners import Refused
from cadenza.deliveries.rate_limit_waits import rests_alone
from cadenza.deliveries.read_budgets import rule_of
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import Changes, Move, move_held, put_off_quiet
from cadenza.sql.tx import Tx

A_CHUNK = 5_000  # deliveries that one statement puts off
PERSON = timedelta(minutes=5)  # how long a lane rests when only a person can open the gate
OF_THE_ACCOUNT = frozenset({"account", "hours", MAX_PER_DAY, "budgets"})
OF_THE_RECIPIENT = frozenset({RECIPIENT_CAP, QUIET, RECIPIENT_HOURS})
REPLANNED = OF_THE_ACCOUNT | {RECIPIENT_HOURS}


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
        by_scope = answer.reason.code is Code.LIMIT_REACHED and _of_scope(answer.reason, facts)
        alone = gate in OF_THE_RECIPIENT or (shared and gate in OF_THE_ACCOUNT and not by_scope)
        if gate == NETWORK and facts.wait is not None:
            alone = rests_alone(facts.wait, facts.delivery)
        return cls(ticket, gate, answer, until, alone, by_scope, between)


def _of_scope(over: Reason, facts: Facts) -> bool:
    """Say whether a limit of its campaign or sequence is reached, not one of the account."""
    budget = next(each for each in facts.budgets if each.key == over.params["limit"])
    own = account_scope(facts.delivery.account_id)
    return own != rule_of(budget, facts.delivery).scope == facts.delivery.scope


def refuse(tx: Tx, now: datetime, refused: Sequence[DeliveryRefusal]) -> None:
    """Write refusals."""
    if not refused:
        return
    refused = _ask_planners(tx, now, refused)
    _end(tx, now, [one for one in refused if isinstance(one.answer, End)])
    _wait(tx, now, [one for one in refused if isinstance(one.answer, Wait)])
    _let_sleep(tx, [one for one in refused if one.gate == QUIET])
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


def _let_sleep(tx: Tx, refused: Sequence[DeliveryRefusal]) -> None:
    """Put off who else of the lane is left alone by the same clock: they are not claimed only to be refused."""
    asleep = {
        (*one.ticket.delivery.lane_key, one.ticket.delivery.quiet or ""): one.until
        for one in refused
    }
    for (workspace_id, lane_id, quiet), until in sorted(asleep.items()):
        put_off_quiet(tx, (workspace_id, lane_id), quiet, until, most=A_CHUNK)


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
            if isinstance(one.answer, Wait) and one.gate in REPLANNED
        ],
    )
    return [
        replace(one, until=moved[key], alone=True)
        if (key := one.ticket.delivery.key) in moved
        else one
        for one in refused
    ]


def _end(tx: Tx, now: datetime, ended: Sequence[DeliveryRefusal]) -> None:
    ends = [(one.ticket.delivery, one.answer) for one in ended if isinstance(one.answer, End)]
    move_held(tx, now, [Move(each, end.state, Changes(reason=end.reason)) for each, end in ends])
    announce(tx, now, [DeliveryEvent.of(each, end.state, end.reason) for each, end in ends])


def _wait(tx: Tx, now: datetime, waiting: Sequence[DeliveryRefusal]) -> None:
    move_held(
        tx,
        now,
        [
            Move(
                one.ticket.sending(begun=one.between),
                State.SCHEDULED,
                Changes(
                    reason=one.answer.reason,
                    unburnt=1 if one.between else 0,
                    put_off_until=one.until if one.alone and one.until > now else None,
                    deferred=1,
                ),
            )
            for one in waiting
        ],
    )
