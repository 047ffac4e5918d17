"""What became of a call, in two halves.

The attempt's outcome is evidence: it is appended by attempt id and always accepted, even from a worker
that lost its lease. The delivery's move is fenced by its lease; evidence alone may turn `unconfirmed`
into `sent`. Ledger, refunds, the gap counted from the end of the call, lane and outbox are written in
the same transaction.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec

from cadenza.accounts.ask_reconnect import ask_reconnect
from cadenza.core.backoff import Backoff, delay
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import claim, lanes
from cadenza.deliveries.announce import announce
from cadenza.deliveries.model import Ticket
from cadenza.deliveries.refund import rearm_gaps, refund
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    NotReady,
    Outcome,
    Reach,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from cadenza.sql.tx import Tx

BACKOFF = Backoff()
# Whose move counts: the holder's; or, for evidence that it is out, anybody's while it is in doubt.
HELD = "lease = :lease AND leased_until IS NOT NULL AND state IN ('scheduled', 'sending')"
DOUBTED = "state = 'unconfirmed'"
RECONNECT = timedelta(days=3650)  # a lane rests until the account is connected again


@dataclass(frozen=True, slots=True)
class Result:
    """What a worker brings back from one call."""

    ticket: Ticket
    outcome: Outcome
    attempt_id: str | None = None  # None: it never came to the call
    last_part: bool = True
    fraction: float = 0.0  # luck, for the backoff


@dataclass(frozen=True, slots=True)
class Move:
    """Where the delivery goes, and when it is looked at again."""

    state: State
    reason: str | None = None
    due_at: datetime | None = None


def locks_of(results: Iterable[Result]) -> list[str]:
    """Name the accounts that a batch decides about: what it gives back must not pass a permit by."""
    return sorted(
        {f"account:{r.ticket.workspace_id}:{r.ticket.row['account_id']}" for r in results}
    )


def settle(tx: Tx, now: datetime, results: Sequence[Result]) -> list[bool]:
    """Write each result; say which deliveries still were this worker's."""
    return [_settle_one(tx, now, result) for result in results]


def _settle_one(tx: Tx, now: datetime, result: Result) -> bool:
    ticket, outcome = result.ticket, result.outcome
    if result.attempt_id is not None:
        _keep_evidence(tx, now, ticket, result.attempt_id, outcome)
    move = _decide(now, result)
    if isinstance(outcome, Sent) and not result.last_part:
        return _next_part(tx, result, outcome)
    if _move(tx, now, result, move, fence=HELD):
        claim.leave_lanes(tx, [ticket])
    elif not (isinstance(outcome, Sent) and _move(tx, now, result, move, fence=DOUBTED)):
        return False
    _park(tx, now, ticket, outcome)
    announce(
        tx,
        now,
        workspace_id=ticket.workspace_id,
        id=ticket.id,
        lease=ticket.lease,
        state=move.state,
        reason=move.reason,
        url=getattr(outcome, "url", None),
    )
    return True


def _decide(now: datetime, result: Result) -> Move:
    """Turn an outcome into a move: the one place that does."""
    row = result.ticket.row
    attempts = row["attempts"] + (1 if result.attempt_id is not None else 0)
    match result.outcome:
        case Sent(note=note):
            return Move(State.SENT, note)
        case NotReady(wait, says):
            return Move(State.SCHEDULED, says or "still being processed", now + wait)
        case TryLater(wait, _, says):
            return Move(State.SCHEDULED, says, now + wait)
        case Transient(says, wait=at_least):
            if attempts > row["retry_limit"]:
                return Move(State.FAILED, says)
            wait = delay(BACKOFF, max(attempts, 1), fraction=result.fraction)
            return Move(State.SCHEDULED, says, now + max(wait, at_least or wait))
        case Rejected(says) | RecipientGone(says) | Forbidden(says):
            return Move(State.FAILED, says)
        case Disconnected(says):
            return Move(State.SCHEDULED, says)
        case Unconfirmed(says):
            return Move(State.UNCONFIRMED, says)


