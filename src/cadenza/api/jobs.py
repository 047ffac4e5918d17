"""The engine's jobs, for owners of the installation: queues, jobs, dead letters, schedules.

Jobs belong to the house, not to a workspace; their payloads are shown as they are stored, because only
an owner sees them. What a queue's store does is not undone by `dry_run`, so these writes have none.
"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from cadenza.api.ask import Ask, Asking
from cadenza.api.declare import INSTANCE, Resource
from cadenza.api.problems import not_found
from cadenza.api.shape import Asked, Line, loads
from cadenza.db.audit import record
from cadenza.engine.job import Filter, Gate, Job, Schedule, State, Tally
from cadenza.people.model import INSTANCE as HOUSE

routes = Resource("jobs")
Number = Annotated[int, Path(ge=1, le=2**62)]
Name = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[^/\x00-\x1f]+$")]
NameAsked = Annotated[str | None, Query(min_length=1, max_length=100)]


class JobShown(BaseModel):
    """A job and how far it got."""

    id: int
    queue: str
    task: str
    state: State
    payload: Any
    priority: int
    created_at: datetime
    run_at: datetime
    attempts: int
    crashes: int
    snoozes: int
    lane: str | None
    tags: list[str]
    schedule: str | None
    worker: str | None
    progress: Any
    errors: list[Any]
    finished_at: datetime | None


class JobPage(BaseModel):
    """Some jobs, newest first; `before` of the next page is `next`."""

    items: list[JobShown]
    next: int | None = None


class QueueShown(BaseModel):
    """A queue: what stands in it, and whether it is open."""

    queue: str
    counts: dict[State, int]
    paused: bool = False
    reason: str | None = None
    parked_until: datetime | None = None
    in_flight: int = 0


class ScheduleShown(BaseModel):
    """A recurring job."""

    name: str
    task: str
    queue: str
    recurrence: Any
    overlap: str
    missed: str
    paused: bool
    next_at: datetime | None
    last_at: datetime | None
    last_note: str | None


class Occurrence(BaseModel):
    """One coming occurrence; `mark` tells where clocks change."""

    at: datetime
    wall_time: str
    mark: str


class WhyShown(BaseModel):
    """Why a job does not run now."""

    says: str
    next_at: datetime | None


class Changed(BaseModel):
    """What became of each."""

    changed: list[int]


class Redrive(Asked):
    """Which dead letters to bring back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"queue": "default", "limit": 100}]})
    queue: str | None = Field(default=None, max_length=100)
    task: str | None = Field(default=None, max_length=100)
    limit: int = Field(default=100, ge=1, le=1000, strict=True)


