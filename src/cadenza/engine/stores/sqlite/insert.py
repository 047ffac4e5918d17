"""Taking jobs in: an operation `(tx, now, jobs)`, so it joins whatever transaction it is called in.

Jobs without a rule go in by the dozens a statement; a rule looks at its key first, in the order in
which the jobs stand. Writers are serial on SQLite, so a key that was looked at stays as it was.
"""

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from cadenza.engine.job import (
    Debounce,
    Enqueued,
    Limit,
    NewJob,
    Pace,
    Scope,
    Throttle,
    Unique,
    While,
)
from cadenza.engine.stores.sqlite.gates import open_lane
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.values import Row, span, to_instant, to_json, to_number

_COLUMNS = (
    "state, priority, run_at, created_at, queue, task, lane, unique_key, unique_while,"
    " schedule, options, tags, payload"
)
_WIDTH = _COLUMNS.count(",") + 1
_CHUNKS = (64, 8, 1)  # rows a statement: few shapes, so that each stays prepared
_HOLDER = load("find_holder")
_PUSH_BACK = "UPDATE job SET payload = ?, run_at = ?, state = 0 WHERE id = ?"
_MARK = "INSERT OR REPLACE INTO marker (kind, key, at, job) VALUES (?, ?, ?, ?)"
_MARKED = "SELECT at, job FROM marker WHERE kind = ? AND key = ?"

_Values = tuple[Any, ...]
_Lanes = dict[Scope, tuple[Limit | None, bool]]


def insert_jobs(tx: sqlite3.Connection, now: int, jobs: Sequence[NewJob]) -> list[Enqueued]:
    """Add jobs one after the other at one instant; answer each in order."""
    answers: list[Enqueued] = []
    plain: list[NewJob] = []
    lanes: _Lanes = {}
    for job in jobs:
        if job.rule is None:
            plain.append(job)
            continue
        answers += _insert_plain(tx, now, plain, lanes)
        plain = []
        answers.append(_insert_ruled(tx, now, job, lanes))
    answers += _insert_plain(tx, now, plain, lanes)
    for scope, (limit, ready) in lanes.items():
        open_lane(tx, now, scope, limit=limit, ready=ready)
    return answers


def _insert_plain(
    tx: sqlite3.Connection, now: int, jobs: list[NewJob], lanes: _Lanes
) -> list[Enqueued]:
    if not jobs:
        return []
    instant = to_instant(now)
    times: list[datetime] = [
        job.run_at or (instant if job.delay is None else instant + job.delay) for job in jobs
    ]
    rows: list[_Values] = []
    for job, run_at in zip(jobs, times, strict=True):
        at = now if run_at is instant else to_number(run_at)
        rows.append(_row(job, now, at))
        if job.lane is not None:
            _note_lane(lanes, job, ready=at <= now)
    first = _write(tx, rows)
    return [Enqueued("inserted", id_, run_at) for id_, run_at in enumerate(times, start=first)]


def _row(
    job: NewJob, now: int, run_at: int, key: str | None = None, while_: While | None = None
) -> _Values:
    held = None if while_ is None else 1 if while_ is While.QUEUED else 2
    state = 1 if run_at <= now else 0
    tags = to_json(job.tags) if job.tags else None
    return (
        *(state, job.priority, run_at, now, job.queue, job.task, job.lane, key, held),
        *(job.schedule, job.options, tags, job.payload),
    )


def _note_lane(lanes: _Lanes, job: NewJob, *, ready: bool) -> None:
    scope = Scope(job.queue, job.lane)
    limit, was_ready = lanes.get(scope, (None, False))
    lanes[scope] = (job.limit or limit, ready or was_ready)


def _write(tx: sqlite3.Connection, rows: list[_Values]) -> int:
    """Insert rows in order; return the first one's id, the others follow it."""
    start = 0
    last = 0
    for size in _CHUNKS:
        while len(rows) - start >= size:
            values = [value for row in rows[start : start + size] for value in row]
            last = tx.execute(_statement(size), values).lastrowid or 0
            start += size
    return last - len(rows) + 1


@cache
def _statement(rows: int) -> str:
    marks = f"({', '.join('?' * _WIDTH)})"
    return f"INSERT INTO job ({_COLUMNS}) VALUES {', '.join([marks] * rows)}"  # noqa: S608 - marks only


def _insert_ruled(tx: sqlite3.Connection, now: int, job: NewJob, lanes: _Lanes) -> Enqueued:
    run_at = now + span(job.delay or timedelta()) if job.run_at is None else to_number(job.run_at)
    key: str | None = None
    while_: While | None = None
    match job.rule:
        case Unique(key, while_):
            if (holder := tx.execute(_HOLDER, (key,)).fetchone()) is not None:
                return Enqueued("existing", holder[0], to_instant(holder[2]))
        case Throttle(name):
            at, first = tx.execute(_MARKED, ("throttle", name)).fetchone() or (now, 0)
            if at > now:
                return Enqueued("throttled", first, until=to_instant(at))
        case Debounce(key, wait, max_wait):
            while_ = While.QUEUED
            run_at = now + span(wait if max_wait is None else min(wait, max_wait))
            if (holder := tx.execute(_HOLDER, (key,)).fetchone()) is not None:
                return _push_back(tx, holder, job, run_at)
        case Pace(name, step):
            at, _ = tx.execute(_MARKED, ("pace", name)).fetchone() or (run_at, 0)
            run_at = max(at, run_at)
            tx.execute(_MARK, ("pace", name, run_at + span(step), None))
        case None:
            pass
    id_ = _write(tx, [_row(job, now, run_at, key, while_)])
    if isinstance(job.rule, Throttle):
        tx.execute(_MARK, ("throttle", job.rule.key, now + span(job.rule.period), id_))
    if job.lane is not None:
        _note_lane(lanes, job, ready=run_at <= now)
    return Enqueued("inserted", id_, to_instant(run_at))


def _push_back(
    tx: sqlite3.Connection, holder: tuple[int, int, int, int], job: NewJob, run_at: int
) -> Enqueued:
    """Let the newest of a debounced key win, but not wait for ever."""
    id_, state, stands_at, created_at = holder
    if state == Row.RUNNING:  # a unique job of that key, in a worker's hands
        return Enqueued("existing", id_, to_instant(stands_at))
    if isinstance(job.rule, Debounce) and job.rule.max_wait is not None:
        run_at = min(run_at, created_at + span(job.rule.max_wait))
    tx.execute(_PUSH_BACK, (job.payload, run_at, id_))
    return Enqueued("debounced", id_, to_instant(run_at))
