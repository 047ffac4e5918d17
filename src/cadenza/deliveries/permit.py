"""The permit: one short transaction right before the one irreversible call.

Under the account's lock it compares state, lease, revision and epoch, asks every gate, takes from every
budget, and writes the attempt's intent with a deadline, before a byte leaves. Without a permit the call
was never made, so a crash re-claims freely; with one, only evidence or a person may send again. Permits
of independent accounts are batched: one transaction, locks in sorted order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from cadenza.core.budgets import Allowed, Budget, Counted, MinGap, Rate, Rolling, allows
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import claim, lanes
from cadenza.deliveries.announce import announce
from cadenza.deliveries.facts import read_facts
from cadenza.deliveries.gates import End, Facts, Wait, first_refusal
from cadenza.deliveries.model import Ticket
from cadenza.providers.base import QUICKLY
from cadenza.sql.tx import Row, Tx

SEND_TIMEOUT = timedelta(seconds=30)
GRACE = SEND_TIMEOUT - QUICKLY  # between the end of a call's time and its deadline
PERSON = timedelta(minutes=5)  # how long a lane rests when only a person can open the gate


@dataclass(frozen=True, slots=True)
class Wish:
    """A worker stands before the call: this delivery, this part, this content."""

    ticket: Ticket
    attempt_id: str
    epoch: int
    part: int = 0
    problems: tuple[str, ...] = ()
    first: bool = True  # of this claim; a thread's next parts follow while it is `sending`
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
    says: str
    until: datetime | None
    state: State


@dataclass(frozen=True, slots=True)
class Stale:
    """The lease is another's, or the content changed since the claim: nothing was written."""


Answer = Permitted | Refusal | Stale


def locks_of(wishes: Sequence[Wish]) -> list[str]:
    """Name the accounts that a batch decides about."""
    return sorted({f"account:{w.ticket.workspace_id}:{w.ticket.row['account_id']}" for w in wishes})


def permit(tx: Tx, now: datetime, wishes: Sequence[Wish]) -> list[Answer]:
    """Answer each wish; several of one account see what the ones before them took."""
    return [_permit_one(tx, now, wish) for wish in wishes]


def _permit_one(tx: Tx, now: datetime, wish: Wish) -> Answer:
    ticket = wish.ticket
    key = (ticket.workspace_id, ticket.id)
    facts = read_facts(tx, now, [key], epochs={key: wish.epoch}, problems={key: wish.problems}).get(
        key
    )
    if facts is None:
        return Stale()
    if (given := _given_before(tx, wish)) is not None:
        return given
    if not _still_ours(facts, wish):
        return Stale()
    refusal = first_refusal(facts) if wish.first else None
    if refusal is not None:
        return _refuse(tx, now, ticket, *refusal)
    taken = allows(now, facts.budgets)
    if not isinstance(taken, Allowed):  # a later part of a thread: the budgets may have filled
        waits = Wait(taken.binding.reason, taken.next_at)
        return _refuse(tx, now, ticket, "budgets", waits)
    return _allow(tx, now, wish, facts, taken.budgets)


def _given_before(tx: Tx, wish: Wish) -> Permitted | None:
    """Answer again when the first answer was lost: the same attempt, the same deadline."""
    row = tx.one(
        "SELECT * FROM attempt WHERE workspace_id = :workspace_id AND id = :id AND outcome IS NULL",
        workspace_id=wish.ticket.workspace_id,
        id=wish.attempt_id,
    )
    if row is None:
        return None
    return Permitted(row["id"], row["key"], row["number"], row["began_at"], row["deadline_at"])


def _still_ours(facts: Facts, wish: Wish) -> bool:
    row, ticket = facts.delivery, wish.ticket
    expected = State.SCHEDULED if wish.first else State.SENDING
    return (
        row["lease"] == ticket.lease
        and row["leased_until"] is not None
        and row["state"] == expected
        and row["revision"] == ticket.row["revision"]
    )