class PauseQueue(Asked):
    """Why."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "the mail server moves"}]})
    reason: Line


@routes.get("/jobs/queues", needs=INSTANCE, scope="system:read")
async def list_queues(ask: Ask) -> list[QueueShown]:
    """List the queues with their counts."""
    store = ask.house.engine.store
    return _queues(await store.tally(), await store.gates())


@routes.post("/jobs/queues/{queue}/pause", needs=INSTANCE)
async def pause_queue(ask: Ask, queue: Name, body: PauseQueue) -> QueueShown:
    """Claim nothing more of a queue, on all machines, over restarts."""
    gate = await ask.house.engine.pause(queue, reason=body.reason)
    await _record(ask, "queue.pause", queue, {"reason": body.reason})
    return _queue(gate)


@routes.post("/jobs/queues/{queue}/resume", needs=INSTANCE)
async def resume_queue(ask: Ask, queue: Name) -> QueueShown:
    """Open a queue again."""
    gate = await ask.house.engine.resume(queue)
    await _record(ask, "queue.resume", queue, {})
    return _queue(gate)


@routes.get("/jobs", needs=INSTANCE, scope="system:read")
async def list_jobs(
    ask: Ask,
    queue: NameAsked = None,
    task: NameAsked = None,
    state: Annotated[list[State] | None, Query()] = None,
    schedule: NameAsked = None,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> JobPage:
    """List jobs, newest first."""
    wanted = Filter(
        queue=queue,
        task=task,
        states=tuple(state or ()),
        schedule=schedule,
        before=before,
        limit=limit,
    )
    found = await ask.house.engine.store.find(wanted)
    return JobPage(
        items=[_job(job) for job in found], next=found[-1].id if len(found) == limit else None
    )


@routes.get("/jobs/{job_id}", needs=INSTANCE, scope="system:read")
async def show_job(ask: Ask, job_id: Number) -> JobShown:
    """Show one job."""
    found = await ask.house.engine.store.get([job_id])
    if not found:
        raise not_found("job")
    return _job(found[0])


@routes.get("/jobs/{job_id}/why", needs=INSTANCE, scope="system:read")
async def why_job(ask: Ask, job_id: Number) -> WhyShown:
    """Say why a job does not run now."""
    why = await ask.house.engine.why(job_id)
    return WhyShown(says=why.sentence, next_at=why.next_at)


@routes.post("/jobs/{job_id}/retry", needs=INSTANCE)
async def retry_job(ask: Ask, job_id: Number) -> JobShown:
    """Run a finished job anew, or a waiting one now."""
    (answer,) = await ask.house.engine.retry(job_id)
    if answer == "unknown":
        raise not_found("job")
    await _record(ask, "job.retry", str(job_id), {})
    return await show_job(ask, job_id)


@routes.post("/jobs/{job_id}/cancel", needs=INSTANCE)
async def cancel_job(ask: Ask, job_id: Number) -> JobShown:
    """Cancel a waiting job; ask a running one to stop."""
    (answer,) = await ask.house.engine.cancel(job_id, reason="canceled by a person")
    if answer == "unknown":
        raise not_found("job")
    await _record(ask, "job.cancel", str(job_id), {})
    return await show_job(ask, job_id)


@routes.post("/jobs/redrive", needs=INSTANCE)
async def redrive_jobs(ask: Ask, body: Redrive) -> Changed:
    """Bring failed jobs back."""
    ids = await ask.house.engine.redrive(queue=body.queue, task=body.task, limit=body.limit)
    await _record(ask, "job.redrive", body.queue or "*", {"count": len(ids)})
    return Changed(changed=ids)


@routes.get("/schedules", needs=INSTANCE, scope="system:read")
async def list_schedules(ask: Ask) -> list[ScheduleShown]:
    """List the recurring jobs."""
    return [_schedule(each) for each in await ask.house.engine.schedules()]


@routes.get("/schedules/{name}/preview", needs=INSTANCE, scope="system:read")
async def preview_schedule(
    ask: Ask, name: Name, n: Annotated[int, Query(ge=1, le=50)] = 5
) -> list[Occurrence]:
    """Show the next occurrences, marked where clocks change."""
    return [
        Occurrence(
            at=each.instant, wall_time=each.wall.strftime("%Y-%m-%d %H:%M:%S"), mark=each.mark
        )
        for each in await ask.house.engine.preview(name, n)
    ]


@routes.post("/schedules/{name}/pause", needs=INSTANCE)
async def pause_schedule(ask: Ask, name: Name) -> ScheduleShown:
    """Fire nothing of a schedule until it is resumed."""
    schedule = await ask.house.engine.pause_schedule(name)
    await _record(ask, "schedule.pause", name, {})
    return _schedule(schedule)


@routes.post("/schedules/{name}/resume", needs=INSTANCE)
async def resume_schedule(ask: Ask, name: Name) -> ScheduleShown:
    """Let a schedule fire again."""
    schedule = await ask.house.engine.resume_schedule(name)
    await _record(ask, "schedule.resume", name, {})
    return _schedule(schedule)


async def _record(ask: Asking, action: str, subject: str, after: dict[str, Any]) -> None:
    await ask.change(
        lambda tx, now: record(
            tx, now, workspace_id=HOUSE, by=ask.by, action=action, subject_id=subject, after=after
        )
    )


def _queues(tallies: list[Tally], gates: list[Gate]) -> list[QueueShown]:
    shown = {gate.scope.queue: _queue(gate) for gate in gates if gate.scope.lane is None}
    for tally in tallies:
        queue = shown.setdefault(tally.queue, QueueShown(queue=tally.queue, counts={}))
        queue.counts[tally.state] = tally.count
    return [shown[name] for name in sorted(shown)]


def _queue(gate: Gate) -> QueueShown:
    return QueueShown(
        queue=gate.scope.queue,
        counts={},
        paused=gate.paused,
        reason=gate.reason,
        parked_until=gate.parked_until,
        in_flight=gate.in_flight,
    )


def _job(job: Job) -> JobShown:
    return JobShown(
        id=job.id,
        queue=job.queue,
        task=job.task,
        state=job.state,
        payload=loads(job.payload),
        priority=job.priority,
        created_at=job.created_at,
        run_at=job.run_at,
        attempts=job.attempts,
        crashes=job.crashes,
        snoozes=job.snoozes,
        lane=job.lane,
        tags=list(job.tags),
        schedule=job.schedule,
        worker=job.worker,
        progress=loads(job.progress),
        errors=[loads(each) for each in job.errors],
        finished_at=job.finished_at,
    )


def _schedule(schedule: Schedule) -> ScheduleShown:
    return ScheduleShown(
        name=schedule.name,
        task=schedule.task,
        queue=schedule.queue,
        recurrence=loads(schedule.recurrence),
        overlap=schedule.overlap,
        missed=schedule.missed,
        paused=schedule.paused,
        next_at=schedule.next_at,
        last_at=schedule.last_at,
        last_note=schedule.last_note,
    )
