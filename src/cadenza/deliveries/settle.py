"""What became of a call, in two halves.

The attempt's outcome is evidence: it is appended by attempt id and always accepted, even from a worker
that lost its lease. The delivery's move is fenced by its lease; evidence alone may turn `unconfirmed`
into `sent`. Ledger, refunds, the gap counted from the end of the call, lane and outbox are written in
the same transaction. A network that is out of order is waited for (`circuit_breaker.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import msgspec

from cadenza.accounts.model import Account
from cadenza.accounts.require_reconnect import require_reconnect
from cadenza.core.backoff import Backoff, delay
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import claim, lanes, model, planners
from cadenza.deliveries.announce import DeliveryEvent, announce
from cadenza.deliveries.circuit_breaker import CallResult, update_breaker
from cadenza.deliveries.gates import GONE
from cadenza.deliveries.model import Action, ClaimedDelivery, NetworkWait, account_scope
from cadenza.deliveries.pace import end_slow_row, slow_down
from cadenza.deliveries.rate_limit_waits import save_waits, scope_of
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.recipient_health import Contact, update_recipients
from cadenza.deliveries.record_exchanges import RecordedExchange, record_exchanges
from cadenza.deliveries.refund import GapCall, rearm_gaps, refund
from cadenza.deliveries.suspend_account import note_block
from cadenza.deliveries.transition import Changes, Move, move_held, move_unconfirmed
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    NotReady,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import Key

BACKOFF = Backoff()
RECONNECT = timedelta(days=3650)  # a lane rests until the account is connected again
PATIENCE = timedelta(hours=6)  # for a network that works on what was prepared


@dataclass(frozen=True, slots=True)
class Result:
    """What a worker brings back from one call."""

    ticket: ClaimedDelivery
    outcome: Outcome
    attempt_id: str | None = None  # None: it never came to the call
    last_part: bool = True
    parts: tuple[str | None, ...] = ()  # a thread's remote ids so far, this call's too
    fraction: float = 0.0  # luck, for the backoff
    exchanges: tuple[RecordedExchange, ...] = ()  # what was said with the network on the way
    assumed: bool = False  # nobody saw it: it is marked, and not reported as sent
    called_at: datetime | None = (
        None  # of an unconfirmed send that is cleared: it was sent then, not now
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """Where the delivery goes, and when it is looked at again."""

    state: State
    reason: Reason | None = None
    due_at: datetime | None = None


def locks_of(results: Iterable[Result]) -> list[str]:
    """Name what a batch decides about: what it gives back must not pass a permit by."""
    return model.locks_of(result.ticket.delivery for result in results)


def settle(tx: Tx, now: datetime, results: Sequence[Result]) -> list[bool]:
    """Write each result; say which deliveries still were this worker's."""
    exchanges = _save_evidence(
        tx, now, [result for result in results if result.attempt_id is not None]
    )
    record_exchanges(tx, [(r.ticket.delivery.key, r.attempt_id, r.exchanges) for r in results])
    results = _time_waits(tx, now, [_expire_preparation(now, result) for result in results])
    results, rests = _apply_outages(tx, now, results)
    between = [result for result in results if _goes_on(result)]
    ends = [(result, _decide(now, result)) for result in results if not _goes_on(result)]
    ours = {each.delivery.fence for each in move_held(tx, now, [_move(*end) for end in ends])}
    held = [end for end in ends if end[0].ticket.fence in ours]
    claim.free_lane_room(tx, [result.ticket.delivery for result, _ in held])
    won = {id(result) for result, _ in held}
    late = [end for end in ends if id(end[0]) not in won and isinstance(end[0].outcome, Sent)]
    # Evidence that it is out counts while it is unconfirmed, whoever brings it.
    clear = {end[0].ticket.delivery.key: end for end in late}
    sent = move_unconfirmed(tx, now, [_move(*end) for end in clear.values()])
    cleared = [clear[each.delivery.key] for each in sent]
    moved = held + cleared
    _leave_alone(
        tx, now, [*(result for result, _ in moved), *_asked(results, moved, exchanges)], rests
    )
    seen = [(result, move) for result, move in moved if not result.assumed]
    update_recipients(tx, now, _contacts([result for result, _ in seen]))
    announce(tx, now, [_event(result, move) for result, move in seen])
    won |= {id(result) for result, _ in moved}
    won |= {id(result) for result in between if _next_part(tx, result)}
    return [id(result) in won for result in results]