def _allow(
    tx: Tx, now: datetime, wish: Wish, facts: Facts, budgets: Sequence[Budget]
) -> Permitted | Stale:
    row = facts.delivery
    number = row["attempts"] + 1
    if not _freeze(tx, row, number):
        return Stale()
    # The same delivery, part and content keep one key, so that a repetition is known as one.
    fingerprint = sha256(row["content"].encode()).hexdigest()
    key = sha256(
        f"{row['workspace_id']}/{row['id']}/{wish.part}/{fingerprint}".encode()
    ).hexdigest()[:32]
    deadline = now + wish.takes + GRACE
    common = {"workspace_id": row["workspace_id"], "attempt_id": wish.attempt_id, "now": now}
    for budget in budgets:
        _write_bucket(tx, facts, budget, busy_until=deadline)
    tx.run(
        """
        INSERT INTO attempt (
            workspace_id, id, delivery_id, number, part, lease, key, content_hash, began_at, deadline_at
        ) VALUES (:workspace_id, :attempt_id, :delivery_id, :number, :part, :lease, :key, :hash, :now, :deadline)
        """,
        delivery_id=row["id"],
        number=number,
        part=wish.part,
        lease=row["lease"],
        key=key,
        hash=fingerprint,
        deadline=deadline,
        **common,
    )
    tx.run(
        """
        INSERT INTO activity (
            workspace_id, id, account_id, action, mode, delivery_id, attempt_id, campaign_id, state, counts, reserved_at
        ) VALUES (
            :workspace_id, :attempt_id, :account_id, :action, :mode, :delivery_id, :attempt_id, :campaign_id,
            'reserved', true, :now
        )
        """,
        account_id=row["account_id"],
        action=row["action"],
        mode=row["mode"],
        delivery_id=row["id"],
        campaign_id=row["campaign_id"],
        **common,
    )
    return Permitted(wish.attempt_id, key, number, now, deadline)


def _freeze(tx: Tx, row: Row, number: int) -> bool:
    """Take the delivery as it was read; an edit, a cancel or a void in between wins, and nothing is sent."""
    return bool(
        tx.run(
            """
            UPDATE delivery SET state = 'sending', attempts = :number, reason = NULL
            WHERE workspace_id = :workspace_id AND id = :id AND lease = :lease AND state = :state
                AND revision = :revision
            """,
            number=number,
            workspace_id=row["workspace_id"],
            id=row["id"],
            lease=row["lease"],
            state=row["state"],
            revision=row["revision"],
        )
    )


def _write_bucket(tx: Tx, facts: Facts, budget: Budget, *, busy_until: datetime) -> None:
    """Write what a budget looks like after the taking; a gap stays shut while the call runs."""
    action, _, kind = budget.key.partition(":")
    match budget:
        case Counted(used_in=period):
            taken, free_at = 1, None
        case Rate(due=due):
            taken, free_at, period = 0, due, ""
        case MinGap(gap=gap):
            # If the worker dies, nobody says when the call ended: by its deadline at the latest.
            taken, free_at, period = 0, busy_until + gap, ""
        case Rolling():
            return  # counted from the ledger itself
    tx.run(
        """
        INSERT INTO bucket (workspace_id, account_id, action, mode, kind, period, taken, free_at)
        VALUES (:workspace_id, :account_id, :action, :mode, :kind, :period, :taken, :free_at)
        ON CONFLICT (workspace_id, account_id, action, mode, kind, period)
        DO UPDATE SET taken = bucket.taken + excluded.taken, free_at = excluded.free_at
        """,
        workspace_id=facts.account["workspace_id"],
        account_id=facts.account["id"],
        action=action,
        mode=facts.delivery["mode"],
        kind=kind,
        period=period,
        taken=taken,
        free_at=free_at,
    )


def _refuse(tx: Tx, now: datetime, ticket: Ticket, gate: str, answer: End | Wait) -> Refusal:
    """Let it wait or end it; either way it leaves the worker's hands, and the reason is kept."""
    key = {"workspace_id": ticket.workspace_id, "id": ticket.id, "lease": ticket.lease}
    if isinstance(answer, End):
        tx.run(
            """
            UPDATE delivery SET state = :state, reason = :reason, leased_until = NULL, worker = NULL,
                failed_at = :failed_at
            WHERE workspace_id = :workspace_id AND id = :id AND lease = :lease
            """,
            state=answer.state.value,
            reason=answer.says,
            failed_at=now if answer.state is State.FAILED else None,
            **key,
        )
        claim.leave_lanes(tx, [ticket])
        announce(tx, now, state=answer.state, reason=answer.says, **key)
        return Refusal(gate, answer.says, None, answer.state)
    until = answer.until or now + PERSON
    tx.run(
        """
        UPDATE delivery SET state = 'scheduled', leased_until = NULL, worker = NULL,
            deferrals = deferrals + 1, reason = :reason
        WHERE workspace_id = :workspace_id AND id = :id AND lease = :lease
        """,
        reason=answer.says,
        **key,
    )
    claim.leave_lanes(tx, [ticket])
    if until > now:
        # The whole lane rests: nothing of it is looked at again until it can go.
        lanes.park(
            tx,
            workspace_id=ticket.workspace_id,
            lane_id=ticket.row["lane_id"],
            until=until,
            reason=answer.says,
            by=gate,
        )
    return Refusal(gate, answer.says, until, State.SCHEDULED)
