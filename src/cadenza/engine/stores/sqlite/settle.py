"""Writing outcomes under the fence: each only if (id, lease) still runs.

Plain successes, nearly all there is, are written a lease at a time in one statement. When its count
of rows is not what was asked, some lease was lost: the statement is undone and the outcomes are
written one by one, which tells whose. Queues whose news should wake somebody are returned.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.stores.sqlite.gates import leave, park
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.values import Row, span, to_json, to_number

_ENDINGS = {
    Verdict.DONE: Row.DONE,
    Verdict.FAILED: Row.FAILED,
    Verdict.CANCELED: Row.CANCELED,
}
_USED_UP = (Verdict.DONE, Verdict.RETRY, Verdict.FAILED)
_HELD = "id IN (SELECT value FROM json_each(?)) AND lease = ? AND state = 2"

_DONE = load("settle_done")
_DONE_WITH_OUTPUT = load("settle_with_output")
_REMOVE = load("settle_removed")
_SCOPES = load("count_scopes")
_ONE = "SELECT queue, lane, cancel_requested FROM job WHERE id = ? AND lease = ? AND state = 2"
_FINISH = load("finish")
_WAIT_AGAIN = load("wait_again")
ADD_ERROR = "UPDATE job SET errors = json_insert(coalesce(errors, '[]'), '$[#]', ?) WHERE id = ?"


@dataclass(slots=True)
class Written:
    """What a settling came to."""

    refused: list[Settlement] = field(default_factory=list)
    queues: set[str] = field(default_factory=set)  # in which something may have become runnable


@dataclass(slots=True)
class _Sorted:
    """Settlements by how they are written; the lists are by lease."""

    done: dict[int, list[Settlement]] = field(default_factory=dict)
    with_output: dict[int, list[Settlement]] = field(default_factory=dict)
    removed: dict[int, list[Settlement]] = field(default_factory=dict)
    single: list[Settlement] = field(default_factory=list)


def settle(
    tx: sqlite3.Connection, now: int, settlements: Sequence[Settlement], closed: Sequence[int]
) -> Written:
    """Write each outcome whose lease still holds; forget the closed leases."""
    written = Written()
    gated = bool(tx.execute("SELECT EXISTS (SELECT 1 FROM gate)").fetchone()[0])
    kinds = _sort(settlements)
    for lease, group in kinds.done.items():
        ids = to_json([settlement.id for settlement in group])
        _write_group(tx, now, lease, group, (_DONE, (now, ids, lease)), written, gated=gated)
    for lease, group in kinds.with_output.items():
        pairs = to_json([(settlement.id, settlement.output) for settlement in group])
        statement = (_DONE_WITH_OUTPUT, (now, pairs, lease))
        _write_group(tx, now, lease, group, statement, written, gated=gated)
    for lease, group in kinds.removed.items():
        ids = to_json([settlement.id for settlement in group])
        _write_group(tx, now, lease, group, (_REMOVE, (ids, lease)), written, gated=gated)
    for settlement in kinds.single:
        _write_one(tx, now, settlement, written)
    if closed:
        numbers = to_json(closed)
        tx.execute("DELETE FROM lease WHERE number IN (SELECT value FROM json_each(?))", (numbers,))
    return written


def _sort(settlements: Sequence[Settlement]) -> _Sorted:
    kinds = _Sorted()
    done = Verdict.DONE
    for settlement in settlements:
        if (
            settlement.verdict is not done
            or settlement.error is not None
            or settlement.park is not None
        ):
            kinds.single.append(settlement)
        elif not settlement.keep:
            kinds.removed.setdefault(settlement.lease, []).append(settlement)
        elif settlement.output is None:
            kinds.done.setdefault(settlement.lease, []).append(settlement)
        else:
            kinds.with_output.setdefault(settlement.lease, []).append(settlement)
    return kinds


def _write_group(
    tx: sqlite3.Connection,
    now: int,
    lease: int,
    group: list[Settlement],
    statement: tuple[str, tuple[object, ...]],
    written: Written,
    *,
    gated: bool,
) -> None:
    """Write successes of one lease together; one by one if not all of them still hold it."""
    scopes: list[tuple[str, str | None, int]] = []
    if gated:
        ids = to_json([settlement.id for settlement in group])
        scopes = tx.execute(_SCOPES, (ids, lease)).fetchall()
    tx.execute("SAVEPOINT settling")
    whole = tx.execute(*statement).rowcount == len(group)
    if not whole:
        tx.execute("ROLLBACK TO settling")
    tx.execute("RELEASE settling")
    if whole:
        leave(tx, now, scopes)
        written.queues |= {queue for queue, _, _ in scopes}
        return
    for settlement in group:
        _write_one(tx, now, settlement, written)


def _write_one(tx: sqlite3.Connection, now: int, settlement: Settlement, written: Written) -> None:
    row = tx.execute(_ONE, (settlement.id, settlement.lease)).fetchone()
    if row is None:
        written.refused.append(settlement)
        return
    queue, lane, cancel_requested = row
    written.queues.add(queue)
    leave(tx, now, [(queue, lane, 1)])
    if settlement.error is not None:
        tx.execute(ADD_ERROR, (settlement.error, settlement.id))
    used_up = int(settlement.verdict in _USED_UP)
    ending = _ENDINGS.get(settlement.verdict)
    if ending is None and cancel_requested:
        ending = Row.CANCELED
    if ending is None:
        _wait_again(tx, now, settlement, used_up)
    elif settlement.verdict is Verdict.DONE and not settlement.keep:
        tx.execute("DELETE FROM job WHERE id = ?", (settlement.id,))
    else:
        tx.execute(_FINISH, (ending, now, used_up, settlement.output, settlement.id))
    if settlement.park is not None:  # last: a new gate counts what runs, and this job has left
        park(tx, now, settlement.park.scope, now + span(settlement.park.wait))
        written.queues.add(settlement.park.scope.queue)


def _wait_again(tx: sqlite3.Connection, now: int, settlement: Settlement, used_up: int) -> None:
    run_at: int | None = None  # a released job goes back untouched
    if settlement.verdict is not Verdict.RELEASED:
        delay = span(settlement.delay or timedelta())
        run_at = now + delay if settlement.at is None else to_number(settlement.at)
    snoozed = int(settlement.verdict is Verdict.SNOOZE)
    tx.execute(_WAIT_AGAIN, (run_at, used_up, snoozed, settlement.id))
