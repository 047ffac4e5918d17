"""Finds out what became of unconfirmed calls; never sends again on a perhaps.

An unconfirmed send is looked into when no byte of its call can still arrive: once its deadline and another send time-out
have passed by the database's clock, which may jump, and as long by the clock of a process that watched it. The
adapter says found, provably absent, or that it cannot tell; only "absent" lets the delivery be sent again. What
cannot be told waits for a person, or for the account's policy after a day: assumed sent, marked as assumed. A
look that is a repetition needs a permit of its own (`permit_repeat.py`). A restored database knows less than
happened: there only the network's word counts, and the rest of a thread waits for a person.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import msgspec

from cadenza.accounts.model import read_accounts
from cadenza.core.clock import Clock
from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.announce import DeliveryEvent, announce
from cadenza.deliveries.contents import complete
from cadenza.deliveries.model import COLUMNS, Attempt, ClaimedDelivery, Delivery, locks_of
from cadenza.deliveries.permit import SEND_TIMEOUT
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.record_exchanges import RecordedExchange, record_exchanges
from cadenza.deliveries.refund import refund
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.transition import Changes, Move, move, move_unconfirmed
from cadenza.providers.outcome import Absent, CannotTell, Finding, Found, Sent, Unconfirmed
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_value, select

log = logging.getLogger("cadenza.deliveries")

COMMENT_LOST = (
    "it was found after its answer got lost; its first comment may be missing: look at it"
)
ASK_AGAIN = timedelta(minutes=5)
SELDOM = timedelta(hours=3)  # the longer nobody can tell, the seldomer it is asked, up to this
GIVE_UP = timedelta(days=1)
EVERY = 5.0
BATCH = 200
FORGET = 900.0  # seconds after which an unconfirmed send that does not come is forgotten
ALL_TIME = datetime.max.replace(tzinfo=UTC)

Watched: TypeAlias = tuple[str, datetime | None]  # an attempt, and the last repeat of its call


@dataclass(frozen=True, slots=True)
class UnconfirmedAttempt:
    """An unconfirmed delivery and the attempt that nobody answered."""

    ticket: ClaimedDelivery
    attempt: Attempt
    restored: bool = False  # since the call the database went back: more may have happened


@dataclass(frozen=True, slots=True)
class Lookup:
    """What looking brought, and what was said with the network for it."""

    finding: Finding
    exchanges: tuple[RecordedExchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """Looking would send, and nothing may be sent now: it stays unconfirmed, for the gate that is named."""

    message: str
    gate: str = ""


def unconfirmed_attempts(tx: Tx, now: datetime) -> list[UnconfirmedAttempt]:
    """List doubts whose calls are over by the database's clock, the oldest first."""
    rows = tx.all(
        f"""
        SELECT {COLUMNS}, {_LAST} AS last_attempt FROM delivery
        WHERE state = 'unconfirmed' AND (look_at IS NULL OR look_at <= :now)
        ORDER BY look_at NULLS FIRST, due_at LIMIT :most
        """,  # noqa: S608 - a constant
        now=now,
        most=BATCH,
    )
    restored = _restored(tx) if rows else None
    attempts = select(
        tx,
        Attempt,
        "attempt",
        [(row["workspace_id"], row["last_attempt"]) for row in rows if row["last_attempt"]],
    )
    accounts = read_accounts(tx, ((row["workspace_id"], row["account_id"]) for row in rows))
    found = complete(tx, [read_value(Delivery, row) for row in rows])
    return [
        UnconfirmedAttempt(
            ClaimedDelivery(delivery, accounts[delivery.account_key]),
            attempt,
            restored is not None and attempt.began_at <= restored,
        )
        for row, (delivery, _) in zip(rows, found, strict=True)
        if (attempt := attempts.get((delivery.workspace_id, row["last_attempt"]))) is not None
        and nothing_arrives_after(attempt) <= now
    ]


