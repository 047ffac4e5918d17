"""Jobs in MongoDB: many processes, one truth, each step atomic on one document.

No transactions are needed, so one node serves as well as a replica set or a compatible server.
Writes ask for a majority and the journal: what was acknowledged then survives a step-down. Other
processes' news are found by the poll. Limit: no index here can be unique over shards, so the
collections must not be sharded.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import wraps
from types import CoroutineType
from typing import Any, Concatenate, ParamSpec, TypeVar

from pymongo.errors import PyMongoError

import cadenza.engine.stores.mongo.gate as gating
import cadenza.engine.stores.mongo.insert as inserting
import cadenza.engine.stores.mongo.inspect_jobs as looking
import cadenza.engine.stores.mongo.rescue as rescuing
import cadenza.engine.stores.mongo.schedules as scheduling
import cadenza.engine.stores.mongo.settle as settling
from cadenza.core.clock import Clock
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import (
    Enqueued,
    Filter,
    Gate,
    Job,
    Limit,
    NewJob,
    Schedule,
    Scope,
    State,
    Tally,
    WorkerInfo,
)
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Batch, Changed, Renewal, Rescue, Traits, Wake
from cadenza.engine.stores.mongo.claim import Claims
from cadenza.engine.stores.mongo.connection import MongoConnection, matched
from cadenza.engine.stores.mongo.documents import read_worker, write_worker

SILENT = timedelta(hours=1)  # a worker not heard of for so long is forgotten

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


def _step(
    method: "Callable[Concatenate[S, P], CoroutineType[Any, Any, R]]",
) -> "Callable[Concatenate[S, P], CoroutineType[Any, Any, R]]":
    """Let callers see one kind of trouble, whatever the driver raised."""

    @wraps(method)
    async def run(store: S, *args: P.args, **options: P.kwargs) -> R:
        try:
            return await method(store, *args, **options)
        except PyMongoError as error:
            raise StoreUnavailable(f"MongoDB refused {method.__name__}: {error}") from error

    return run


class MongoStore:
    """Jobs in the collections of a database that begin with a prefix."""

    traits = Traits(
        name="mongo", durable=True, notifies=False, joins_transactions=False, many_processes=True
    )

    def __init__(
        self, address: str, *, prefix: str | None = None, clock: Clock | None = None
    ) -> None:
        self._connection = self._make_connection(address, prefix=prefix, clock=clock)
        self._claims = Claims(self._connection)

    def _make_connection(
        self, address: str, *, prefix: str | None, clock: Clock | None
    ) -> MongoConnection:
        return MongoConnection(address, prefix=prefix, clock=clock)

    @_step
    async def open(self) -> None:
        """Connect, and make the indexes that are missing."""
        await self._connection.open()

    async def close(self) -> None:
        """Let go of every connection."""
        await self._claims.close()
        await self._connection.close()

    @_step
    async def now(self) -> datetime:
        """Read the server's clock."""
        return await self._connection.now()

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` on news of this process."""
        return self._connection.watch(wake)

    @_step
    async def insert(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add jobs, all or none, and answer each in order."""
        answers = await inserting.insert(self._connection, jobs)
        self._connection.wake(job.queue for job in jobs)
        return answers

    @_step
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
        """Lease up to `limit` runnable jobs, or say when to ask again."""
        return await self._claims.claim(
            queue, limit=limit, worker=worker, lease=lease, alone=alone, started=started
        )

    @_step
    async def start(self, jobs: Mapping[int, Sequence[int]]) -> None:
        """Mark jobs as started, one write a lease."""
        await rescuing.start(self._connection, jobs)

    @_step
    async def next_due(self, queue: str) -> datetime | None:
        """Say when something of the queue becomes runnable."""
        return await self._claims.next_due(queue, await self._connection.now())

    @_step
    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        """Extend leases, and hear of cancels."""
        return await rescuing.renew(self._connection, worker, leases, lease=lease)

    @_step
    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        """Write outcomes under their fences; return those refused."""
        refused = await settling.settle(self._connection, settlements, closed)
        if any(settlement.park for settlement in settlements):
            self._claims.invalidate()
        return refused

    @_step
    async def rescue(self, *, crash_limit: int) -> Rescue:
        """Take back what expired leases hold."""
        taken = await rescuing.rescue(self._connection, crash_limit)
        if taken.returned:
            self._claims.invalidate()
        return taken

    @_step
    async def get(self, ids: Sequence[int]) -> list[Job]:
        """Return the jobs of these ids that exist."""
        return await looking.get(self._connection, ids)

    @_step
    async def find(self, wanted: Filter) -> list[Job]:
        """List jobs, newest first."""
        return await looking.find(self._connection, wanted)

    @_step
    async def tally(self) -> list[Tally]:
        """Count by queue and state."""
        return await looking.tally(self._connection)

    @_step
    async def cancel(self, ids: Sequence[int], *, reason: str) -> list[Changed]:
        """Cancel waiting jobs, ask for running ones."""
        answers = await looking.cancel(self._connection, ids, reason)
        self._claims.invalidate()
        return answers

    @_step
    async def revive(self, ids: Sequence[int]) -> list[Changed]:
        """Let finished jobs wait again and waiting ones go now."""
        answers = await looking.revive(self._connection, ids)
        self._claims.invalidate()
        return answers

    @_step
    async def report(self, id: int, lease: int, progress: str) -> bool:
        """Write progress under the fence."""
        fence = {"_id": id, "state": State.RUNNING.value, "lease": lease}
        change = {"$set": {"progress": progress}}
        return matched(await self._connection.jobs.update_one(fence, change))

    @_step
    async def set_gate(
        self,
        scope: Scope,
        *,
        paused: bool | None = None,
        reason: str | None = None,
        limit: Limit | None = None,
        park: timedelta | None = None,
    ) -> Gate:
        """Change what is given, and wake the queue."""
        found = await gating.set_gate(
            self._connection, scope, paused=paused, reason=reason, limit=limit, park=park
        )
        self._connection.wake({scope.queue})
        return found

    @_step
    async def gates(self) -> list[Gate]:
        """Show every gate."""
        return await gating.all_gates(self._connection)

    @_step
    async def put_schedule(self, schedule: Schedule, *, keep_paused: bool = False) -> Schedule:
        """Insert or replace by name."""
        return await scheduling.put(self._connection, schedule, keep_paused=keep_paused)

    @_step
    async def set_schedule(self, name: str, *, paused: bool) -> Schedule | None:
        """Pause or open one, if it is there."""
        return await scheduling.change(self._connection, name, paused=paused)

    @_step
    async def drop_schedule(self, name: str) -> bool:
        """Forget a schedule; jobs that it made stay."""
        return await scheduling.drop(self._connection, name)

    @_step
    async def schedules(self, *, due_only: bool = False) -> list[Schedule]:
        """List schedules by name."""
        return await scheduling.list_all(self._connection, due_only=due_only)

    @_step
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
        """Move a schedule on and let its jobs go, unless another did it."""
        return await scheduling.fire(
            self._connection,
            name,
            revision=revision,
            expected=expected,
            next_at=next_at,
            note=note,
            jobs=jobs,
        )

    @_step
    async def prune(self, *, done: timedelta, failed: timedelta, limit: int) -> int:
        """Delete finished jobs older than these ages."""
        return await looking.prune(self._connection, done=done, failed=failed, limit=limit)

    @_step
    async def beat(self, worker: WorkerInfo) -> None:
        """Write a worker's heartbeat."""
        now = await self._connection.now()
        paper = write_worker(worker, now)
        await self._connection.workers.update_one(
            {"_id": worker.name}, {"$set": paper}, upsert=True
        )
        await self._connection.workers.delete_many({"seen_at": {"$lt": now - SILENT}})

    @_step
    async def workers(self) -> list[WorkerInfo]:
        """List workers by name."""
        found = self._connection.workers.find({}).sort("_id", 1)
        return [read_worker(paper) async for paper in found]

    @_step
    async def vital_signs(self) -> dict[str, str]:
        """Say what our promises rest on."""
        hello = await self._connection.greet()
        build = await self._connection.client.admin.command("buildInfo")
        replica = hello.get("setName")
        return {
            "store": "mongo",
            "version": str(build.get("version", "unknown")),
            "topology": f"replica set {replica}" if replica else "one node",
            "durability": "majority, journaled"
            if replica
            else "journaled on one node: what that disk loses is lost",
            "collections": f"{self._connection.database.name}.{self._connection.prefix}_*",
        }
