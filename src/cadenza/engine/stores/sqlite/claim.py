"""Handing jobs out under a lease, and saying when there will be more.

Plain jobs are picked and leased in three statements for the whole batch, and leave the database as
one JSON text: a thread that fetches a thousand rows would fight the event loop for Python's lock
a thousand times. Jobs whose time has come are first made ready, at most `PROMOTE` in one claim, so
when more than that fall due at one instant their priorities hold only within each portion.
"""

import sqlite3
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from cadenza.engine.gates import admit, room
from cadenza.engine.job import Claimed, Gate, Scope
from cadenza.engine.store import Batch
from cadenza.engine.stores.sqlite.gates import (
    ASLEEP,
    next_turns,
    read_gate,
    to_gate,
    wake_lanes,
    write_gate,
)
from cadenza.engine.stores.sqlite.next_due import has_crashed, next_due
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.values import (
    decode_numbers,
    to_instant,
    to_instant_or_none,
    to_json,
)

PROMOTE = 2_000
MORE_LANES = 64  # looked at beyond the asked number, as some may turn out to be empty

_SURVEY = load("survey")
_DUE = load("find_due")
_PROMOTE = load("promote_due")
_OPEN_TIMED = "UPDATE gate SET standing = 1 WHERE queue = ? AND standing = 2 AND opens_at <= ?"
_PLAIN = load("pick_plain")
_LANES = load("list_open_lanes")
_IN_LANE = load("pick_in_lane")
_CRASHED_LANES = load("list_crashed_lanes")
_CRASHED = load("pick_crashed")
_LEASE = "INSERT INTO lease (until, worker, jobs, started) VALUES (?, ?, ?, ?)"
_HAND_OUT = load("hand_out")

_Job = tuple[int, str, str, int, int, int, str | None, str | None, str | None, int, str | None]
_decode_jobs = msgspec.json.Decoder(list[_Job]).decode
_decode_lanes = msgspec.json.Decoder(list[str | None]).decode


class ClaimRequest(NamedTuple):
    """What a claim asks for; spans are microseconds."""

    queue: str
    limit: int
    worker: str
    lease: int
    alone: bool
    started: bool
    lanes_first: bool  # whether lanes get the larger half of an odd room


@dataclass(slots=True)
class ClaimedRows:
    """What a claim took, in order, still as the database gave it."""

    queue: str
    lease: int = 0
    count: int = 0
    before: list[_Job] = field(default_factory=list)  # of lanes, before the plain ones
    plain: str = "[]"
    after: list[_Job] = field(default_factory=list)
    next_due: int | None = None
    crashed: bool = False

    def to_batch(self) -> Batch:
        """Make the engine's values; outside the transaction, which is over by then."""
        rows = [*self.before, *_decode_jobs(self.plain), *self.after]
        return Batch(
            self.lease,
            [_to_claimed(row, self.queue, self.lease) for row in rows],
            to_instant_or_none(self.next_due),
            self.crashed,
        )


def claim(tx: sqlite3.Connection, now: int, requested: ClaimRequest) -> ClaimedRows:
    """Lease runnable jobs: lanes get half of the room first, then plain jobs, then lanes again."""
    queue = requested.queue
    due, opening, lanes, crashed, gated = tx.execute(_SURVEY, (queue, now)).fetchone()
    if due:
        lanes = _promote(tx, now, queue) or lanes
        crashed = True  # perhaps
    if opening:
        tx.execute(_OPEN_TIMED, (queue, now))
        lanes = True
    whole = read_gate(tx, Scope(queue)) if gated else None
    gate = whole[0] if whole else Gate(Scope(queue))
    allowed = room(gate, to_instant(now), 1 if requested.alone else requested.limit)
    handed = ClaimedRows(queue)
    if allowed and requested.alone:
        _take_crashed(tx, now, requested, handed)
    elif allowed:
        _take(tx, now, requested, allowed, handed, lanes=bool(lanes))
    if not handed.count:
        handed.next_due = next_due(tx, now, queue)
    elif whole:
        write_gate(tx, now, admit(gate, to_instant(now), handed.count), awake=False)
    handed.crashed = bool(crashed) and has_crashed(tx, now, queue)
    return handed


def _promote(tx: sqlite3.Connection, now: int, queue: str) -> bool:
    """Make jobs ready whose time has come; say whether lanes are among them."""
    ids, lanes = tx.execute(_DUE, (queue, now, PROMOTE)).fetchone()
    tx.execute(_PROMOTE, (ids,))
    woken = [lane for lane in _decode_lanes(lanes) if lane is not None]
    wake_lanes(tx, now, queue, woken)
    return bool(woken)


