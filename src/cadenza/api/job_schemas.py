"""The engine's jobs, gates and schedules as they travel: all that is known of each.

A client can make the engine's own values of them again (`cadenza/cli/remote_jobs.py` does), so nothing that
`cadenza jobs` shows is left out. What a store keeps as JSON is shown as the value that it means.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.schemas import InputModel, Line, loads
from cadenza.core.recurrence import Preview
from cadenza.engine.job import Gate, Job, Limit, Schedule, Scope, State, Tally
from cadenza.engine.options import LONGEST_NAME, check_name
from cadenza.engine.why import Check, Why


def judge_name(name: str) -> str:
    """Refuse a name that the engine would refuse, before anything is written down."""
    check_name("it", name)
    return name


Lane = Annotated[
    str, StringConstraints(min_length=1, max_length=LONGEST_NAME), AfterValidator(judge_name)
]


class JobView(BaseModel):
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
    unique_key: str | None = Field(description="One live job of this key at a time")
    tags: list[str]
    options: Any = Field(description="What this job overrides of its task")
    schedule: str | None
    lease: int = Field(description="Rises with every claim; writes of an older one are refused")
    lease_until: datetime | None
    worker: str | None
    cancel_requested: bool
    progress: Any
    output: Any
    errors: list[Any]
    finished_at: datetime | None


class JobChanged(JobView):
    """A job after it was asked to change."""

    answer: Literal["changed", "requested", "unchanged"] = Field(
        description="`requested`: its worker was asked to stop; `unchanged`: it is in no state for that"
    )


class JobPage(BaseModel):
    """Some jobs, newest first; `before` of the next page is `next`."""

    items: list[JobView]
    next: int | None = None


class RateView(BaseModel):
    """At most `count` starts in so many seconds; `burst` of them may go together."""

    count: int
    per_seconds: float
    burst: int


class LimitView(BaseModel):
    """How much may run: at once, and per time."""

    concurrency: int | None = None
    rate: RateView | None = None


class GateView(BaseModel):
    """What holds a queue or one lane of it back."""

    queue: str
    lane: str | None = None
    paused: bool = False
    reason: str | None = None
    parked_until: datetime | None = None
    limit: LimitView = LimitView()
    in_flight: int = 0
    next_start: datetime | None = Field(
        default=None, description="Of a rate: when the next start is free"
    )


class JobQueueView(GateView):
    """A queue: what stands in it, and whether it is open."""

    counts: dict[State, int]


class JobScheduleView(BaseModel):
    """A recurring job."""

    name: str
    task: str
    recurrence: Any
    payload: Any
    queue: str
    priority: int
    lane: str | None
    options: Any
    overlap: str
    missed: str
    paused: bool
    next_at: datetime | None
    last_at: datetime | None
    last_note: str | None
    revision: int


class Occurrence(BaseModel):
    """One coming occurrence; `mark` tells where clocks change."""

    at: datetime
    wall_time: str
    zone: str
    mark: str


class CheckView(BaseModel):
    """One gate on the way of a job."""

    name: str
    passed: bool
    message: str
    next_at: datetime | None
    who: str | None


class WhyView(BaseModel):
    """Why a job does not run now: in one sentence, and gate by gate."""

    message: str
    next_at: datetime | None
    checks: list[CheckView]


class Changed(BaseModel):
    """What became of each."""

    changed: list[int]


class Redrive(InputModel):
    """Which dead letters to bring back."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"queue": "default", "limit": 100}]})
    queue: str | None = Field(default=None, max_length=LONGEST_NAME)
    task: str | None = Field(default=None, max_length=LONGEST_NAME)
    limit: int = Field(default=100, ge=1, le=1000, strict=True)


class PauseQueue(InputModel):
    """Why, and whether only one lane of it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "the mail server moves"}]})
    reason: Line
    lane: Lane | None = None


class ResumeQueue(InputModel):
    """Whether only one lane of it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"lane": None}]})
    lane: Lane | None = None


