"""Looking at jobs: by id, by filter, in numbers. All on a snapshot beside the writer."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from cadenza.engine.job import Filter, Job, State, Tally
from cadenza.engine.stores.sqlite.queries import load
from cadenza.engine.stores.sqlite.values import (
    STATES,
    decode_texts,
    to_instant,
    to_instant_or_none,
    to_json,
)

_JOB = load("show_jobs")


def get(tx: sqlite3.Connection, _now: int, ids: Sequence[int]) -> list[Job]:
    """Return the jobs of these ids that exist, in their order."""
    among = "WHERE id IN (SELECT value FROM json_each(?))"
    found = tx.execute(f"{_JOB} {among}", (to_json(ids),))
    jobs = {row[0]: _show(row) for row in found}
    return [jobs[id_] for id_ in ids if id_ in jobs]


def find(tx: sqlite3.Connection, _now: int, wanted: Filter) -> list[Job]:
    """List what fits, newest first."""
    tests: list[str] = []
    values: list[Any] = []
    for column in ("queue", "task", "lane", "schedule"):
        value = getattr(wanted, column)
        if value is not None:
            tests.append(f"job.{column} = ?")
            values.append(value)
    if wanted.states:
        numbers = [str(int(row)) for row, state in STATES.items() if state in wanted.states]
        tests.append(f"state IN ({', '.join(numbers)})")
    if wanted.tag is not None:
        tests.append("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)")
        values.append(wanted.tag)
    if wanted.before is not None:
        tests.append("id < ?")
        values.append(wanted.before)
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    rows = tx.execute(f"{_JOB} {where} ORDER BY id DESC LIMIT ?", (*values, wanted.limit))
    return [_show(row) for row in rows]


def tally(tx: sqlite3.Connection, _now: int) -> list[Tally]:
    """Count by queue and state."""
    counts: dict[tuple[str, State], int] = {}
    for queue, state, count in tx.execute(
        "SELECT queue, state, count(*) FROM job GROUP BY queue, state"
    ):
        key = (queue, STATES[state])
        counts[key] = counts.get(key, 0) + count
    return [Tally(queue, state, count) for (queue, state), count in sorted(counts.items())]


def _show(row: tuple[Any, ...]) -> Job:
    id_, queue, task, state, payload, priority, created_at, run_at, *row_ = row
    attempts, crashes, snoozes, lane, unique_key, tags, options, schedule, *rest = row_
    lease, until, worker, cancel_requested, progress, output, errors, finished_at = rest
    return Job(
        id=id_,
        queue=queue,
        task=task,
        state=STATES[state],
        payload=payload,
        priority=priority,
        created_at=to_instant(created_at),
        run_at=to_instant(run_at),
        attempts=attempts,
        crashes=crashes,
        snoozes=snoozes,
        lane=lane,
        unique_key=unique_key,
        tags=() if tags is None else tuple(decode_texts(tags)),
        options=options,
        schedule=schedule,
        lease=lease,
        lease_until=to_instant_or_none(until),
        worker=worker,
        cancel_requested=bool(cancel_requested),
        progress=progress,
        output=output,
        errors=() if errors is None else tuple(decode_texts(errors)),
        finished_at=to_instant_or_none(finished_at),
    )
