"""The permit: one short transaction right before the one irreversible call.

Under the account's lock it compares state, lease, revision and epoch, asks every gate, takes from every
budget, and writes the attempt's intent with a deadline, before a byte leaves. Without a permit the call
was never made, so a crash re-claims freely; with one, only evidence or a person may send again. Permits
of independent accounts are batched: one transaction, locks in sorted order, a statement for each table;
several of one account see what the ones before them took.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TypeAlias

from cadenza.accounts.hours import OUTREACH
from cadenza.core.budgets import Allowed, Budget, Counted, MinGap, Rate, Rolling, allows
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import model
from cadenza.deliveries.facts import read_facts
from cadenza.deliveries.gates import (
    A_BLOCK,
    End,
    Facts,
    Wait,
    first_refusal,
    over_limit,
    provider_free,
    refusal_between,
)
from cadenza.deliveries.model import Attempt, ClaimedDelivery, Delivery
from cadenza.deliveries.read_budgets import Rule, rule_of
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.deliveries.refuse import DeliveryRefusal, refuse
from cadenza.deliveries.transition import Changes, Move, begin_calls
from cadenza.providers.base import QUICKLY
from cadenza.sql.tx import Tx
from cadenza.sql.values import Key, select

SEND_TIMEOUT = timedelta(seconds=30)
PROVIDER_RATE = "provider rate"  # the gate's name
LATEST = 2 * A_BLOCK  # after its instant, a start of the provider's rate is lost
GRACE = SEND_TIMEOUT - QUICKLY  # between the end of a call's time and its deadline


@dataclass(frozen=True, slots=True)
class PermitRequest:
    """A worker stands before the call: this delivery, this part, this content."""

    ticket: ClaimedDelivery
    attempt_id: str
    part: int = 0
    problems: tuple[str, ...] = ()
    first: bool = True  # of this claim; a thread's next parts follow while it is `sending`
    start: datetime | None = None  # of the provider's app-wide rate, in the worker's hands
    takes: timedelta = QUICKLY  # how long the call may last; more where files travel in it


@dataclass(frozen=True, slots=True)
class Permitted:
    """Go: the intent is written. The call must have ended by the deadline."""

    attempt_id: str
    key: str
    number: int
    began_at: datetime
    deadline_at: datetime


@dataclass(frozen=True, slots=True)
class Refusal:
    """Do not call; what was to be written about it has been written."""

    gate: str
    message: str
    until: datetime | None
    state: State


@dataclass(frozen=True, slots=True)
class Stale:
    """The lease is another's, or the content changed since the claim: nothing was written."""


Answer = Permitted | Refusal | Stale


Taken: TypeAlias = dict[Rule, Budget]  # what budgets look like after the wishes before


@dataclass(frozen=True, slots=True)
class _Granted:
    """A request that every gate let pass, and what it takes."""

    request: PermitRequest
    facts: Facts
    permit: Permitted
    budgets: tuple[Budget, ...]
    content_hash: str


def locks_of(requests: Sequence[PermitRequest]) -> list[str]:
    """Name the accounts and shared lanes that a batch decides about."""
    return model.locks_of(request.ticket.delivery for request in requests)


def permit(tx: Tx, now: datetime, requests: Sequence[PermitRequest]) -> list[Answer]:
    """Answer each request; several of one account see what the ones before them took."""
    answers: dict[int, Answer] = {}
    left = list(range(len(requests)))
    while left:  # more than once only if one delivery is asked for twice
        keys = {_key(requests[n]): n for n in reversed(left)}
        turn = sorted(keys.values())
        given = _permit_each(tx, now, [requests[n] for n in turn])
        answers |= dict(zip(turn, given, strict=True))
        left = [n for n in left if n not in answers]
    return [answers[n] for n in range(len(requests))]


def _key(request: PermitRequest) -> Key:
    return request.ticket.workspace_id, request.ticket.id