def _take(
    tx: sqlite3.Connection,
    now: int,
    requested: ClaimRequest,
    allowed: int,
    handed: ClaimedRows,
    *,
    lanes: bool,
) -> None:
    walk = _Walk(tx, now, requested.queue, allowed) if lanes else None
    if walk:
        handed.before = walk.take((allowed + requested.lanes_first) // 2)
    left = allowed - len(handed.before)
    count, ids, handed.plain = tx.execute(_PLAIN, (requested.queue, left)).fetchone()
    if walk:
        handed.after = walk.take(left - count)
        walk.write()
    handed.count = len(handed.before) + count + len(handed.after)
    if handed.count:
        _hand_out(tx, now, requested, handed, ids)
    elif walk and walk.is_partial:
        # All of these lanes turned out to be empty, and sleep now; there are more to look at.
        _take(tx, now, requested, allowed, handed, lanes=True)


def _take_crashed(
    tx: sqlite3.Connection, now: int, requested: ClaimRequest, handed: ClaimedRows
) -> None:
    """Take one job that a process died with, from lanes or plain ones by turns."""
    plain = tx.execute(_CRASHED, (requested.queue, None)).fetchone()
    if plain is None or requested.lanes_first:
        plain = _take_crashed_of_lanes(tx, now, requested.queue) or plain
    if plain is not None:
        handed.before, handed.count = [plain], 1
        _hand_out(tx, now, requested, handed, "[]")


def _take_crashed_of_lanes(tx: sqlite3.Connection, now: int, queue: str) -> _Job | None:
    for row in tx.execute(_CRASHED_LANES, (queue,)).fetchall():
        gate = to_gate(row)
        if room(gate, to_instant(now), 1):
            (turn,) = next_turns(tx, 1)
            admitted = admit(gate, to_instant(now), 1)
            write_gate(tx, now, admitted, awake=row[2] != ASLEEP, turn=turn)
            return tx.execute(_CRASHED, (queue, gate.scope.lane)).fetchone()
    return None


def _hand_out(
    tx: sqlite3.Connection, now: int, requested: ClaimRequest, handed: ClaimedRows, ids: str
) -> None:
    """Write the lease, and the jobs as running under it."""
    if handed.before or handed.after:
        in_lanes = [row[0] for row in (*handed.before, *handed.after)]
        ids = to_json([*in_lanes, *decode_numbers(ids)])
    started = None if requested.started else "[]"
    cursor = tx.execute(_LEASE, (now + requested.lease, requested.worker, ids, started))
    handed.lease = cursor.lastrowid or 0
    tx.execute(_HAND_OUT, (handed.lease, ids))


class _Walk:
    """A walk along the lanes that may start something, in turn; served ones go behind."""

    def __init__(self, tx: sqlite3.Connection, now: int, queue: str, wanted: int) -> None:
        self._tx = tx
        self._now = now
        self._instant = to_instant(now)
        self._queue = queue
        most = wanted + MORE_LANES
        rows = tx.execute(_LANES, (queue, most)).fetchall()
        self.is_partial = len(rows) == most
        self._gates = {row[1]: to_gate(row) for row in rows}
        self._taken: dict[str, int] = dict.fromkeys(self._gates, 0)
        self._looked_at: dict[str, None] = {}  # in the order of serving
        self._empty: set[str] = set()

    def take(self, wanted: int) -> list[_Job]:
        """Take up to `wanted` jobs, from each lane what its gate allows."""
        taken: list[_Job] = []
        for lane, gate in self._gates.items():
            if len(taken) >= wanted:
                break
            if lane not in self._empty:
                taken += self._take_from(lane, gate, wanted - len(taken))
        return taken

    def _take_from(self, lane: str, gate: Gate, wanted: int) -> list[_Job]:
        places = room(gate, self._instant, wanted)
        before = self._taken[lane]
        rows = self._tx.execute(_IN_LANE, (self._queue, lane, places, before)).fetchall()
        if len(rows) < places:
            self._empty.add(lane)
        self._gates[lane] = admit(gate, self._instant, len(rows))
        self._taken[lane] += len(rows)
        self._looked_at.pop(lane, None)
        self._looked_at[lane] = None
        return rows

    def write(self) -> None:
        """Write the gates of the lanes that were looked at."""
        turns = iter(next_turns(self._tx, len(self._looked_at)))
        for lane in self._looked_at:
            turn = next(turns) if self._taken[lane] else 0
            awake = lane not in self._empty
            write_gate(self._tx, self._now, self._gates[lane], awake=awake, turn=turn)


def _to_claimed(row: _Job, queue: str, lease: int) -> Claimed:
    id_, task, payload, attempts, crashes, run_at, lane, options, schedule, snoozes, progress = row
    return Claimed(
        id_,
        lease,
        task,
        payload,
        queue,
        attempts,
        crashes,
        to_instant(run_at),
        lane,
        options,
        schedule,
        snoozes,
        progress,
    )
