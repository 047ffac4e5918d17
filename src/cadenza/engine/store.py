"""The two protocols between the engine and a database.

`Source` is what a worker needs: anything that can be claimed under a lease can be worked on, be
it jobs or a product's own rows. `Store` is a Source that also takes jobs in, lists and schedules
them. Stores hold atomic primitives; every rule (retries, limits, time policies) is the engine's.
A store says in its traits what it cannot do; an application says what it rests on (`needs` of
`Engine`), and where the two do not meet, the engine does not open.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Literal, Protocol, runtime_checkable

from cadenza.engine.errors import InvalidJob, MissingTrait, unknown
from cadenza.engine.job import (
    Claimed,
    Enqueued,
    Filter,
    Gate,
    Job,
    Limit,
    NewJob,
    Schedule,
    Scope,
    Tally,
    WorkerInfo,
)
from cadenza.engine.outcomes import Settlement


@dataclass(frozen=True, slots=True)
class Traits:
    """What a store can do, and how far its scopes reach.

    What the store cannot do and the application needs is an error when the engine opens; a pace that
    two tasks share over queues that the store counts apart, when they are declared.
    """

    name: str
    durable: bool  # what was acknowledged survives a power cut
    notifies: bool  # other processes' enqueues wake this one's workers
    joins_transactions: bool  # a job can be enqueued on the caller's own connection
    many_processes: bool
    scopes_span_queues: bool = False  # a lane's limits are counted per queue
    keys_span_queues: bool = True  # a unique, throttled or paced key is one for all queues


TRAITS = frozenset(each.name for each in fields(Traits)) - {"name"}


def check_traits(traits: Traits, needs: Iterable[str]) -> None:
    """Refuse a store that lacks what is needed."""
    for need in needs:
        if need not in TRAITS:
            raise InvalidJob(unknown("trait", need, TRAITS))
        if not getattr(traits, need):
            message = f"the {traits.name} store lacks {need}, which is needed: choose another store"
            raise MissingTrait(message)


ISOLATED = 2
"""Crashes from which on a job is a suspect: one may be a neighbour's fault, a second one rarely is."""


@dataclass(slots=True)
class Batch:
    """What a claim handed out, all under one lease; and when to ask again, if nothing is left."""

    lease: int
    jobs: list[Claimed]
    next_due: datetime | None = None  # of an empty or last batch; None: nothing is in sight
    crashed: bool = False  # jobs wait that `claim(alone=True)` would hand out
    drained: bool = False  # nothing more could run; a store that does not know says no
    look_again: float | None = None  # seconds, where others' news are not heard but looked for


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a heartbeat learnt: leases that are no longer ours, jobs that are to be canceled."""

    lost: frozenset[int] = frozenset()
    cancel: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Rescue:
    """What became of jobs whose worker fell silent."""

    returned: tuple[int, ...] = ()
    buried: tuple[int, ...] = ()  # to the dead letter: their process died once too often


Wake = Callable[[str], None]
"""Called with a queue's name when something may have become runnable there, or '' for any."""

TakeOver = Callable[[str, Batch, float], None]
"""Called with a queue, what was leased to us there, and when we last asked (monotonic)."""

Changed = Literal["changed", "requested", "unchanged", "unknown"]


