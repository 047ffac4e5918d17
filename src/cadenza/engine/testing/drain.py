"""Runs everything that is due, here and now, one by one, without a worker.

    drained = await drain(engine)

The claims, the executor and the settlements are the real ones; only waiting is left out. On a
`VirtualClock`, `until=` steps from one due time to the next, so a month of schedules is a loop.
Limit: nobody moves a virtual clock while a handler runs, so handlers must not sleep by it.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from cadenza.core.clock import Clock
from cadenza.engine.build_worker import WorkerOptions, make_executor
from cadenza.engine.client import Engine
from cadenza.engine.errors import InvalidJob
from cadenza.engine.executor import Executor
from cadenza.engine.job import Claimed, State
from cadenza.engine.loops.recur import Recurrer
from cadenza.engine.meters import Meters
from cadenza.engine.options import instant
from cadenza.engine.outcomes import Settlement, Stopped, Verdict
from cadenza.engine.slots import Slot
from cadenza.engine.threads import Threads

WORKER = "drain"
LEASE = timedelta(hours=1)


@runtime_checkable
class Movable(Protocol):
    """A clock that can be set on; `VirtualClock` is one."""

    async def advance(self, by: timedelta | float) -> None:
        """Let time pass."""
        ...


@dataclass(frozen=True, slots=True)
class Drained:
    """What a drain did."""

    counts: Mapping[Verdict, int]
    jobs: tuple[int, ...]
    """The jobs that ran, in order; one that was tried twice is there twice."""
    fired: int
    """Jobs that schedules made meanwhile."""

    @property
    def done(self) -> int:
        """How many runs ended well."""
        return self.counts.get(Verdict.DONE, 0)

    @property
    def failed(self) -> int:
        """How many jobs went to the dead letter."""
        return self.counts.get(Verdict.FAILED, 0)


async def drain(
    engine: Engine,
    until: datetime | None = None,
    queues: Sequence[str] | None = None,
    *,
    most: int = 10_000,
) -> Drained:
    """Run what is due; with `until`, all that comes due up to that instant.

    Without `queues` all of them. More than `most` runs are taken for a job that never ends.
    """
    pass_ = _Drain(engine, queues, most)
    try:
        await pass_.run_due()
        if until is not None:
            await pass_.step_to(instant("until", until))
    finally:
        pass_.threads.close()
    return Drained(dict(pass_.counts), tuple(pass_.jobs), pass_.meters.fired)


class _Drain:
    def __init__(self, engine: Engine, queues: Sequence[str] | None, most: int) -> None:
        self._engine = engine
        self._store = engine.store
        self._clock: Clock = engine.clock
        self._queues = queues
        self._most = most
        self.meters = Meters()
        self.threads = Threads(1)
        self.counts: Counter[Verdict] = Counter()
        self.jobs: list[int] = []
        self._recurrer = Recurrer(engine.store, meters=self.meters)
        self._executor: Executor = make_executor(
            WorkerOptions(
                store=engine.store,
                tasks=engine.tasks,
                clock=engine.clock,
                rng=engine.rng,
                hooks=engine.hooks,
                keep_done=engine.keep_done,
                keep_failed=engine.keep_failed,
            ),
            self.threads,
        )

    async def run_due(self) -> None:
        """Fire and run until nothing more is due."""
        while True:
            await self._recurrer.run_once()
            if not await self._run_round():
                return

    async def step_to(self, until: datetime) -> None:
        """Set the clock on from one due time to the next."""
        clock = self._clock
        if not isinstance(clock, Movable) or await self._store.now() != clock.now():
            message = "drain(until=...) needs an engine and a store on a VirtualClock"
            raise InvalidJob(message)
        while (at := await self._next_due()) is not None and at <= until:
            await clock.advance(at - clock.now())
            await self.run_due()
        await clock.advance(max(until - clock.now(), timedelta()))

    async def _run_round(self) -> bool:
        """Run one job of each queue, so that they take turns; say whether there was any."""
        ran = False
        for queue in await self._busy_queues():
            batch = await self._store.claim(queue, limit=1, worker=WORKER, lease=LEASE)
            if not batch.jobs and batch.crashed:
                batch = await self._store.claim(
                    queue, limit=1, worker=WORKER, lease=LEASE, alone=True
                )
            for claimed in batch.jobs:
                await self._run(claimed)
                ran = True
        return ran

    async def _busy_queues(self) -> list[str]:
        if self._queues is not None:
            return list(self._queues)
        return sorted(t.queue for t in await self._store.tally() if t.state is State.WAITING)

    async def _run(self, claimed: Claimed) -> None:
        if len(self.jobs) >= self._most:
            message = (
                f"drained {self._most} runs and there is still more: does a job make itself again?"
            )
            raise InvalidJob(message)
        settlement = await self._execute(claimed)
        self.jobs.append(claimed.id)
        self.counts[settlement.verdict] += 1
        await self._store.settle([settlement], closed=[claimed.lease])

    async def _execute(self, claimed: Claimed) -> Settlement:
        """Run one job in a task of its own, so that a time limit can end it."""
        guards: list[asyncio.Task[None]] = []

        def watch(deadline: float) -> None:
            guards.append(asyncio.ensure_future(self._guard(slot, deadline)))

        slot = Slot(self._clock, watch)
        slot.claimed = claimed
        slot.started = self._clock.monotonic()
        settlements: list[Settlement] = []

        async def run() -> None:
            settlements.append(await self._executor.run(claimed, slot))

        slot.task = asyncio.ensure_future(run())
        try:
            await asyncio.wait([slot.task])
        finally:
            for task in (*guards, slot.task):
                task.cancel()
        if slot.task.cancelled():
            return self._executor.stopped(claimed, slot.reason or Stopped.WITHIN)
        slot.task.result()
        return settlements[0]

    async def _guard(self, slot: Slot, deadline: float) -> None:
        await self._clock.sleep(max(deadline - self._clock.monotonic(), 0.0))
        slot.stop(Stopped.TIME_LIMIT)

    async def _next_due(self) -> datetime | None:
        now = self._clock.now()
        found = [s.next_at for s in await self._store.schedules() if not s.paused]
        found += [await self._store.next_due(queue) for queue in await self._busy_queues()]
        return min((at for at in found if at is not None and at > now), default=None)
