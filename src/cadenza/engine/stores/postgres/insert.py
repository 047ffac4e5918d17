"""Taking jobs in: one statement for plain jobs, COPY for many, a script for rules and lanes.

A script runs on any connection (see `sql/script.py`), so a job can join the caller's own
transaction. Ids are drawn first and in order, so what is added together is claimed in the
order in which it was given, however the statements below group it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from cadenza.engine.job import Enqueued, NewJob
from cadenza.engine.stores.postgres.entry import draw, due_of
from cadenza.engine.stores.postgres.pack import Value, pack_rows
from cadenza.engine.stores.postgres.rows import DEFERRED, READY, array_literal
from cadenza.sql.postgres import LONG_SECONDS, Connection
from cadenza.sql.script import Script, Statement

POLL_FLOOR = timedelta(seconds=5)  # what is due sooner must be told; for the rest sleepers look
SELDOM = ("priority", "options", "schedule", "tags")


def is_plain(job: NewJob) -> bool:
    """Say whether a job needs neither a rule nor a lane."""
    return job.rule is None and job.lane is None


def is_far_ahead(job: NewJob, now: datetime) -> bool:
    """Say whether sleepers look by themselves before a job is due; by our clock, as a bell is a hint."""
    if job.run_at is not None:
        return job.run_at > now + POLL_FLOOR
    return job.delay is not None and job.delay > POLL_FLOOR


def insert_script(
    sql: Mapping[str, str],
    jobs: Sequence[NewJob],
    *,
    channel: str,
    tell: Iterable[str] | None = None,
) -> Script[list[Enqueued]]:
    """Script: add jobs within the open transaction, answer each in order.

    `tell` names the queues whose workers are told; None means all that got work.
    """
    told = {job.queue for job in jobs} if tell is None else set(tell)
    if all(map(is_plain, jobs)):
        return (yield from _insert_plain(sql, jobs, channel, told))
    entry = yield from draw(sql, jobs)
    yield from entry.throttle()
    yield from entry.pace()
    for wave in entry.statement_batches():
        yield from entry.add([draft for draft in wave if not draft.debounced])
        yield from entry.debounce([draft for draft in wave if draft.debounced])
    yield from entry.open_lanes()
    queues = sorted(entry.queues_due(POLL_FLOOR) & told)
    if queues:
        yield Statement(sql["notify"], (channel, queues))
    return entry.answers()


def _insert_plain(
    sql: Mapping[str, str], jobs: Sequence[NewJob], channel: str, told: set[str]
) -> Script[list[Enqueued]]:
    found = yield Statement(sql["insert_plain"], _columns(jobs, channel, told))
    return [Enqueued("inserted", row[0], row[1]) for row in sorted(found, key=lambda row: row[0])]


def _columns(jobs: Sequence[NewJob], channel: str, told: Iterable[str]) -> tuple[Any, ...]:
    """Lay out plain jobs for `insert_plain`."""
    return (
        [job.queue for job in jobs],
        [job.task for job in jobs],
        [job.payload for job in jobs],
        [job.priority for job in jobs],
        [job.run_at for job in jobs],
        [job.delay for job in jobs],
        [job.options for job in jobs],
        [job.schedule for job in jobs],
        [array_literal(job.tags) for job in jobs],
        channel,
        list(told),
    )


async def insert_one(
    connection: Connection, sql: Mapping[str, str], job: NewJob, *, channel: str, tell: bool
) -> list[Enqueued]:
    """Add one plain job in one round trip."""
    row = await connection.fetchrow(
        sql["insert_one"],
        *(job.queue, job.task, job.payload, job.priority, job.run_at, job.delay),
        *(job.options, job.schedule, job.tags or None, channel, tell),
    )
    assert row is not None
    return [Enqueued("inserted", row[0], row[1])]


async def copy_uniform(
    connection: Connection,
    sql: Mapping[str, str],
    template: NewJob,
    payloads: Iterable[str],
    *,
    count: int,
    schema: str,
) -> list[Enqueued]:
    """Add many jobs that differ in their payload alone; payloads are made while COPY runs."""
    row = await connection.fetchrow(sql["take_ids"], count)
    assert row is not None
    now, ids = row
    run_at = due_of(template, now)
    same: dict[str, Value] = {
        "created_at": now,
        "run_at": run_at,
        "state": READY if run_at <= now else DEFERRED,
        "queue": template.queue,
        "task": template.task,
    }
    same |= {name: value for name in SELDOM if (value := getattr(template, name))}
    await connection.copy_to_table(
        "job",
        schema_name=schema,
        columns=["id", "payload", *same],
        source=pack_rows(ids, payloads, same=same),
        format="binary",
        timeout=LONG_SECONDS,
    )
    return [Enqueued("inserted", id_, run_at) for id_ in ids]


async def copy_in(
    connection: Connection, sql: Mapping[str, str], jobs: Sequence[NewJob], *, schema: str
) -> list[Enqueued]:
    """Add many plain jobs by COPY, within the open transaction."""
    row = await connection.fetchrow(sql["take_ids"], len(jobs))
    assert row is not None
    now, ids = row
    due = [due_of(job, now) for job in jobs]
    columns: dict[str, Sequence[Any]] = {
        "id": ids,
        "created_at": [now] * len(jobs),
        "run_at": due,
        "state": [READY if run_at <= now else DEFERRED for run_at in due],
        "queue": [job.queue for job in jobs],
        "task": [job.task for job in jobs],
        "payload": [job.payload for job in jobs],
    }
    for name in SELDOM:  # what no job says is left to the table's defaults: each column costs
        values = [getattr(job, name) or None for job in jobs]
        if any(values):
            columns[name] = [value or 0 for value in values] if name == "priority" else values
    await connection.copy_records_to_table(
        "job",
        schema_name=schema,
        columns=columns,
        records=zip(*columns.values(), strict=True),
        timeout=LONG_SECONDS,
    )
    return [Enqueued("inserted", id_, run_at) for id_, run_at in zip(ids, due, strict=True)]
