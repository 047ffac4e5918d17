"""Between rows and the engine's nouns, both ways.

The numbers of states and of unique keys are this store's own; nobody outside sees them. Rows are
read by position where there are thousands of them, by name elsewhere.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from cadenza.engine.job import (
    Claimed,
    Gate,
    Job,
    Limit,
    Rate,
    Schedule,
    Scope,
    State,
    While,
    WorkerInfo,
)

DEFERRED, READY, RUNNING, CRASHED, DONE, FAILED, CANCELED = range(7)

STATES = {
    DEFERRED: State.WAITING,
    READY: State.WAITING,
    RUNNING: State.RUNNING,
    CRASHED: State.WAITING,
    DONE: State.DONE,
    FAILED: State.FAILED,
    CANCELED: State.CANCELED,
}
CODES: dict[State, tuple[int, ...]] = {
    state: tuple(code for code, named in STATES.items() if named is state) for state in State
}
WHILE = {While.QUEUED: 1, While.LIVE: 2}
LONG_TRANSACTION = 300.0  # seconds
EVER = datetime(1970, 1, 1, tzinfo=UTC)  # before any start
_order = itemgetter(4, 5, 0)  # priority, run_at, id
_run_at = itemgetter(5)
_id = itemgetter(0)

Record = Any  # an asyncpg row, or any other that is read by position and by name


def in_order(rows: Sequence[Any]) -> list[Any]:
    """Put the rows of a claim in the order in which they are to start; they come in any."""
    found = sorted(rows, key=_id)
    if len({row[4] for row in found}) == 1:
        found.sort(key=_run_at)  # stable; much cheaper than by all three
    else:
        found.sort(key=_order)
    return found


def read_plain(rows: Iterable[Any], queue: str) -> list[Claimed]:
    """Read the rows of a claim of plain jobs, most of which are as they were inserted."""
    return [
        Claimed(row[0], row[1], row[2], row[3], queue, 0, 0, row[5])
        if row[6] is None
        else _read_rest(Claimed(row[0], row[1], row[2], row[3], queue, 0, 0, row[5]), row[6])
        for row in rows
    ]


def _read_rest(job: Claimed, rest: Sequence[Any]) -> Claimed:
    attempts, crashes, snoozes, job.options, job.schedule, job.progress = rest
    job.attempts, job.crashes, job.snoozes = int(attempts), int(crashes), int(snoozes)
    return job


def read_claimed(rows: Iterable[Sequence[Any]], queue: str) -> list[Claimed]:
    """Read the rows of a claim."""
    return [
        Claimed(
            id_, lease, task, payload, queue, attempts, crashes, run_at,
            lane, options, schedule, snoozes, progress,
        )
        for (
            id_, lease, task, payload, _, run_at, attempts, crashes, snoozes,
            lane, options, schedule, progress, *_,
        ) in rows
    ]  # fmt: skip


def read_job(row: Record) -> Job:
    """Read all that is known of a job."""
    return Job(
        id=row["id"],
        queue=row["queue"],
        task=row["task"],
        state=STATES[row["state"]],
        payload=row["payload"],
        priority=row["priority"],
        created_at=row["created_at"],
        run_at=row["run_at"],
        attempts=row["attempts"],
        crashes=row["crashes"],
        snoozes=row["snoozes"],
        lane=row["lane"],
        unique_key=row["unique_key"],
        tags=tuple(row["tags"] or ()),
        options=row["options"],
        schedule=row["schedule"],
        lease=row["lease"],
        lease_until=row["until"],
        worker=row["worker"],
        cancel_requested=row["cancel_requested"],
        progress=row["progress"],
        output=row["output"],
        errors=tuple(row["errors"] or ()),
        finished_at=row["finished_at"],
    )


def read_gate(row: Record) -> Gate:
    """Read a gate."""
    rate = None
    if row["rate_count"] is not None:
        rate = Rate(row["rate_count"], row["rate_per"], row["rate_burst"])
    return Gate(
        scope=Scope(row["queue"], row["lane"] or None),
        paused=row["paused"],
        reason=row["reason"],
        parked_until=row["parked_until"],
        limit=Limit(row["concurrency"], rate),
        in_flight=row["in_flight"],
        next_start=row["next_start"],
    )


def opening(gate: Gate, *, served: datetime | None = None) -> datetime:
    """Say from when park and rate let a gate open, not before it was last served.

    A lane that was just served goes behind the others by this. Pause and concurrency are
    columns of their own, so they are left out here.
    """
    known = [
        EVER,
        *([served] if served else []),
        *([gate.parked_until] if gate.parked_until else []),
    ]
    rate = gate.limit.rate
    if rate is not None and gate.next_start is not None:
        known.append(gate.next_start - rate.interval * (rate.burst - 1))
    return max(known)


def read_schedule(row: Record) -> Schedule:
    """Read a schedule."""
    return Schedule(**dict(row))


def read_worker(row: Record) -> WorkerInfo:
    """Read a worker's last word."""
    found = dict(row)
    found["queues"], found["tasks"] = tuple(found["queues"]), tuple(found["tasks"])
    return WorkerInfo(**found)


def array_literal(texts: Sequence[str]) -> str | None:
    """Write texts as one array, because arrays of arrays of different lengths cannot be sent."""
    if not texts:
        return None
    quoted = ('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts)
    return "{" + ",".join(quoted) + "}"


def schedule_params(schedule: Schedule) -> tuple[Any, ...]:
    """Lay a schedule out for `put_schedule`."""
    return (
        schedule.name, schedule.task, schedule.recurrence, schedule.payload, schedule.queue,
        schedule.priority, schedule.lane, schedule.options, schedule.overlap, schedule.missed,
        schedule.paused, schedule.next_at, schedule.last_at, schedule.last_note, schedule.revision,
    )  # fmt: skip


def worker_params(worker: WorkerInfo) -> tuple[Any, ...]:
    """Lay a worker's word out for `beat_worker`; when it was heard is the database's to say."""
    return (
        worker.name, list(worker.queues), list(worker.tasks), worker.concurrency, worker.started_at,
        worker.running, worker.version, worker.skew,
    )  # fmt: skip


def vital_signs(row: Record, *, schema: str, listens: bool) -> dict[str, str]:
    """Word what `doctor` shows; a line that begins with a warning names what to change."""
    durable = (
        row["fsync"] == "on"
        and row["synchronous_commit"] != "off"
        and row["full_page_writes"] == "on"
    )
    signs = {
        "store": "postgres",
        "server": row["server"],
        "schema": schema,
        "durability": "what was acknowledged survives a power cut"
        if durable
        else "warning: fsync, full_page_writes and synchronous_commit must be on, or the last commits may be lost",
        "standbys": row["standbys"]
        or "none that commits wait for: a failover may lose the last commits",
        "wake-ups": "LISTEN/NOTIFY, and a poll" if listens else "a poll only",
        "autovacuum": row["autovacuum"]
        if row["autovacuum"] == "on"
        else "warning: off; tables will grow",
    }
    oldest = row["oldest_transaction"]
    if oldest is not None and oldest > LONG_TRANSACTION:
        signs["oldest transaction"] = (
            f"warning: open for {oldest:.0f} s; dead rows cannot be cleaned up meanwhile"
        )
    if row["standby"]:
        signs["role"] = "warning: a standby, which cannot be written to; connect to the primary"
    return signs