class CancelJob(InputModel):
    """Why."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "no longer wanted"}]})
    reason: Line = "canceled by request"


def show_queues(tallies: Sequence[Tally], gates: Sequence[Gate]) -> list[JobQueueView]:
    """Show every queue that has jobs or a gate."""
    own = {gate.scope.queue: gate for gate in gates if gate.scope.lane is None}
    counts: dict[str, dict[State, int]] = {queue: {} for queue in own}
    for tally in tallies:
        counts.setdefault(tally.queue, {})[tally.state] = tally.count
    return [
        JobQueueView(
            **show_gate(own.get(name, Gate(Scope(name)))).model_dump(), counts=counts[name]
        )
        for name in sorted(counts)
    ]


def show_gate(gate: Gate) -> GateView:
    """Show a gate."""
    return GateView(
        queue=gate.scope.queue,
        lane=gate.scope.lane,
        paused=gate.paused,
        reason=gate.reason,
        parked_until=gate.parked_until,
        limit=_limit(gate.limit),
        in_flight=gate.in_flight,
        next_start=gate.next_start,
    )


def show_job(job: Job) -> JobView:
    """Show a job."""
    return JobView(**_job(job))


def show_change(job: Job, answer: Literal["changed", "requested", "unchanged"]) -> JobChanged:
    """Show a job with what became of it."""
    return JobChanged(**_job(job), answer=answer)


def show_why(why: Why) -> WhyView:
    """Show why a job does not run."""
    return WhyView(
        message=why.sentence, next_at=why.next_at, checks=[_check(each) for each in why.checks]
    )


def show_schedule(schedule: Schedule) -> JobScheduleView:
    """Show a schedule."""
    return JobScheduleView(
        name=schedule.name,
        task=schedule.task,
        recurrence=loads(schedule.recurrence),
        payload=loads(schedule.payload),
        queue=schedule.queue,
        priority=schedule.priority,
        lane=schedule.lane,
        options=loads(schedule.options),
        overlap=schedule.overlap,
        missed=schedule.missed,
        paused=schedule.paused,
        next_at=schedule.next_at,
        last_at=schedule.last_at,
        last_note=schedule.last_note,
        revision=schedule.revision,
    )


def show_occurrence(preview: Preview) -> Occurrence:
    """Show a coming occurrence."""
    return Occurrence(
        at=preview.instant,
        wall_time=preview.wall.strftime("%Y-%m-%d %H:%M:%S"),
        zone=str(preview.zone),
        mark=preview.mark,
    )


def _job(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "queue": job.queue,
        "task": job.task,
        "state": job.state,
        "payload": loads(job.payload),
        "priority": job.priority,
        "created_at": job.created_at,
        "run_at": job.run_at,
        "attempts": job.attempts,
        "crashes": job.crashes,
        "snoozes": job.snoozes,
        "lane": job.lane,
        "unique_key": job.unique_key,
        "tags": list(job.tags),
        "options": loads(job.options),
        "schedule": job.schedule,
        "lease": job.lease,
        "lease_until": job.lease_until,
        "worker": job.worker,
        "cancel_requested": job.cancel_requested,
        "progress": loads(job.progress),
        "output": loads(job.output),
        "errors": [loads(each) for each in job.errors],
        "finished_at": job.finished_at,
    }


def _limit(limit: Limit) -> LimitView:
    rate = limit.rate
    if rate is None:
        return LimitView(concurrency=limit.concurrency)
    shown = RateView(count=rate.count, per_seconds=rate.per.total_seconds(), burst=rate.burst)
    return LimitView(concurrency=limit.concurrency, rate=shown)


def _check(check: Check) -> CheckView:
    return CheckView(
        name=check.name,
        passed=check.passed,
        message=check.message,
        next_at=check.next_at,
        who=check.who,
    )