def _expire_preparation(now: datetime, result: Result) -> Result:
    """Count as a try, to be prepared again, what a network is not ready with for too long."""
    since = result.ticket.delivery.unready_at
    if not isinstance(result.outcome, NotReady) or since is None or now - since < PATIENCE:
        return result
    message = f"The network did not get ready with it in {PATIENCE}"
    last = f"; it says: {result.outcome.message}" if result.outcome.message else ""
    return replace(result, outcome=Transient(f"{message}{last}", restart=True))


def _time_waits(tx: Tx, now: datetime, results: Sequence[Result]) -> list[Result]:
    """Say how long the waits last that networks asked for, and slow the accounts down."""
    end_slow_row(tx, now, [r.ticket.delivery.account_key for r in results if _arrived(r)])
    asked = [
        (result.ticket, result.outcome, result.fraction)
        for result in results
        if isinstance(result.outcome, TryLater)
    ]
    waits = iter(slow_down(tx, now, asked) if asked else ())
    return [
        replace(each, outcome=next(waits)) if isinstance(each.outcome, TryLater) else each
        for each in results
    ]


def _arrived(result: Result) -> bool:
    return isinstance(result.outcome, Sent) and result.ticket.delivery.mode == "live"


def _apply_outages(
    tx: Tx, now: datetime, results: Sequence[Result]
) -> tuple[list[Result], list[NetworkWait]]:
    """Turn what a network's outage brought into waits; return also how long accounts rest."""
    live = [each for each in results if each.ticket.delivery.mode == "live"]
    calls = [
        CallResult(
            result.ticket.delivery.account_key,
            result.outcome,
            result.attempt_id is not None,
        )
        for result in live
    ]
    luck = max((result.fraction for result in results), default=0.0)
    outcomes, rests = update_breaker(tx, now, calls, fraction=luck)
    after = dict(zip(map(id, live), outcomes, strict=True))
    return [replace(each, outcome=after.get(id(each), each.outcome)) for each in results], rests


def _contacts(results: Sequence[Result]) -> list[Contact]:
    """Say which calls reached their recipient, and which told that it cannot be reached."""
    return [
        Contact(
            workspace_id=delivery.workspace_id,
            account_id=delivery.account_id,
            provider=result.ticket.account.provider,
            recipient=delivery.recipient,
            reached=isinstance(result.outcome, Sent),
            message=getattr(result.outcome, "message", ""),
            blocked=getattr(result.outcome, "shut_out", False),
        )
        for result in results
        for delivery in [result.ticket.delivery]
        if isinstance(result.outcome, Sent | RecipientGone)
        and delivery.recipient
        and delivery.mode == "live"
    ]


def _goes_on(result: Result) -> bool:
    return isinstance(result.outcome, Sent) and not result.last_part


def _event(result: Result, move: Decision) -> DeliveryEvent:
    url = getattr(result.outcome, "url", None)
    return DeliveryEvent.of(result.ticket.delivery, move.state, move.reason, url)


def _decide(now: datetime, result: Result) -> Decision:
    """Turn an outcome into a move: the one place that does."""
    delivery = result.ticket.delivery
    # This one too, whether or not it came to the call.
    tries = delivery.attempts + delivery.failures + 1
    match result.outcome:
        case Sent(note=note):
            code = Code.ASSUMED_SENT if result.assumed else Code.SENT_NOTE
            return Decision(State.SENT, Reason.of(code, message=note) if note else None)
        case NotReady(wait, message):
            why = Reason.of(Code.NOT_READY, message=message or "still being processed")
            return Decision(State.SCHEDULED, why, now + wait)
        case TryLater(wait, _, message):
            return Decision(
                State.SCHEDULED, Reason.of(Code.RATE_LIMITED, message=message), now + wait
            )
        case Transient(message, wait=at_least):
            if tries > delivery.retry_limit:
                return Decision(State.FAILED, Reason.of(Code.RETRIES_EXHAUSTED, message=message))
            wait = delay(BACKOFF, tries, fraction=result.fraction)
            why = Reason.of(Code.TRANSIENT, message=message)
            return Decision(State.SCHEDULED, why, now + max(wait, at_least or wait))
        case Rejected() | RecipientGone() | Forbidden() as refused:
            return Decision(State.FAILED, _answered(refused))
        case Disconnected() as lost:
            # What a call was made for waits once more: its gate cancels it.
            gone = result.ticket.account.state == GONE and result.attempt_id is None
            return Decision(State.CANCELED if gone else State.SCHEDULED, _answered(lost))
        case Unconfirmed(message):
            return Decision(State.UNCONFIRMED, Reason.of(Code.UNCONFIRMED, message=message))