_LAST = """(
    SELECT attempt.id FROM attempt
    WHERE attempt.workspace_id = delivery.workspace_id AND attempt.delivery_id = delivery.id
    ORDER BY attempt.lease DESC, attempt.part DESC LIMIT 1
)"""


def _restored(tx: Tx) -> datetime | None:
    """Say until when the database may have forgotten calls; all of them, while a restore is held."""
    runtime = tx.one("SELECT hold_kind, restored_at FROM installation WHERE id = 'this'")
    if runtime is None:
        return None
    return ALL_TIME if runtime["hold_kind"] == "restore" else runtime["restored_at"]


def last_attempt(tx: Tx, delivery: Delivery) -> Attempt | None:
    """Return the attempt that an unconfirmed send is about: by the fence, which only rises, not by a clock."""
    row = tx.one(
        """
        SELECT * FROM attempt WHERE workspace_id = :workspace_id AND delivery_id = :id
        ORDER BY lease DESC, part DESC LIMIT 1
        """,
        workspace_id=delivery.workspace_id,
        id=delivery.id,
    )
    return None if row is None else read_value(Attempt, row)


def nothing_arrives_after(attempt: Attempt) -> datetime:
    """Say from when on no byte of the call can still arrive: only then does absence mean anything."""
    return max(attempt.deadline_at, attempt.repeated_until or attempt.deadline_at) + SEND_TIMEOUT


def resolve(tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt, finding: Finding) -> State:
    """Write what was found out."""
    match finding:
        case Found(remote_id, url):
            _settle_ledger(tx, now, unconfirmed, "success", counts=True)
            if unconfirmed.attempt.part < last_part(unconfirmed):
                _save_outcome(tx, now, unconfirmed, remote_id, url)
                if unconfirmed.restored:
                    return _leave_the_rest(tx, now, unconfirmed)
                return _go_on(tx, now, unconfirmed, remote_id)
            sent = Sent(remote_id, url, _unwritten(unconfirmed))
            called_at = unconfirmed.attempt.began_at
            settle(
                tx,
                now,
                [Result(unconfirmed.ticket, sent, unconfirmed.attempt.id, called_at=called_at)],
            )
            return State.SENT
        case Absent():
            if unconfirmed.ticket.delivery.attempts > unconfirmed.ticket.delivery.retry_limit:
                return _give_up(tx, now, unconfirmed)
            return send_again(tx, now, unconfirmed)
        case CannotTell(message, again):
            # In the middle of a thread the rest needs this part's id: a person must bring it.
            whole = unconfirmed.attempt.part >= last_part(unconfirmed)
            late = whole and now - unconfirmed.attempt.began_at > GIVE_UP
            if late and unconfirmed.ticket.account.unconfirmed_policy == "assume_sent":
                sent = Sent(None, note="assumed sent: " + message)
                called_at = unconfirmed.attempt.began_at
                settle(
                    tx, now, [Result(unconfirmed.ticket, sent, assumed=True, called_at=called_at)]
                )
                return State.SENT
            at = _next_look(now, unconfirmed, again or ASK_AGAIN)
            look_again(tx, now, unconfirmed, at, Reason.of(Code.CANNOT_TELL, message=message))
            return State.UNCONFIRMED


def _next_look(now: datetime, unconfirmed: UnconfirmedAttempt, wait: timedelta) -> datetime:
    """Say when to look again; once when the account's policy may decide."""
    began: datetime = unconfirmed.attempt.began_at
    at = now + max(wait, min((now - began) / 8, SELDOM))
    decides = began + GIVE_UP + timedelta(seconds=1)
    return decides if now < decides < at else at


def last_part(unconfirmed: UnconfirmedAttempt) -> int:
    """Return the number of the thread's last part; 0: it has one."""
    return len(msgspec.json.decode(unconfirmed.ticket.delivery.content).get("parts", ()))


def _unwritten(unconfirmed: UnconfirmedAttempt) -> str | None:
    """Say what nobody saw to: a first comment follows an answer, and here none came."""
    comment = msgspec.json.decode(unconfirmed.ticket.delivery.content).get("first_comment")
    return COMMENT_LOST if comment else None