class Source(Protocol):
    """What a worker works on."""

    @property
    def traits(self) -> Traits: ...

    async def now(self) -> datetime:
        """Read the clock that decides."""
        ...

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` on news, from now until the returned function is called."""
        ...

    async def claim(
        self,
        queue: str,
        *,
        limit: int,
        worker: str,
        lease: timedelta,
        alone: bool = False,
        started: bool = True,
    ) -> Batch:
        """Lease up to `limit` runnable jobs of a queue, each to one worker only.

        Plain jobs come by (priority, run_at, id), jobs of a lane in that order within their lane;
        neither kind starves the other. `alone` takes one suspect instead (see `rescue`): a worker
        holds at most one, beside its ordinary jobs. `started` marks all of them as started in the
        same step; without it they are only claimed, until `start` is told of them.
        """
        ...

    async def start(self, jobs: Mapping[int, Sequence[int]]) -> None:
        """Mark jobs as started, by lease, before they begin; a lease that is lost is passed over."""
        ...

    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        """Extend leases that are still held; say which are lost and what is to be canceled."""
        ...

    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        """Write outcomes, each only if (id, lease) still runs; return those refused.

        `closed` names leases of which nothing is left in hand. A job whose cancel was requested
        ends canceled instead of waiting again.
        """
        ...

    async def rescue(self, *, crash_limit: int) -> Rescue:
        """Take back what expired leases hold, or a large part of it; call until nothing comes.

        A job that was only claimed goes back as it was. One that was started counts a crash. From
        `ISOLATED` crashes on it is a suspect, claimed one at a time, so that of jobs that may kill
        their process no two share one; at `crash_limit` it fails.
        """
        ...

    async def next_due(self, queue: str) -> datetime | None:
        """Say when something of the queue becomes runnable; None if nothing is in sight."""
        ...


@runtime_checkable
class UniformInserts(Protocol):
    """A store that can stream in many jobs that differ in their payload alone."""

    async def insert_uniform(
        self, template: NewJob, payloads: Callable[[], Iterator[str]], count: int
    ) -> list[Enqueued]:
        """Add them in one transaction; `payloads` may be asked again, and may raise to add none."""
        ...


@runtime_checkable
class LeasesOnInsert(Protocol):
    """A source that leases a lone job to an idle worker in the very step that brings it in."""

    def stand_by(
        self, worker: str, take: TakeOver, *, idle: Callable[[], bool], most: int
    ) -> Callable[[], None]:
        """Hand such jobs to `take` until the returned function is called.

        Only where a claim of the worker found nothing while it was idle, in at most `most` queues,
        and one job for each such claim.
        """
        ...


class Store(Source, Protocol):
    """A Source of jobs that also takes them in, shows and schedules them."""

    async def open(self) -> None:
        """Connect and bring the schema up to date."""
        ...

    async def close(self) -> None: ...

    async def insert(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add jobs in one transaction, answer each in order."""
        ...

    async def get(self, ids: Sequence[int]) -> list[Job]:
        """Return the jobs of these ids that exist, live or finished."""
        ...

    async def find(self, wanted: Filter) -> list[Job]:
        """List jobs, newest first."""
        ...

    async def tally(self) -> list[Tally]: ...

    async def cancel(self, ids: Sequence[int], *, reason: str) -> list[Changed]:
        """Cancel waiting jobs; ask the workers of running ones to stop (`requested`)."""
        ...

    async def revive(self, ids: Sequence[int]) -> list[Changed]:
        """Make finished jobs wait again with fresh counters, waiting ones due now."""
        ...

    async def report(self, id: int, lease: int, progress: str) -> bool:
        """Write a running job's progress, if the lease still holds."""
        ...

    async def set_gate(
        self,
        scope: Scope,
        *,
        paused: bool | None = None,
        reason: str | None = None,
        limit: Limit | None = None,
        park: timedelta | None = None,
    ) -> Gate:
        """Change what is given: pause or open, limit, park from now (zero ends a park).

        A park only ever grows unless it is ended. Park and pause of a lane reach that lane.
        """
        ...

    async def gates(self) -> list[Gate]: ...

    async def put_schedule(self, schedule: Schedule, *, keep_paused: bool = False) -> Schedule:
        """Insert or replace by name; the revision rises; `last_*` of an existing one are kept.

        So is `next_at` while the recurrence stays the same: a change made from what was read a
        moment ago must not take back an occurrence that has fired meanwhile. With `keep_paused`
        so is whether it is paused, as it stands in the moment of the write.
        """
        ...

    async def set_schedule(self, name: str, *, paused: bool) -> Schedule | None:
        """Pause or open a schedule and change nothing else of it; the revision rises.

        None says that there is none of this name; it is not made, nor brought back.
        """
        ...

    async def drop_schedule(self, name: str) -> bool: ...

    async def schedules(self, *, due_only: bool = False) -> list[Schedule]: ...

    async def fire(
        self,
        name: str,
        *,
        revision: int,
        expected: datetime,
        next_at: datetime | None,
        note: str | None,
        jobs: Sequence[NewJob],
    ) -> list[Enqueued] | None:
        """Move a schedule on and insert its jobs, in one transaction.

        Only if it still stands at (`revision`, `expected`); None says that another did it.
        """
        ...

    async def prune(self, *, done: timedelta, failed: timedelta, limit: int) -> int:
        """Delete up to `limit` finished jobs older than these ages; never a live one."""
        ...

    async def beat(self, worker: WorkerInfo) -> None:
        """Write a worker's heartbeat for people and `why`; workers long silent are forgotten."""
        ...

    async def workers(self) -> list[WorkerInfo]: ...

    async def vital_signs(self) -> dict[str, str]:
        """Say what `doctor` shows: versions, settings, hazards."""
        ...
