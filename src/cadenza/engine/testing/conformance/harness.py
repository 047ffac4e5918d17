"""What the suite asks of a store's author: the store, and a way to move its clock.

`shift` moves the clock that decides (`Store.now`); a clock that also runs by itself says by how
much in `drift`. `peer` opens a second store on the same data, for what crosses processes. The
methods here only shorten the tests: one job in, some jobs out, one job looked at.
"""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.engine.job import Enqueued, Gate, Job, NewJob, Scope
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Batch, Rescue, Store

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
LEASE = timedelta(seconds=30)
NEVER = 1_000_000  # a crash limit that no test reaches


@dataclass(frozen=True, slots=True)
class Harness:
    """A store in a test's hands."""

    store: Store
    move: Callable[[timedelta], Awaitable[None] | None]
    drift: timedelta = timedelta()  # how far the clock may run by itself during one test
    peer: Callable[[], Awaitable[Store]] | None = None  # opens; the test closes

    async def shift(self, by: timedelta) -> None:
        """Set the store's clock on."""
        moved = self.move(by)
        if inspect.isawaitable(moved):
            await moved

    async def open_peer(self) -> Store:
        """Open a second store on the same data, or skip the test."""
        if self.peer is None:
            pytest.skip("the harness opens no second store")
        return await self.peer()

    def same(self, seen: datetime | None, wanted: datetime) -> bool:
        """Compare instants as exactly as the clock allows."""
        return seen is not None and abs(seen - wanted) <= self.drift

    async def insert(self, job: NewJob) -> Enqueued:
        """Insert one job."""
        return (await self.store.insert([job]))[0]

    async def add(self, task: str = "greet", **fields: Any) -> int:
        """Insert one job that nothing stops; return its id."""
        answer = await self.insert(NewJob(task=task, **fields))
        assert answer.inserted
        return answer.id

    async def take(
        self,
        limit: int = 10,
        *,
        queue: str = "default",
        worker: str = "ada",
        lease: timedelta = LEASE,
        alone: bool = False,
        started: bool = True,
    ) -> Batch:
        """Claim with the suite's defaults."""
        return await self.store.claim(
            queue, limit=limit, worker=worker, lease=lease, alone=alone, started=started
        )

    async def take_ids(
        self, limit: int = 10, *, queue: str = "default", alone: bool = False
    ) -> list[int]:
        """Claim; return only which jobs came."""
        return [job.id for job in (await self.take(limit, queue=queue, alone=alone)).jobs]

    async def settle(
        self, batch: Batch, verdict: Verdict = Verdict.DONE, *, closed: bool = True, **fields: Any
    ) -> list[Settlement]:
        """Settle all jobs of a batch alike; return the refused."""
        settlements = [Settlement(job.id, batch.lease, verdict, **fields) for job in batch.jobs]
        return await self.store.settle(settlements, closed=[batch.lease] if closed else [])

    async def run(
        self, verdict: Verdict = Verdict.DONE, *, limit: int = 10, **fields: Any
    ) -> list[int]:
        """Claim and settle; return which jobs it was."""
        batch = await self.take(limit)
        assert await self.settle(batch, verdict, **fields) == []
        return [job.id for job in batch.jobs]

    async def crash(
        self,
        limit: int = 10,
        *,
        alone: bool = False,
        started: bool = True,
        crash_limit: int = NEVER,
    ) -> Batch:
        """Claim, fall silent until the lease ran out, and be rescued."""
        batch = await self.take(limit, alone=alone, started=started)
        await self.expire(crash_limit=crash_limit)
        return batch

    async def crash_twice(self, limit: int = 10, *, crash_limit: int = NEVER) -> Batch:
        """Make crashed jobs of what can run now."""
        await self.crash(limit, crash_limit=crash_limit)
        return await self.crash(limit, crash_limit=crash_limit)

    async def expire(self, *, crash_limit: int = NEVER) -> Rescue:
        """Let what is held run out, and take it back."""
        await self.shift(LEASE + SECOND)
        return await self.store.rescue(crash_limit=crash_limit)

    async def job(self, id: int) -> Job:
        """Look at one job that exists."""
        (job,) = await self.store.get([id])
        return job

    async def gate(self, scope: Scope) -> Gate:
        """Look at one gate that exists."""
        (gate,) = [gate for gate in await self.store.gates() if gate.scope == scope]
        return gate


def read(text: str | None) -> Any:
    """Read a JSON text; a store may keep it in other spacing."""
    return None if text is None else json.loads(text)
