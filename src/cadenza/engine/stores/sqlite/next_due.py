"""What is in sight of a queue: when something becomes runnable, and whether crashed jobs wait.

Cheap by reading only the heads of indexes. Jobs that wait behind closed lanes are passed over, at
most `LOOK` of them; beyond that the answer may be too early, and a claim then finds nothing yet.
"""

import sqlite3

from cadenza.engine.gates import opens_at, room
from cadenza.engine.job import Gate, Scope
from cadenza.engine.stores.sqlite.gates import read_gate, to_gate
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.values import to_instant, to_number

LOOK = 100

_PLAIN_READY = load("is_plain_ready")
_IN_LANE_READY = load("is_lane_ready")
_OPEN_LANES = load("list_open_lanes")
_TIMED_LANES = load("list_timed_lanes")
_CRASHED_LANES = """
SELECT DISTINCT lane FROM job WHERE queue = ? AND state = 3 AND lane IS NOT NULL LIMIT ?
"""
_DEFERRED = "SELECT run_at, lane FROM job WHERE queue = ? AND state = 0 ORDER BY run_at LIMIT ?"


def next_due(tx: sqlite3.Connection, now: int, queue: str) -> int | None:
    """Say when something of the queue becomes runnable; None if nothing is in sight."""
    opening = _opens(_gate(tx, queue, None), now)
    if opening is None:
        return None
    if tx.execute(_PLAIN_READY, (queue,)).fetchone()[0]:
        return opening
    found = [*_ready_lanes(tx, now, queue), *_crashed_lanes(tx, now, queue)]
    soonest = min(found, default=None)
    later = _first_deferred(tx, now, queue, before=soonest)
    candidates = [at for at in (soonest, later) if at is not None]
    return max(min(candidates), opening) if candidates else None


def has_crashed(tx: sqlite3.Connection, now: int, queue: str) -> bool:
    """Say whether a claim alone would find one; behind a closed gate it would not."""
    instant = to_instant(now)
    if not room(_gate(tx, queue, None), instant, 1):
        return False
    lanes = tx.execute(
        "SELECT DISTINCT lane FROM job WHERE queue = ? AND state = 3", (queue,)
    ).fetchall()
    return any(lane is None or room(_gate(tx, queue, lane), instant, 1) for (lane,) in lanes)


def _ready_lanes(tx: sqlite3.Connection, now: int, queue: str) -> list[int]:
    """When the first lane that has a ready job may start it."""
    for statement in (_OPEN_LANES, _TIMED_LANES):
        for row in tx.execute(statement, (queue, LOOK)):  # mostly the first one will do
            opens = _opens(to_gate(row), now)
            if opens is not None and tx.execute(_IN_LANE_READY, (queue, row[1])).fetchone()[0]:
                return [opens]
    return []


def _crashed_lanes(tx: sqlite3.Connection, now: int, queue: str) -> list[int]:
    rows = tx.execute(_CRASHED_LANES, (queue, LOOK)).fetchall()
    times = [_opens(_gate(tx, queue, lane), now) for (lane,) in rows]
    return [at for at in times if at is not None]


def _first_deferred(
    tx: sqlite3.Connection, now: int, queue: str, *, before: int | None
) -> int | None:
    """The first instant at which a job that is not yet due, in a lane that is not shut, may start."""
    best = before
    run_at = 0
    looked_at = 0
    gates: dict[str, int | None] = {}
    for run_at, lane in tx.execute(_DEFERRED, (queue, LOOK)):
        looked_at += 1
        if best is not None and run_at >= best:
            return best
        if lane is None:
            return max(run_at, now)
        if lane not in gates:
            gates[lane] = _opens(_gate(tx, queue, lane), now)
        opens = gates[lane]
        if opens is not None:
            at = max(run_at, opens)
            best = at if best is None else min(best, at)
    if looked_at == LOOK:
        return max(run_at, now) if best is None else min(best, max(run_at, now))
    return best


def _gate(tx: sqlite3.Connection, queue: str, lane: str | None) -> Gate:
    scope = Scope(queue, lane)
    found = read_gate(tx, scope)
    return found[0] if found else Gate(scope)


def _opens(gate: Gate, now: int) -> int | None:
    opens = opens_at(gate, to_instant(now))
    return None if opens is None else to_number(opens)