def _leave_the_rest(tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt) -> State:
    """A part is there, and after a restore nobody knows how many followed it: a person looks."""
    part = unconfirmed.attempt.part + 1  # as people count
    look_again(tx, now, unconfirmed, now + GIVE_UP, Reason.of(Code.PART_THERE, part=part))
    return State.UNCONFIRMED


def _go_on(tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt, remote_id: str | None) -> State:
    """A part of a thread is there: keep its id and let the rest follow."""
    ticket = unconfirmed.ticket
    # By its number: the part may have been saved before the worker fell silent.
    parts = [*ticket.delivery.sent_parts[: unconfirmed.attempt.part], remote_id]
    changes = Changes(
        due_at=now,
        parts_sent=msgspec.json.encode(parts).decode(),
        deferred=1,
        reason=Reason.of(Code.REST_FOLLOWS),
    )
    move(tx, now, [Move(ticket.delivery, State.SCHEDULED, changes)])
    lanes.refresh(tx, [ticket.delivery.lane_key])
    return State.SCHEDULED


def _give_up(tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt) -> State:
    """It never arrives, however often it is sent: that is a failure, and a person decides."""
    ticket = unconfirmed.ticket
    reason = Reason.of(Code.NOT_THERE, attempts=ticket.delivery.attempts)
    if not move(
        tx, now, [Move(ticket.delivery, State.FAILED, Changes(reason=reason))]
    ):  # evidence came first
        return State.SENT
    if _settle_ledger(tx, now, unconfirmed, "refunded", counts=False):
        refund(tx, [(ticket.workspace_id, unconfirmed.attempt.id)])
    announce(tx, now, [DeliveryEvent.of(ticket.delivery, State.FAILED, reason)])
    return State.FAILED


def send_again(tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt) -> State:
    """It is provably not there, or a person says so: back to the lane, the ledger gives back."""
    ticket = unconfirmed.ticket
    changes = Changes(due_at=now, reason=Reason.of(Code.SENT_AGAIN))
    if not move(tx, now, [Move(ticket.delivery, State.SCHEDULED, changes)]):  # evidence came first
        return State.SENT
    if _settle_ledger(tx, now, unconfirmed, "refunded", counts=False):
        refund(tx, [(ticket.workspace_id, unconfirmed.attempt.id)])
    lanes.refresh(tx, [ticket.delivery.lane_key])
    return State.SCHEDULED


def _save_outcome(
    tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt, remote_id: str | None, url: str | None
) -> None:
    """Write what the call came to: a worker that wakes with its permit in hand knows less."""
    tx.run(
        """
        UPDATE attempt SET outcome = :sent, remote_id = :remote_id, url = :url, ended_at = :now
        WHERE workspace_id = :workspace_id AND id = :id AND outcome IS NULL
        """,
        sent=Sent.__name__,
        remote_id=remote_id,
        url=url,
        now=now,
        workspace_id=unconfirmed.ticket.workspace_id,
        id=unconfirmed.attempt.id,
    )


def _settle_ledger(
    tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt, state: str, *, counts: bool
) -> bool:
    """Settle what was reserved; say whether it still was unconfirmed, so that it is given back once."""
    changed = tx.run(
        """
        UPDATE activity SET state = :state, counts = :counts, settled_at = :now
        WHERE workspace_id = :workspace_id AND attempt_id = :id AND state IN ('reserved', 'unconfirmed')
        """,
        state=state,
        counts=counts,
        now=now,
        workspace_id=unconfirmed.ticket.workspace_id,
        id=unconfirmed.attempt.id,
    )
    return changed == 1


def look_again(
    tx: Tx, now: datetime, unconfirmed: UnconfirmedAttempt, at: datetime, reason: Reason
) -> None:
    """Leave an unconfirmed send for later, with what is known of it."""
    looked = Move(
        unconfirmed.ticket.delivery, State.UNCONFIRMED, Changes(look_at=at, reason=reason)
    )
    move_unconfirmed(tx, now, [looked])