def _answered(outcome: Rejected | RecipientGone | Forbidden | Disconnected) -> Reason:
    """Name what a network refused, with its own code where it gave one."""
    network = {"network_code": outcome.code} if outcome.code else {}
    return Reason.of(_REFUSED[type(outcome)], message=outcome.message, **network)


_REFUSED = {
    Rejected: Code.REJECTED,
    RecipientGone: Code.RECIPIENT_GONE,
    Forbidden: Code.FORBIDDEN,
    Disconnected: Code.DISCONNECTED,
}


def _asked(
    results: Sequence[Result], moved: Sequence[tuple[Result, Decision]], exchanges: set[Key]
) -> list[Result]:
    """Find the waits that networks asked of workers which hold the delivery no more: they are heeded too."""
    won = {id(result) for result, _ in moved}
    return [
        result
        for result in results
        if id(result) not in won
        and isinstance(result.outcome, TryLater)
        and (result.ticket.workspace_id, result.attempt_id) in exchanges
    ]


def _save_evidence(tx: Tx, now: datetime, results: Sequence[Result]) -> set[Key]:
    """Append what calls came to, whoever holds the deliveries now, and settle their ledger rows.

    Return the attempts of which nothing was known before. Once an unconfirmed send was looked into by making its call
    again, who did not make it, or failed to, knows nothing of what that one did: only an arrival counts.
    """
    if not results:
        return set()
    known = {
        (row["workspace_id"], row["id"]): row["deadline_at"]
        for row in tx.all(
            """
            UPDATE attempt SET outcome = new.came_to, message = new.said, remote_id = new.remote, url = new.address,
                ended_at = :now
            FROM TABLE(:new) AS new (
                workspace_id text, id text, came_to text, said text, remote text, address text
            )
            WHERE attempt.workspace_id = new.workspace_id AND attempt.id = new.id AND outcome IS NULL
                AND (repeated_until IS NULL OR new.came_to = 'Sent')
            RETURNING attempt.workspace_id, attempt.id, deadline_at
            """,
            new=[
                (
                    result.ticket.workspace_id,
                    result.attempt_id,
                    type(result.outcome).__name__,
                    getattr(result.outcome, "message", None),
                    getattr(result.outcome, "remote_id", None),
                    getattr(result.outcome, "url", None),
                )
                for result in results
            ],
            now=now,
        )
    }
    fresh = [r for r in results if (r.ticket.workspace_id, r.attempt_id) in known]
    counted = _settle_ledger(tx, now, fresh)
    # Once: an unconfirmed send that was cleared may have given back already.
    refund(tx, [(row["workspace_id"], row["attempt_id"]) for row in counted if not row["counts"]])
    calls = [
        GapCall.of(r.ticket.delivery, known[r.ticket.workspace_id, r.attempt_id or ""])
        for r in fresh
    ]
    rearm_gaps(tx, calls, ended=now)
    return set(known)


def _settle_ledger(tx: Tx, now: datetime, results: Sequence[Result]) -> list[Row]:
    """Say of each reservation what became of it, once; return those that were open until now."""
    if not results:
        return []
    return tx.all(
        """
        UPDATE activity SET state = new.becomes, counts = new.counting, settled_at = :now
        FROM TABLE(:new) AS new (workspace_id text, id text, becomes text, counting boolean)
        WHERE activity.workspace_id = new.workspace_id AND attempt_id = new.id
            AND activity.state IN ('reserved', 'unconfirmed')
        RETURNING activity.workspace_id, attempt_id, counts
        """,
        new=[
            (result.ticket.workspace_id, result.attempt_id, *_counting(result))
            for result in results
        ],
        now=now,
    )


