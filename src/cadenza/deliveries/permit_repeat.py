"""Lets an unconfirmed send be looked into by making its call again, under the key that the network knows it by.

What never left leaves with such a look, so it waits like any call: nothing goes while all sending is held, the
workspace stopped, the account paused, parked or unable to send, outside its hours, within a gap or against a
rate, or when the delivery is no longer wanted. Read under the account's lock, right before the call. Where other
calls are too near, the repeat books its place behind them and theirs come after it, so a busy account does not
keep it waiting for ever. The attempt keeps its place in every budget that counts, so none is asked twice.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from cadenza.core.budgets import Allowed, MinGap, Rate, allows
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import gates
from cadenza.deliveries.facts import read_facts
from cadenza.deliveries.gates import End, Facts, Wait
from cadenza.deliveries.permit import LATEST, PROVIDER_RATE, SEND_TIMEOUT, write_buckets
from cadenza.deliveries.read_budgets import rule_of
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.reconcile import Held, UnconfirmedAttempt, look_again
from cadenza.sql.tx import Tx

# Gates, in their order. The others were passed with the attempt: it is one of its day and its budgets.
ASKED = (
    *("installation", "suppression", "recipient", "workspace", "account"),
    *(gates.NETWORK, "hours", gates.RECIPIENT_HOURS, PROVIDER_RATE),
)
A_MINUTE = timedelta(minutes=1)  # between two looks at what only a person can change
USABLE = timedelta(seconds=30)  # from when its place begins; it may be looked at later than that
AT_MOST = timedelta(minutes=5)  # whatever holds it may end sooner than it said


def permit_repeat(
    tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt, *, start: datetime | None = None
) -> datetime | Held:
    """Return the instant at which it was allowed; what holds it is written with the delivery.

    `start` is one of the provider's app-wide rate, in the worker's hands.
    """
    key = (unconfirmed.ticket.workspace_id, unconfirmed.ticket.id)
    leased = {key: start is not None and now <= start + LATEST}
    facts = read_facts(tx, now, [key], leased=leased, hold=True).get(key)
    if facts is None or not _still_unconfirmed(facts, unconfirmed):
        return Held("it is no doubt any more")
    gate, wait = _refusal(facts) or ("", None)
    if wait is None:
        gate, wait = "budgets", _too_near(tx, facts, unconfirmed)
    if wait is None:
        return now if _write_intent(tx, now, unconfirmed) else Held("it is no doubt any more")
    look_again(tx, now, unconfirmed, min(wait.until or now + A_MINUTE, now + AT_MOST), wait.reason)
    return Held(wait.message, gate)


def _write_intent(tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt) -> bool:
    """Until it has ended nobody may take silence for absence; say whether nothing is known meanwhile."""
    written = tx.run(
        """
        UPDATE attempt SET repeated_until = :until, repeat_at = NULL
        WHERE workspace_id = :workspace_id AND id = :id AND (outcome IS NULL OR outcome = 'Unconfirmed')
        """,
        until=now + SEND_TIMEOUT,
        workspace_id=unconfirmed.ticket.workspace_id,
        id=unconfirmed.attempt.id,
    )
    return written == 1


def _still_unconfirmed(facts: Facts, unconfirmed: UnconfirmedAttempt) -> bool:
    row = facts.delivery
    return row.state is State.UNCONFIRMED and row.lease == unconfirmed.ticket.lease


def _refusal(facts: Facts) -> tuple[str, Wait] | None:
    """Say what stands in the way of a call, whatever calls were made before."""
    row, lane, now = facts.delivery, facts.lane, facts.now
    for name in ASKED:
        match gates.GATES[name](facts):
            case Wait() as wait:
                return name, wait
            case End(reason=reason):
                return name, Wait(reason, None)
            case _:
                pass
    if lane.paused:
        return "lane", Wait(gates.paused(lane), lane.paused_until)
    # A park that a gate asked for is about the delivery that it refused, not about this one.
    parked = lane.parked_until is not None and lane.parked_until > now
    if parked and (lane.parked_by == gates.NETWORK or lane.parked_by not in gates.GATES):
        return "lane", Wait(gates.parked(lane), lane.parked_until)
    if not row.approved:
        return "approval", Wait(Reason.of(Code.NOT_APPROVED), None)
    if row.not_after_at is not None and now > row.not_after_at:
        return "approval", Wait(Reason.of(Code.LAST_TIME_PASSED), None)
    return None


def _spacing(facts: Facts) -> list[MinGap | Rate]:
    """Return the budgets that keep calls apart: a repeat is one more call for them."""
    return [budget for budget in facts.budgets if isinstance(budget, MinGap | Rate)]


def _too_near(tx: Tx, facts: Facts, unconfirmed: UnconfirmedAttempt) -> Wait | None:
    """Say until when calls before it keep it waiting; None: it may go, and those after it wait for it."""
    spacing, now = _spacing(facts), facts.now
    booked: datetime | None = tx.value(
        "SELECT repeat_at FROM attempt WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=unconfirmed.ticket.workspace_id,
        id=unconfirmed.attempt.id,
    )
    if booked is not None and _is_kept(booked, spacing):
        if now < booked:
            return Wait(Reason.of(Code.TURN_AFTER_OTHERS), booked)
        if now <= booked + USABLE:
            return None
    requested = allows(now, spacing)
    if isinstance(requested, Allowed):
        _take(tx, facts, spacing, SEND_TIMEOUT, now)
        return None
    if requested.next_at is not None:
        _book(tx, facts, unconfirmed, spacing, requested.next_at)
    return Wait(gates.over_limit(requested), requested.next_at)


def _is_kept(booked: datetime, spacing: Sequence[MinGap | Rate]) -> bool:
    """Say whether every budget still keeps others off a booked place: a new limit may have freed them."""
    return all(
        (free := _free(budget)) is not None
        and free >= (_free(_after(budget, USABLE + SEND_TIMEOUT, booked)) or free)
        for budget in spacing
    )


def _book(
    tx: Tx,
    facts: Facts,
    unconfirmed: UnconfirmedAttempt,
    spacing: Sequence[MinGap | Rate],
    at: datetime,
) -> None:
    """Take the first place that is free, for a while: the next look comes some seconds after it begins."""
    _take(tx, facts, spacing, USABLE + SEND_TIMEOUT, at)
    tx.run(
        "UPDATE attempt SET repeat_at = :at WHERE workspace_id = :workspace_id AND id = :id",
        at=at,
        workspace_id=unconfirmed.ticket.workspace_id,
        id=unconfirmed.attempt.id,
    )


def _take(
    tx: Tx, facts: Facts, spacing: Sequence[MinGap | Rate], lasts: timedelta, at: datetime
) -> None:
    """Let later calls wait for one that begins at this instant and has ended after so long."""
    after = [_after(budget, lasts, at) for budget in spacing]
    write_buckets(tx, {rule_of(each, facts.delivery): (0, _free(each)) for each in after})


def _after(budget: MinGap | Rate, lasts: timedelta, at: datetime) -> MinGap | Rate:
    """Return a budget as such a call leaves it; a gap counts from its end, a rate from its begin."""
    match budget:
        case MinGap(gap=gap):
            return replace(budget, free_from=at + lasts + gap)
        case Rate(every=every):
            return replace(budget, due=at + lasts - SEND_TIMEOUT + every)


def _free(budget: MinGap | Rate) -> datetime | None:
    return budget.free_from if isinstance(budget, MinGap) else budget.due
