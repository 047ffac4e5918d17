"""The engine's jobs, for owners of the installation: queues, jobs, dead letters, schedules.

Jobs belong to the house, not to a workspace; their payloads are shown as they are stored, because only
an owner sees them. What a queue's store does is not undone by `dry_run`, so these writes have none, nor is it
of the audit's transaction: the line is written first, so nothing is done without one.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field

from cadenza.api.ask import Acting, Ask, Once
from cadenza.api.declare import INSTANCE, Resource
from cadenza.api.problems import not_found
from cadenza.api.shape import Asked, Line, loads
from cadenza.db.audit import record
from cadenza.engine.job import Filter, Gate, Job, Schedule, State, Tally
from cadenza.people.model import INSTANCE as HOUSE

routes = Resource("jobs")
Shown = TypeVar("Shown", bound=BaseModel)
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
async def pause_queue(act: Once, queue: Name, body: PauseQueue) -> QueueShown:
    """Claim nothing more of a queue, on all machines, over restarts."""

    async def pause() -> QueueShown:
        return _queue(await act.house.engine.pause(queue, reason=body.reason))

    return await _perform(act, "queue.pause", queue, pause, reason=body.reason)


@routes.post("/jobs/queues/{queue}/resume", needs=INSTANCE)
async def resume_queue(act: Once, queue: Name) -> QueueShown:
    """Open a queue again."""

    async def resume() -> QueueShown:
        return _queue(await act.house.engine.resume(queue))

    return await _perform(act, "queue.resume", queue, resume)


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
async def retry_job(act: Once, job_id: Number) -> JobShown:
    """Run a finished job anew, or a waiting one now."""
    await show_job(act, job_id)

    async def retry() -> JobShown:
        await act.house.engine.retry(job_id)
        return await show_job(act, job_id)

    return await _perform(act, "job.retry", str(job_id), retry)


@routes.post("/jobs/{job_id}/cancel", needs=INSTANCE)
async def cancel_job(act: Once, job_id: Number) -> JobShown:
    """Cancel a waiting job; ask a running one to stop."""
    await show_job(act, job_id)

    async def cancel() -> JobShown:
        await act.house.engine.cancel(job_id, reason="canceled by a person")
        return await show_job(act, job_id)

    return await _perform(act, "job.cancel", str(job_id), cancel)


@routes.post("/jobs/redrive", needs=INSTANCE)
async def redrive_jobs(act: Once, body: Redrive) -> Changed:
    """Bring failed jobs back."""

    async def redrive() -> Changed:
        ids = await act.house.engine.redrive(queue=body.queue, task=body.task, limit=body.limit)
        return Changed(changed=ids)

    return await _perform(
        act, "job.redrive", body.queue or "*", redrive, task=body.task, limit=body.limit
    )


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
async def pause_schedule(act: Once, name: Name) -> ScheduleShown:
    """Fire nothing of a schedule until it is resumed."""
    await _find_schedule(act, name)

    async def pause() -> ScheduleShown:
        return _schedule(await act.house.engine.pause_schedule(name))

    return await _perform(act, "schedule.pause", name, pause)


@routes.post("/schedules/{name}/resume", needs=INSTANCE)
async def resume_schedule(act: Once, name: Name) -> ScheduleShown:
    """Let a schedule fire again."""
    await _find_schedule(act, name)

    async def resume() -> ScheduleShown:
        return _schedule(await act.house.engine.resume_schedule(name))

    return await _perform(act, "schedule.resume", name, resume)


async def _perform(
    act: Acting,
    action: str,
    subject: str,
    do: Callable[[], Awaitable[Shown]],
    **after: Any,
) -> Shown:
    """Write down who does it, do it, and keep the answer for a repetition."""
    await act.claim_key()
    await act.change(
        lambda tx, now: record(
            tx, now, workspace_id=HOUSE, by=act.by, action=action, subject_id=subject, after=after
        )
    )
    return await act.keep_answer(await do())


async def _find_schedule(act: Acting, name: str) -> None:
    if not any(each.name == name for each in await act.house.engine.schedules()):
        raise not_found("schedule")


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
