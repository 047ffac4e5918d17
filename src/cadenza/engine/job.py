"""The nouns of the engine: what a job is, before, while and after it runs.

A job waits, runs under a lease, and ends done, failed or canceled; `TRANSITIONS` is the only
list of moves there is, and `docs/states.md` draws it. Values here are plain and frozen; stores
keep them, the worker moves them, nobody changes them in place. The four that are made for every
job are msgspec structs, which cost a tenth of a dataclass to make.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

import msgspec


class State(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def finished(self) -> bool:
        """Say whether nothing more happens by itself."""
        return self in (State.DONE, State.FAILED, State.CANCELED)


TRANSITIONS: frozenset[tuple[State, State]] = frozenset(
    {
        (State.WAITING, State.RUNNING),  # claimed under a lease
        (State.WAITING, State.CANCELED),  # canceled before it ran
        (State.RUNNING, State.DONE),
        (State.RUNNING, State.WAITING),  # retry, snooze, release, rescue
        (State.RUNNING, State.FAILED),  # out of attempts, refused, or its process kept dying
        (State.RUNNING, State.CANCELED),
        (State.FAILED, State.WAITING),  # redriven by a person
        (State.CANCELED, State.WAITING),
        (State.DONE, State.WAITING),
    }
)


def _in_seconds(value: object, *names: str) -> None:
    """Let a duration be given in seconds, as everywhere; the value keeps a timedelta."""
    for name in names:
        given = getattr(value, name)
        if isinstance(given, int | float):
            object.__setattr__(value, name, timedelta(seconds=given))


@dataclass(frozen=True, slots=True)
class Scope:
    """What a limit, a pause or a park applies to: a queue, or one lane of it."""

    queue: str
    lane: str | None = None

    def __str__(self) -> str:
        return self.queue if self.lane is None else f"{self.queue}/{self.lane}"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` starts in `per`, evenly spaced; `burst` of them may go together."""

    count: int
    per: timedelta
    burst: int = 1

    def __post_init__(self) -> None:
        _in_seconds(self, "per")

    @property
    def interval(self) -> timedelta:
        """The space between two starts."""
        return self.per / self.count


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of a scope may run: at once, and per time."""

    concurrency: int | None = None
    rate: Rate | None = None


class While(StrEnum):
    """How long a unique key is taken."""

    QUEUED = "queued"  # until the job is claimed
    LIVE = "live"  # until the job has finished


@dataclass(frozen=True, slots=True)
class Unique:
    """One job of this key at a time; a second one is answered with the first."""

    key: str
    while_: While = While.LIVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "while_", While(self.while_))


@dataclass(frozen=True, slots=True)
class Throttle:
    """One job of this key per period, the first; later ones are answered `throttled`."""

    key: str
    period: timedelta

    def __post_init__(self) -> None:
        _in_seconds(self, "period")


@dataclass(frozen=True, slots=True)
class Debounce:
    """A newer job of this key replaces the waiting one and waits again, at most `max_wait` in all."""

    key: str
    wait: timedelta
    max_wait: timedelta | None = None

    def __post_init__(self) -> None:
        _in_seconds(self, "wait", "max_wait")


@dataclass(frozen=True, slots=True)
class Pace:
    """Jobs of this key get instants at least `step` apart, in the order they came; none is dropped."""

    key: str
    step: timedelta

    def __post_init__(self) -> None:
        _in_seconds(self, "step")


Rule = Unique | Throttle | Debounce | Pace


class NewJob(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A job as it is handed to a store; `run_at` wins over `delay`, neither means now."""

    task: str
    payload: str = "{}"  # JSON text
    queue: str = "default"
    priority: int = 0  # lower goes first
    run_at: datetime | None = None
    delay: timedelta | None = None
    lane: str | None = None
    limit: Limit | None = None  # of the lane; kept with the lane when given
    rule: Rule | None = None
    tags: tuple[str, ...] = ()
    options: str | None = None  # JSON text: what this job overrides of its task
    schedule: str | None = None  # the schedule that made it


Outcome = Literal["inserted", "existing", "throttled", "debounced"]


class Enqueued(msgspec.Struct, frozen=True, gc=False):
    """The store's answer to one job: never silent about what became of it."""

    outcome: Outcome
    id: int
    run_at: datetime | None = None
    until: datetime | None = None  # of `throttled`: from then on the next one is taken

    @property
    def inserted(self) -> bool:
        """Say whether this call made a new job."""
        return self.outcome == "inserted"


class Claimed(msgspec.Struct, gc=False):
    """A job in a worker's hands, with the lease number that fences every later write."""

    id: int
    lease: int
    task: str
    payload: str
    queue: str
    attempts: int  # calls already used up; this one is number attempts + 1
    crashes: int
    run_at: datetime
    lane: str | None = None
    options: str | None = None
    schedule: str | None = None
    snoozes: int = 0
    progress: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """All that is known of one job, for people."""

    id: int
    queue: str
    task: str
    state: State
    payload: str
    priority: int
    created_at: datetime
    run_at: datetime
    attempts: int
    crashes: int
    snoozes: int
    lane: str | None = None
    unique_key: str | None = None
    tags: tuple[str, ...] = ()
    options: str | None = None
    schedule: str | None = None
    lease: int = 0
    lease_until: datetime | None = None
    worker: str | None = None
    cancel_requested: bool = False
    progress: str | None = None
    output: str | None = None
    errors: tuple[str, ...] = ()  # JSON texts, oldest first
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """The state of a scope: paused, parked until, limited, and how much runs in it."""

    scope: Scope
    paused: bool = False
    reason: str | None = None
    parked_until: datetime | None = None
    limit: Limit = Limit()
    in_flight: int = 0
    next_start: datetime | None = None  # of a rate: when the next start is free


@dataclass(frozen=True, slots=True)
class Tally:
    """How many jobs of a queue stand in a state."""

    queue: str
    state: State
    count: int


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker says of itself with each heartbeat."""

    name: str
    queues: tuple[str, ...]
    tasks: tuple[str, ...]
    concurrency: int
    started_at: datetime
    seen_at: datetime
    running: int = 0
    version: str = ""
    skew: float = 0.0  # seconds its own clock is ahead of the store's


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which jobs to list; what is None does not matter."""

    queue: str | None = None
    task: str | None = None
    states: tuple[State, ...] = ()
    tag: str | None = None
    lane: str | None = None
    schedule: str | None = None
    before: int | None = None  # ids below this one: the next page
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A recurring job as the store keeps it; the engine reads its recurrence."""

    name: str
    task: str
    recurrence: str  # JSON text, see recurring.py
    payload: str = "{}"
    queue: str = "default"
    priority: int = 0
    lane: str | None = None
    options: str | None = None
    overlap: str = "skip"
    missed: str = "once"
    paused: bool = False
    next_at: datetime | None = None  # None: nothing more to come
    last_at: datetime | None = None
    last_note: str | None = None  # what became of the last occurrence
    revision: int = 0