def _permit_each(tx: Tx, now: datetime, requests: Sequence[PermitRequest]) -> list[Answer]:
    """Read once for all, decide one after the other, write once for all."""
    facts = read_facts(
        tx,
        now,
        [_key(request) for request in requests],
        epochs={_key(request): request.ticket.epoch for request in requests},
        problems={_key(request): request.problems for request in requests},
        leased={_key(request): _holds_start(now, request) for request in requests},
        hold=True,
    )
    given = _given_before(tx, requests)
    taken: Taken = {}
    decided = [
        given.get(_attempt(request)) or _decide(now, request, facts.get(_key(request)), taken)
        for request in requests
    ]
    refuse(tx, now, [one for one in decided if isinstance(one, DeliveryRefusal)])
    won = _freeze(tx, now, [one for one in decided if isinstance(one, _Granted)])
    _write_buckets(tx, won)
    _write_intents(tx, now, won)
    ours = {one.permit.attempt_id for one in won}
    return [_answer(one, ours) for one in decided]


def _answer(decided: "Permitted | Stale | DeliveryRefusal | _Granted", ours: set[str]) -> Answer:
    match decided:
        case _Granted(permit=permit):
            return permit if permit.attempt_id in ours else Stale()
        case DeliveryRefusal(gate=gate, answer=End(state) as end):
            return Refusal(gate, end.message, None, state)
        case DeliveryRefusal(gate=gate, answer=answer, until=until):
            return Refusal(gate, answer.message, until, State.SCHEDULED)
        case Permitted() | Stale():
            return decided


def _decide(
    now: datetime, request: PermitRequest, facts: Facts | None, taken: Taken
) -> "Stale | DeliveryRefusal | _Granted":
    if facts is None or not _still_ours(facts, request):
        return Stale()
    budgets = tuple(taken.get(rule_of(b, facts.delivery), b) for b in facts.budgets)
    facts = replace(facts, budgets=budgets)
    refusal = first_refusal(facts) if request.first else refusal_between(facts)
    if refusal is not None:
        return DeliveryRefusal.at(now, request.ticket, facts, *refusal, between=not request.first)
    if isinstance(rate := provider_free(facts), Wait):  # for a thread's later parts as well
        return DeliveryRefusal.at(now, request.ticket, facts, PROVIDER_RATE, rate, between=True)
    allowed = allows(now, budgets)
    if not isinstance(allowed, Allowed):  # a later part of a thread: the budgets may have filled
        waits = Wait(over_limit(allowed), allowed.next_at)
        return DeliveryRefusal.at(now, request.ticket, facts, "budgets", waits, between=True)
    granted = _grant(now, request, facts, allowed.budgets)
    taken |= {rule_of(b, facts.delivery): b for b in granted.budgets}
    return granted


def _attempt(request: PermitRequest) -> Key:
    return request.ticket.workspace_id, request.attempt_id


def _given_before(tx: Tx, requests: Sequence[PermitRequest]) -> Mapping[Key, Permitted]:
    """Answer again when the first answer was lost: the same attempt, the same deadline."""
    found = select(tx, Attempt, "attempt", [_attempt(request) for request in requests])
    return {
        key: Permitted(one.id, one.key, one.number, one.began_at, one.deadline_at)
        for key, one in found.items()
        if one.outcome is None
    }


def _holds_start(now: datetime, request: PermitRequest) -> bool:
    """Say whether the request has a start that is not too old: used late, starts would come in a heap."""
    return request.start is not None and now <= request.start + LATEST


def _still_ours(facts: Facts, request: PermitRequest) -> bool:
    row, ticket = facts.delivery, request.ticket
    expected = State.SCHEDULED if request.first else State.SENDING
    return (
        row.lease == ticket.lease
        and row.is_leased
        and row.state is expected
        and row.revision == ticket.delivery.revision
    )


def _grant(
    now: datetime, request: PermitRequest, facts: Facts, budgets: Sequence[Budget]
) -> _Granted:
    row = facts.delivery
    # A try of the delivery: a thread's next parts belong to the one that its first part began.
    number = row.attempts + (1 if request.first else 0)
    # The same delivery, part and content keep one key, so that a repetition is known as one.
    fingerprint = sha256(row.content.encode()).hexdigest()
    key = sha256(f"{row.workspace_id}/{row.id}/{request.part}/{fingerprint}".encode()).hexdigest()[
        :32
    ]
    deadline = now + request.takes + GRACE
    permitted = Permitted(request.attempt_id, key, number, now, deadline)
    after = tuple(_armed(budget, busy_until=deadline) for budget in budgets)
    return _Granted(request, facts, permitted, after, fingerprint)