def _evidence(unconfirmed: UnconfirmedAttempt) -> Finding | None:
    """Say what is known already: a worker that lost its lease may still have brought the outcome."""
    outcome: str | None = unconfirmed.attempt.outcome
    if outcome == Sent.__name__:
        return Found(unconfirmed.attempt.remote_id, unconfirmed.attempt.url)
    if unconfirmed.restored:
        return None  # it failed then, and may have been sent since
    return Absent() if outcome not in (None, Unconfirmed.__name__) else None


class LookupSchedule:
    """How long this process has known each doubt, by a clock that only rises.

    One that is put off for minutes is still known when it comes again, so that a repeat does not miss the place
    that it booked; after a repeat it is watched from the start.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[Watched, float] = {}
        self._seen: dict[Watched, float] = {}

    def ripe(self, found: Sequence[UnconfirmedAttempt]) -> list[UnconfirmedAttempt]:
        """Return those watched for as long as their call may last; forget what did not come for long."""
        now = self._clock.monotonic()
        self._seen |= {_watched(unconfirmed): now for unconfirmed in found}
        self._seen = {key: at for key, at in self._seen.items() if now - at <= FORGET}
        self._since = {key: self._since.get(key, now) for key in self._seen}
        return [
            unconfirmed
            for unconfirmed in found
            if now - self._since[_watched(unconfirmed)] >= _span(unconfirmed)
        ]


def _watched(unconfirmed: UnconfirmedAttempt) -> Watched:
    return unconfirmed.attempt.id, unconfirmed.attempt.repeated_until


def _span(unconfirmed: UnconfirmedAttempt) -> float:
    """Say how many seconds after its permit nothing of a call can arrive: a span that no jump changes."""
    if _evidence(unconfirmed) is not None:
        return 0.0
    call: timedelta = (
        unconfirmed.attempt.deadline_at - unconfirmed.attempt.began_at
    )  # a repeat lasts no longer
    return (call + SEND_TIMEOUT).total_seconds()


class Reconciler:
    """One pass over doubts; a worker's duty."""

    def __init__(
        self,
        operations: Operations,
        find_out: Callable[[UnconfirmedAttempt], Awaitable[Lookup | Held]],
        *,
        clock: Clock,
    ) -> None:
        self._operations = operations
        self._find_out = find_out
        self._watch = LookupSchedule(clock)

    async def run_once(self) -> float:
        """Look into what may be looked into; say when to come again."""
        for unconfirmed in self._watch.ripe(await self._operations.read(unconfirmed_attempts)):
            lookup = await self._ask(unconfirmed)
            about = {"delivery": unconfirmed.ticket.id}
            if isinstance(lookup, Held):
                log.info("doubt not looked into", extra={**about, "reason": lookup.message})
                continue
            state = await self._write(unconfirmed, lookup)
            log.info("doubt looked into", extra={**about, "state": state.value})
        return EVERY

    async def _ask(self, unconfirmed: UnconfirmedAttempt) -> Lookup | Held:
        if (known := _evidence(unconfirmed)) is not None:
            return Lookup(known)
        try:
            return await self._find_out(unconfirmed)
        except Exception as error:  # noqa: BLE001 - an unconfirmed send stays an unconfirmed send
            return Lookup(CannotTell(f"asking failed: {type(error).__name__}"))

    async def _write(self, unconfirmed: UnconfirmedAttempt, lookup: Lookup) -> State:
        ticket = unconfirmed.ticket

        def operation(tx: Tx, now: datetime) -> State:
            record_exchanges(tx, [(ticket.delivery.key, unconfirmed.attempt.id, lookup.exchanges)])
            return resolve(tx, now, unconfirmed, lookup.finding)

        return await self._operations.run(operation, locks=locks_of([ticket.delivery]))