def _keep_evidence(
    tx: Tx, now: datetime, ticket: Ticket, attempt_id: str, outcome: Outcome
) -> None:
    """Append what the call came to, whoever holds the delivery now, and settle its ledger row."""
    known = tx.run(
        """
        UPDATE attempt SET outcome = :outcome, says = :says, remote_id = :remote_id, url = :url, ended_at = :now
        WHERE workspace_id = :workspace_id AND id = :id AND outcome IS NULL
        """,
        outcome=type(outcome).__name__,
        says=getattr(outcome, "says", None),
        remote_id=getattr(outcome, "remote_id", None),
        url=getattr(outcome, "url", None),
        now=now,
        workspace_id=ticket.workspace_id,
        id=attempt_id,
    )
    if not known:
        return
    match outcome:
        case Sent():
            state, counts = "success", True
        case Unconfirmed():
            state, counts = "unconfirmed", True
        case Rejected() | RecipientGone() | Forbidden():
            state, counts = "rejected", ticket.row["action"] == "connection_request"
        case _:
            state, counts = "refunded", False
    counted = tx.run(
        """
        UPDATE activity SET state = :state, counts = :counts, settled_at = :now
        WHERE workspace_id = :workspace_id AND attempt_id = :id AND counts
        """,
        state=state,
        counts=counts,
        now=now,
        workspace_id=ticket.workspace_id,
        id=attempt_id,
    )
    if counted and not counts:  # once: a doubt that was cleared may have given back already
        refund(tx, ticket, attempt_id)
    rearm_gaps(tx, ticket, attempt_id, ended=now)


def _move(tx: Tx, now: datetime, result: Result, move: Move, *, fence: str) -> bool:
    """Write the delivery's move if the lease still holds, or if evidence clears a doubt."""
    ticket, outcome = result.ticket, result.outcome
    called = result.attempt_id is not None
    burnt = not isinstance(outcome, NotReady | TryLater | Disconnected)
    changed = tx.run(
        f"""
        UPDATE delivery SET
            state = :state, reason = :reason, leased_until = NULL, worker = NULL,
            due_at = CASE WHEN :due IS NULL THEN due_at ELSE :due END,
            attempts = attempts - :unburnt,
            deferrals = CASE WHEN :burnt THEN deferrals ELSE deferrals + 1 END,
            prepared = CASE WHEN :restart THEN NULL ELSE prepared END,
            remote_id = coalesce(:remote_id, remote_id), url = coalesce(:url, url),
            recipient = coalesce(:moved_to, recipient),
            sent_at = CASE WHEN :state = 'sent' THEN :now ELSE sent_at END,
            failed_at = CASE WHEN :state = 'failed' THEN :now ELSE NULL END
        WHERE workspace_id = :workspace_id AND id = :id AND {fence}
        """.replace(  # noqa: S608 - put together from constants
            ":due IS NULL",
            "CAST(:due AS timestamptz) IS NULL" if tx.dialect == "postgresql" else ":due IS NULL",
        ),
        state=move.state.value,
        reason=move.reason,
        due=move.due_at,
        moved_to=getattr(outcome, "moved_to", None),
        burnt=burnt,
        unburnt=1 if called and not burnt else 0,
        restart=isinstance(outcome, Transient) and outcome.restart,
        remote_id=getattr(outcome, "remote_id", None),
        url=getattr(outcome, "url", None),
        now=now,
        workspace_id=ticket.workspace_id,
        id=ticket.id,
        **({"lease": ticket.lease} if fence is HELD else {}),
    )
    return changed == 1


def _next_part(tx: Tx, result: Result, sent: Sent) -> bool:
    """Save a part's remote id before the next part is sent; the delivery stays in hand."""
    ticket = result.ticket
    part: int = tx.value(
        "SELECT part FROM attempt WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=ticket.workspace_id,
        id=result.attempt_id,
    )
    # By its number, so that writing it again after a lost answer changes nothing.
    parts: list[Any] = [*msgspec.json.decode(ticket.row["parts_sent"])[:part], sent.remote_id]
    ticket.row["parts_sent"] = msgspec.json.encode(parts).decode()
    changed = tx.run(
        """
        UPDATE delivery SET parts_sent = :parts, remote_id = coalesce(remote_id, :remote_id)
        WHERE workspace_id = :workspace_id AND id = :id AND lease = :lease AND leased_until IS NOT NULL
        """,
        parts=ticket.row["parts_sent"],
        remote_id=sent.remote_id,
        workspace_id=ticket.workspace_id,
        id=ticket.id,
        lease=ticket.lease,
    )
    return changed == 1


def _park(tx: Tx, now: datetime, ticket: Ticket, outcome: Outcome) -> None:
    """Close what the outcome asks to be left alone."""
    lane = {"workspace_id": ticket.workspace_id, "lane_id": ticket.row["lane_id"]}
    match outcome:
        case TryLater(wait, reach, says) if reach is not Reach.RECIPIENT:
            lanes.park(tx, until=now + wait, reason=says, **lane)
        case Disconnected(says):
            used = ticket.row.get("account")
            lost = ask_reconnect(
                tx,
                now,
                workspace_id=ticket.workspace_id,
                account_id=ticket.row["account_id"],
                says=says,
                issued_at=used["token_issued_at"] if used else None,
            )
            if lost:
                lanes.park(
                    tx,
                    until=now + RECONNECT,
                    reason=f"the account needs a reconnect: {says}",
                    by="reconnect",
                    **lane,
                )
        case _:
            pass
