"""What the reference store keeps: rows, leases, and the lines in which waiting rows stand."""

from dataclasses import dataclass, field
from datetime import datetime

from cadenza.engine.job import Filter, NewJob, State, While


@dataclass(slots=True)
class Row:
    """A live or finished job."""

    id: int
    new: NewJob
    state: State
    created_at: datetime
    run_at: datetime
    payload: str
    unique_key: str | None = None
    unique_while: While = While.LIVE
    stamp: int = 0  # rises when the row moves: older heap entries are then stale
    attempts: int = 0
    crashes: int = 0
    snoozes: int = 0
    lease: int = 0
    cancel_requested: bool = False
    progress: str | None = None
    output: str | None = None
    errors: tuple[str, ...] = ()
    finished_at: datetime | None = None


@dataclass(slots=True)
class Lease:
    worker: str
    until: datetime
    jobs: set[int]
    started: set[int]


Heap = list[tuple[int, datetime, int, int]]  # priority, run_at, id, stamp


@dataclass(slots=True)
class WaitingLine:
    """Where jobs of one queue or lane stand: due ones, and those not yet due."""

    ready: Heap = field(default_factory=list)
    deferred: list[tuple[datetime, int, int]] = field(default_factory=list)
    crashed: Heap = field(default_factory=list)


def fits(row: Row, wanted: Filter) -> bool:
    return (
        (wanted.queue is None or row.new.queue == wanted.queue)
        and (wanted.task is None or row.new.task == wanted.task)
        and (not wanted.states or row.state in wanted.states)
        and (wanted.tag is None or wanted.tag in row.new.tags)
        and (wanted.lane is None or row.new.lane == wanted.lane)
        and (wanted.schedule is None or row.new.schedule == wanted.schedule)
        and (wanted.before is None or row.id < wanted.before)
    )
