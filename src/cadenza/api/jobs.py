"""The engine's jobs, for owners of the installation: queues, jobs, dead letters, schedules.

Jobs belong to the application, not to a workspace; their payloads are shown as they are stored, because only an owner
sees them, or a key that an owner gave `system:read`; `system:write` lets a key change what becomes of them. What a
queue's store does is not undone by `dry_run`, so these writes have none, nor is it of the audit's transaction: the
line is written first, so nothing is done without one.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel

from cadenza.api import job_schemas as shapes
from cadenza.api.job_schemas import (
    CancelJob,
    Changed,
    GateView,
    JobChanged,
    JobPage,
    JobQueueView,
    JobScheduleView,
    JobView,
    Occurrence,
    PauseQueue,
    Redrive,
    ResumeQueue,
    WhyView,
)
from cadenza.api.problems import not_found
from cadenza.api.request_context import Reader, WriteContext, WriterOnce
from cadenza.api.routes import INSTANCE, Resource
from cadenza.db.audit import record
from cadenza.engine.job import Filter, State
from cadenza.engine.known_queues import check_queue
from cadenza.engine.options import LONGEST_NAME
from cadenza.engine.store import Changed as Answered
from cadenza.people.model import INSTANCE as HOUSE

routes = Resource("jobs")
Shown = TypeVar("Shown", bound=BaseModel)
Number = Annotated[int, Path(ge=1, le=2**62)]
Name = Annotated[
    str,
    Path(min_length=1, max_length=LONGEST_NAME, pattern=r"^[^/\x00-\x1f]+$"),
    AfterValidator(shapes.judge_name),
]
NameAsked = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]
WHOLE = ResumeQueue()
NO_REASON = CancelJob()


@routes.get("/jobs/queues", needs=INSTANCE, scope="system:read")
async def list_queues(ask: Reader) -> list[JobQueueView]:
    """List the queues with their counts."""
    engine = ask.runtime.engine
    return shapes.show_queues(await engine.tally(), await engine.gates())


@routes.get("/jobs/gates", needs=INSTANCE, scope="system:read")
async def list_gates(ask: Reader) -> list[GateView]:
    """List the queues and lanes that are or were paused, parked or limited."""
    return [shapes.show_gate(each) for each in await ask.runtime.engine.gates()]


@routes.post("/jobs/queues/{queue}/pause", needs=INSTANCE, scope="system:write")
async def pause_queue(act: WriterOnce, queue: Name, body: PauseQueue) -> GateView:
    """Claim nothing more of a queue or of one lane of it, on all machines, over restarts."""
    await check_queue(act.runtime.engine, queue)  # an unknown one leaves no line

    async def pause() -> GateView:
        gate = await act.runtime.engine.pause(queue, body.lane, reason=body.reason)
        return shapes.show_gate(gate)

    return await _perform(act, "queue.pause", queue, pause, **_lane(body.lane), reason=body.reason)


@routes.post("/jobs/queues/{queue}/resume", needs=INSTANCE, scope="system:write")
async def resume_queue(act: WriterOnce, queue: Name, body: ResumeQueue = WHOLE) -> GateView:
    """Open a queue, or one lane of it, again."""

    async def resume() -> GateView:
        return shapes.show_gate(await act.runtime.engine.resume(queue, body.lane))

    return await _perform(act, "queue.resume", queue, resume, **_lane(body.lane))


@routes.get("/jobs", needs=INSTANCE, scope="system:read")
async def list_jobs(
    ask: Reader,
    queue: NameAsked = None,
    task: NameAsked = None,
    state: Annotated[list[State] | None, Query()] = None,
    tag: NameAsked = None,
    lane: NameAsked = None,
    schedule: NameAsked = None,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> JobPage:
    """List jobs, newest first."""
    wanted = Filter(
        queue=queue,
        task=task,
        states=tuple(state or ()),
        tag=tag,
        lane=lane,
        schedule=schedule,
        before=before,
        limit=limit,
    )
    found = await ask.runtime.engine.store.find(wanted)
    return JobPage(
        items=[shapes.show_job(job) for job in found],
        next=found[-1].id if len(found) == limit else None,
    )


@routes.get("/jobs/{job_id}", needs=INSTANCE, scope="system:read")
async def show_job(ask: Reader, job_id: Number) -> JobView:
    """Show one job."""
    return shapes.show_job(await ask.runtime.engine.get(job_id))


@routes.get("/jobs/{job_id}/why", needs=INSTANCE, scope="system:read")
async def why_job(ask: Reader, job_id: Number) -> WhyView:
    """Say why a job does not run now, when it may, and who can change that."""
    return shapes.show_why(await ask.runtime.engine.why(job_id))


@routes.post("/jobs/{job_id}/retry", needs=INSTANCE, scope="system:write")
async def retry_job(act: WriterOnce, job_id: Number) -> JobChanged:
    """Run a finished job again, or a waiting one now."""
    return await _change(act, "job.retry", job_id, lambda: act.runtime.engine.retry(job_id))


@routes.post("/jobs/{job_id}/cancel", needs=INSTANCE, scope="system:write")
async def cancel_job(act: WriterOnce, job_id: Number, body: CancelJob = NO_REASON) -> JobChanged:
    """Cancel a waiting job; ask a running one to stop."""

    def cancel() -> Awaitable[list[Answered]]:
        return act.runtime.engine.cancel(job_id, reason=body.reason)

    return await _change(act, "job.cancel", job_id, cancel)


@routes.post("/jobs/redrive", needs=INSTANCE, scope="system:write")
async def redrive_jobs(act: WriterOnce, body: Redrive) -> Changed:
    """Bring failed jobs back."""

    async def redrive() -> Changed:
        ids = await act.runtime.engine.redrive(queue=body.queue, task=body.task, limit=body.limit)
        return Changed(changed=ids)

    return await _perform(
        act, "job.redrive", body.queue or "*", redrive, task=body.task, limit=body.limit
    )


@routes.get("/schedules", needs=INSTANCE, scope="system:read")
async def list_schedules(ask: Reader) -> list[JobScheduleView]:
    """List the recurring jobs."""
    return [shapes.show_schedule(each) for each in await ask.runtime.engine.schedules()]


@routes.get("/schedules/{name}/preview", needs=INSTANCE, scope="system:read")
async def preview_schedule(
    ask: Reader, name: Name, n: Annotated[int, Query(ge=1, le=50)] = 5
) -> list[Occurrence]:
    """Show the next occurrences, marked where clocks change."""
    return [shapes.show_occurrence(each) for each in await ask.runtime.engine.preview(name, n)]


@routes.post("/schedules/{name}/pause", needs=INSTANCE, scope="system:write")
async def pause_schedule(act: WriterOnce, name: Name) -> JobScheduleView:
    """Fire nothing of a schedule until it is resumed."""
    await _find_schedule(act, name)

    async def pause() -> JobScheduleView:
        return shapes.show_schedule(await act.runtime.engine.pause_schedule(name))

    return await _perform(act, "schedule.pause", name, pause)


@routes.post("/schedules/{name}/resume", needs=INSTANCE, scope="system:write")
async def resume_schedule(act: WriterOnce, name: Name) -> JobScheduleView:
    """Let a schedule fire again."""
    await _find_schedule(act, name)

    async def resume() -> JobScheduleView:
        return shapes.show_schedule(await act.runtime.engine.resume_schedule(name))

    return await _perform(act, "schedule.resume", name, resume)


async def _change(
    act: WriteContext, action: str, job_id: int, do: Callable[[], Awaitable[list[Answered]]]
) -> JobChanged:
    """Change one job and say what became of it."""
    engine = act.runtime.engine
    await engine.get(job_id)  # an unknown one leaves no line

    async def change() -> JobChanged:
        (answer,) = await do()
        job = await engine.get(job_id)  # where it is gone meanwhile, that is the answer
        return shapes.show_change(job, "unchanged" if answer == "unknown" else answer)

    return await _perform(act, action, str(job_id), change)


async def _perform(
    act: WriteContext,
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
    return await act.save_response(await do())


async def _find_schedule(act: WriteContext, name: str) -> None:
    if not any(each.name == name for each in await act.runtime.engine.schedules()):
        raise not_found("schedule")


def _lane(lane: str | None) -> dict[str, str]:
    return {} if lane is None else {"lane": lane}
