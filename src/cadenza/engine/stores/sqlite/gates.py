"""Gates: what may start of a queue or a lane, and which lanes a claim should look at.

The arithmetic is `engine/gates.py`, the same for all stores. What is SQLite's own is `standing`:
a lane that is paused, full, parked or has nothing ready is in no index that a claim reads, so
a hundred thousand such lanes cost nothing. It errs to one side only: a lane with nothing ready may
still be looked at once, and is then put to sleep; one with something ready is never asleep.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from cadenza.engine.gates import opens_at
from cadenza.engine.job import Gate, Limit, Rate, Scope
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.values import (
    EPOCH,
    span,
    to_instant_or_none,
    to_number,
    to_number_or_none,
)

ASLEEP, OPEN, TIMED, SHUT = range(4)  # what `standing` says

_SHOW = load("show_gates")
_READ = load("read_gate")
_WRITE = load("write_gate")
_WAKE = load("wake_lane")
_LEAVE = load("leave_gate")
_COUNT_RUNNING = load("count_running")


def read_gate(tx: sqlite3.Connection, scope: Scope) -> tuple[Gate, bool] | None:
    """Return a scope's gate, and whether it is a lane that may have ready jobs."""
    row = tx.execute(_READ, (scope.queue, scope.lane or "")).fetchone()
    return None if row is None else (to_gate(row), row[2] != ASLEEP)


def to_gate(row: tuple[Any, ...]) -> Gate:
    """Make a gate of a row as every query shows it."""
    queue, lane, _, in_flight, paused, reason, parked, concurrency, count, per, burst, start = row
    rate = None if count is None else Rate(count, timedelta(microseconds=per), burst)
    return Gate(
        scope=Scope(queue, lane or None),
        paused=bool(paused),
        reason=reason,
        parked_until=to_instant_or_none(parked),
        limit=Limit(concurrency, rate),
        in_flight=in_flight,
        next_start=to_instant_or_none(start),
    )


def write_gate(tx: sqlite3.Connection, now: int, gate: Gate, *, awake: bool, turn: int = 0) -> None:
    """Insert or replace a gate; a turn puts its lane behind all others."""
    limit, rate = gate.limit, gate.limit.rate
    shut = gate.paused or (limit.concurrency is not None and gate.in_flight >= limit.concurrency)
    # When park and rate allow a start; what a person or a leaving job decides is `standing`.
    timed = opens_at(replace(gate, paused=False, limit=Limit(None, rate)), EPOCH)
    opens = 0 if timed is None else to_number(timed)
    tx.execute(
        _WRITE,
        (
            gate.scope.queue,
            gate.scope.lane or "",
            ASLEEP if not awake else SHUT if shut else OPEN if opens <= now else TIMED,
            opens,
            turn,
            gate.in_flight,
            gate.paused,
            gate.reason,
            to_number_or_none(gate.parked_until),
            limit.concurrency,
            None if rate is None else rate.count,
            None if rate is None else span(rate.per),
            None if rate is None else rate.burst,
            to_number_or_none(gate.next_start),
        ),
    )


def next_turns(tx: sqlite3.Connection, count: int) -> range:
    """Draw numbers that put lanes behind all others, in order."""
    tx.execute("UPDATE lane_turn SET last = last + ?", (count,))
    (last,) = tx.execute("SELECT last FROM lane_turn").fetchone()
    return range(last - count + 1, last + 1)


def open_lane(
    tx: sqlite3.Connection, now: int, scope: Scope, *, limit: Limit | None, ready: bool
) -> None:
    """Make sure that a lane has a gate, with the limit if one is given, awake if it has work."""
    if limit is None and ready and tx.execute(_WAKE, (now, scope.queue, scope.lane)).rowcount:
        return
    found = read_gate(tx, scope)
    gate, awake = found or (Gate(scope), False)
    if limit is not None:
        gate = replace(gate, limit=limit)
    if found is None or limit is not None or ready:
        turn = next_turns(tx, 1)[0] if found is None else 0
        write_gate(tx, now, gate, awake=awake or ready, turn=turn)


def wake_lanes(tx: sqlite3.Connection, now: int, queue: str, lanes: Iterable[str]) -> None:
    """Let the next claim look at these lanes."""
    tx.executemany(_WAKE, [(now, queue, lane) for lane in lanes])


def leave(tx: sqlite3.Connection, now: int, counts: Iterable[tuple[str, str | None, int]]) -> None:
    """Take so many running jobs off the gates of their queues and lanes."""
    for queue, lane, count in counts:
        tx.execute(_LEAVE, (now, count, queue, ""))
        if lane is not None:
            tx.execute(_LEAVE, (now, count, queue, lane))


def park(tx: sqlite3.Connection, now: int, scope: Scope, until: int | None) -> None:
    """Close a scope until then; a park only grows, None ends it."""
    gate, awake, turn = change_gate(tx, scope)
    opens = to_instant_or_none(until)
    if opens is not None and gate.parked_until is not None:
        opens = max(opens, gate.parked_until)
    write_gate(tx, now, replace(gate, parked_until=opens), awake=awake, turn=turn)


def change_gate(tx: sqlite3.Connection, scope: Scope) -> tuple[Gate, bool, int]:
    """Return a gate to be written back: the one that is there, or a new one that knows what runs."""
    found = read_gate(tx, scope)
    if found is not None:
        return (*found, 0)
    (running,) = tx.execute(_COUNT_RUNNING, (scope.queue, scope.lane)).fetchone()
    turn = 0 if scope.lane is None else next_turns(tx, 1)[0]
    return Gate(scope, in_flight=running), False, turn


def set_gate(
    tx: sqlite3.Connection,
    now: int,
    scope: Scope,
    *,
    paused: bool | None,
    reason: str | None,
    limit: Limit | None,
    wait: timedelta | None,
) -> Gate:
    """Change what is given."""
    gate, awake, turn = change_gate(tx, scope)
    if paused is not None:
        gate = replace(gate, paused=paused, reason=reason if paused else None)
    if limit is not None:
        gate = replace(gate, limit=limit)
    write_gate(tx, now, gate, awake=awake, turn=turn)
    if wait is not None:
        park(tx, now, scope, now + span(wait) if wait > timedelta() else None)
    found = read_gate(tx, scope)
    assert found is not None
    return found[0]


def list_gates(tx: sqlite3.Connection, _now: int) -> list[Gate]:
    """Return every gate."""
    rows = tx.execute(_SHOW).fetchall()
    return sorted((to_gate(row) for row in rows), key=lambda gate: str(gate.scope))