def _armed(budget: Budget, *, busy_until: datetime) -> Budget:
    """A gap stays shut while the call runs.

    If the worker dies, nobody says when the call ended: by its deadline at the latest.
    """
    if isinstance(budget, MinGap):
        return replace(budget, free_from=busy_until + budget.gap)
    return budget


def _freeze(tx: Tx, now: datetime, granted: Sequence[_Granted]) -> list[_Granted]:
    """Take deliveries as they were read; an edit, a cancel or a void in between wins, and nothing is sent."""
    begun = begin_calls(
        tx,
        now,
        [
            Move(one.facts.delivery, State.SENDING, Changes(attempt=one.permit.number, reason=None))
            for one in granted
        ],
    )
    won = {each.delivery.key for each in begun}
    return [one for one in granted if _key(one.request) in won]


def _write_intents(tx: Tx, now: datetime, granted: Sequence[_Granted]) -> None:
    """Write each attempt's intent and its row of the ledger."""
    if not granted:
        return
    new = [
        {
            "workspace_id": row.workspace_id,
            "id": one.request.attempt_id,
            "delivery_id": row.id,
            "number": one.permit.number,
            "part": one.request.part,
            "lease": row.lease,
            "key": one.permit.key,
            "content_hash": one.content_hash,
            "deadline_at": one.permit.deadline_at,
            "account_id": row.account_id,
            "action": row.action.value,
            "mode": row.mode,
            "campaign_id": row.campaign_id,
            "lane_id": row.scope,
            "recipient": _contacted(row),
        }
        for one in granted
        for row in [one.facts.delivery]
    ]
    tx.run(
        """
        INSERT INTO attempt (
            workspace_id, id, delivery_id, number, part, lease, key, content_hash, began_at, deadline_at
        ) SELECT workspace_id, id, delivery_id, number, part, lease, key, content_hash, :now, deadline_at
        FROM TABLE(:new) AS new (
            workspace_id text, id text, delivery_id text, number integer, part integer, lease bigint,
            key text, content_hash text, deadline_at timestamptz
        )
        """,
        new=new,
        now=now,
    )
    tx.run(
        """
        INSERT INTO activity (
            workspace_id, id, account_id, action, mode, delivery_id, attempt_id, campaign_id, lane_id,
            recipient, state, counts, reserved_at
        ) SELECT workspace_id, id, account_id, action, mode, delivery_id, id, campaign_id, lane_id,
            recipient, 'reserved', true, :now
        FROM TABLE(:new) AS new (
            workspace_id text, id text, account_id text, action text, mode text, delivery_id text,
            campaign_id text, lane_id text, recipient text
        )
        """,
        new=new,
        now=now,
    )


def _contacted(delivery: Delivery) -> str | None:
    """Name whom outreach writes to, for the ledger; a post's channel is nobody's mailbox."""
    if delivery.recipient is None or delivery.action not in OUTREACH:
        return None
    return fold_recipient(delivery.recipient)


def _write_buckets(tx: Tx, granted: Sequence[_Granted]) -> None:
    """Write what the budgets look like after the taking."""
    rows: dict[Rule, tuple[int, datetime | None]] = {}
    for one in granted:
        for budget in one.budgets:
            rule = rule_of(budget, one.facts.delivery)
            match budget:
                case Counted():
                    rows[rule] = (rows.get(rule, (0, None))[0] + 1, None)
                case Rate(due=at) | MinGap(free_from=at):
                    rows[rule] = (0, at)
                case Rolling():
                    pass  # counted from the ledger itself
    write_buckets(tx, rows)


def write_buckets(tx: Tx, rows: Mapping[Rule, tuple[int, datetime | None]]) -> None:
    """Write how many each rule's budget took more, and from when on it is free."""
    if not rows:
        return
    tx.run(
        """
        INSERT INTO bucket (workspace_id, scope, action, mode, kind, period, taken, free_at)
        SELECT workspace_id, scope, action, mode, kind, period, taken, free_at
        FROM TABLE(:new) AS new (
            workspace_id text, scope text, action text, mode text, kind text, period text,
            taken integer, free_at timestamptz
        ) WHERE true
        ON CONFLICT (workspace_id, scope, action, mode, kind, period)
        DO UPDATE SET taken = bucket.taken + excluded.taken, free_at = excluded.free_at
        """,
        new=sorted((*rule.row, *values) for rule, values in rows.items()),
    )