def _counting(result: Result) -> tuple[str, bool]:
    match result.outcome:
        case Sent():
            return "success", True
        case Unconfirmed():
            return "unconfirmed", True
        case Rejected() | RecipientGone() | Forbidden():
            return "rejected", result.ticket.delivery.action is Action.CONNECTION_REQUEST
        case _:
            return "refunded", False


def _move(result: Result, decided: Decision) -> Move:
    outcome = result.outcome
    burnt = not isinstance(outcome, NotReady | TryLater | Disconnected)
    changes = Changes(
        reason=decided.reason,
        due_at=decided.due_at,
        unburnt=1 if result.attempt_id is not None and not burnt else 0,
        failed=1 if result.attempt_id is None and isinstance(outcome, Transient) else 0,
        crashes=0,
        deferred=0 if burnt else 1,
        restart=isinstance(outcome, Transient) and outcome.restart,
        unready=isinstance(outcome, NotReady),
        remote_id=getattr(outcome, "remote_id", None),
        url=getattr(outcome, "url", None),
        moved_to=getattr(outcome, "moved_to", None),
        called_at=result.called_at,
    )
    delivery = result.ticket.sending(begun=result.attempt_id is not None)
    return Move(delivery, decided.state, changes, outcome)


def _next_part(tx: Tx, result: Result) -> bool:
    """Save a part's remote id before the next part is sent; the delivery stays in hand."""
    changed = tx.run(
        """
        UPDATE delivery SET parts_sent = :parts, remote_id = coalesce(remote_id, :remote_id)
        WHERE workspace_id = :workspace_id AND id = :id AND lease = :lease AND leased_until IS NOT NULL
        """,
        parts=msgspec.json.encode(result.parts).decode(),
        remote_id=getattr(result.outcome, "remote_id", None),
        workspace_id=result.ticket.workspace_id,
        id=result.ticket.id,
        lease=result.ticket.lease,
    )
    return changed == 1


def _leave_alone(
    tx: Tx, now: datetime, results: Sequence[Result], rests: Sequence[NetworkWait]
) -> None:
    """Close what outcomes ask to be left alone: the scope of the wait, and the account's lanes."""
    waits = list(rests)
    for result in results:
        delivery, account = result.ticket.delivery, result.ticket.account
        match result.outcome:
            case TryLater(wait, reach, message, block):
                if block and delivery.mode == "live":
                    note_block(
                        tx,
                        now,
                        workspace_id=account.workspace_id,
                        account_id=account.id,
                        message=message,
                    )
                scope = scope_of(reach, account, delivery)
                waits.append(NetworkWait(scope=scope, until=now + wait, reason=message))
            case Disconnected(message) if delivery.mode == "live" and _is_lost(
                tx, now, account, message
            ):
                scope = account.workspace_id, account_scope(account.id)
                reason = f"the account needs a reconnect: {message}"
                until = now + RECONNECT
                waits.append(
                    NetworkWait(scope=scope, until=until, reason=reason, by=lanes.RECONNECT)
                )
            case _:
                pass
    save_waits(tx, now, waits)
    # An app's other accounts are turned away when they are claimed; a recipient's others too.
    lanes.park_scopes(
        tx,
        now,
        [
            lanes.Park(*wait.scope, wait.until, wait.reason, wait.by)
            for wait in waits
            if wait.scope[1].startswith("account:")
        ],
    )
    planners.rest(tx, now, [r.ticket.delivery for r in results if isinstance(r.outcome, TryLater)])


def _is_lost(tx: Tx, now: datetime, used: Account, message: str) -> bool:
    """Mark the account as one that needs a reconnect; say whether it cannot send."""
    return require_reconnect(
        tx,
        now,
        workspace_id=used.workspace_id,
        account_id=used.id,
        message=message,
        issued_at=used.token_issued_at,
    )
