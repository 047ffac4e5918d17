"""Schedules and workers: the two small tables beside the jobs."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from cadenza.engine.job import Enqueued, NewJob, Schedule, WorkerInfo
from cadenza.engine.notes import firing_note
from cadenza.engine.stores.sqlite.insert import insert_jobs
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.values import (
    decode_texts,
    span,
    to_instant,
    to_instant_or_none,
    to_json,
    to_number,
    to_number_or_none,
)

SILENT = span(timedelta(hours=1))  # a worker not heard of for so long is forgotten

_FIELDS = (
    "name, task, recurrence, payload, queue, priority, lane, options, overlap, missed, paused,"
    " next_at, last_at, last_note, revision"
)
_READ = load("read_schedule")
_LIST = load("list_schedules")
_PUT = load("put_schedule")
_DUE = load("list_due_schedules")
_MOVE = "UPDATE schedule SET next_at = ?, last_at = ?, last_note = ? WHERE name = ?"
_SET = "UPDATE schedule SET paused = ?, revision = revision + 1 WHERE name = ?"
_BEAT = load("beat")


def put_schedule(
    tx: sqlite3.Connection, _now: int, schedule: Schedule, *, keep_paused: bool
) -> Schedule:
    """Replace by name, keep what is known of the past, and the place in an unchanged recurrence."""
    row = tx.execute(_READ, (schedule.name,)).fetchone()
    if row is not None:
        old = _to_schedule(row)
        schedule = replace(
            schedule, revision=old.revision + 1, last_at=old.last_at, last_note=old.last_note
        )
        if schedule.recurrence == old.recurrence:
            schedule = replace(schedule, next_at=old.next_at)
        if keep_paused:
            schedule = replace(schedule, paused=old.paused)
    tx.execute(
        _PUT,
        (
            *(schedule.name, schedule.task, schedule.recurrence, schedule.payload, schedule.queue),
            *(schedule.priority, schedule.lane, schedule.options, schedule.overlap),
            *(schedule.missed, schedule.paused, to_number_or_none(schedule.next_at)),
            *(to_number_or_none(schedule.last_at), schedule.last_note, schedule.revision),
        ),
    )
    return schedule


def set_schedule(tx: sqlite3.Connection, _now: int, name: str, *, paused: bool) -> Schedule | None:
    """Pause or open a schedule, if it is there."""
    tx.execute(_SET, (paused, name))
    row = tx.execute(_READ, (name,)).fetchone()
    return None if row is None else _to_schedule(row)


def drop_schedule(tx: sqlite3.Connection, _now: int, name: str) -> bool:
    """Forget a schedule; jobs that it made stay."""
    return tx.execute("DELETE FROM schedule WHERE name = ?", (name,)).rowcount == 1


def list_schedules(tx: sqlite3.Connection, now: int, *, due_only: bool) -> list[Schedule]:
    """List schedules by name."""
    rows = tx.execute(_DUE, (now,)) if due_only else tx.execute(_LIST)
    return [_to_schedule(row) for row in rows]


def fire(
    tx: sqlite3.Connection,
    now: int,
    name: str,
    *,
    revision: int,
    expected: datetime,
    next_at: datetime | None,
    note: str | None,
    jobs: Sequence[NewJob],
) -> list[Enqueued] | None:
    """Move on and insert, unless somebody else did."""
    row = tx.execute(_READ, (name,)).fetchone()
    if row is None:
        return None
    schedule = _to_schedule(row)
    if (schedule.revision, schedule.next_at) != (revision, expected):
        return None
    answers = insert_jobs(tx, now, jobs)
    moved = (to_number_or_none(next_at), to_number(expected), firing_note(note, answers), name)
    tx.execute(_MOVE, moved)
    return answers


def _to_schedule(row: tuple[Any, ...]) -> Schedule:
    names = _FIELDS.split(", ")
    fields: dict[str, Any] = dict(zip(names, row, strict=True))
    fields["paused"] = bool(fields["paused"])
    fields["next_at"] = to_instant_or_none(fields["next_at"])
    fields["last_at"] = to_instant_or_none(fields["last_at"])
    return Schedule(**fields)


def beat(tx: sqlite3.Connection, now: int, worker: WorkerInfo) -> None:
    """Remember a worker's last word, forget those long silent."""
    tx.execute(
        _BEAT,
        (
            *(worker.name, to_json(worker.queues), to_json(worker.tasks), worker.concurrency),
            *(to_number(worker.started_at), now, worker.running, worker.version, worker.skew),
        ),
    )
    tx.execute("DELETE FROM worker WHERE seen_at < ?", (now - SILENT,))


def list_workers(tx: sqlite3.Connection, _now: int) -> list[WorkerInfo]:
    """List workers by name."""
    return [
        WorkerInfo(
            name=name,
            queues=tuple(decode_texts(queues)),
            tasks=tuple(decode_texts(tasks)),
            concurrency=concurrency,
            started_at=to_instant(started_at),
            seen_at=to_instant(seen_at),
            running=running,
            version=version,
            skew=skew,
        )
        for name, queues, tasks, concurrency, started_at, seen_at, running, version, skew in (
            tx.execute("SELECT * FROM worker ORDER BY name")
        )
    ]
