"""What a worker does about dead workers, lost leases and jobs that kill."""

import asyncio
from datetime import timedelta

from cadenza.engine import Engine, Running, State
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.testing.clock import VirtualClock
from tests.engine.conftest import finished, until, working

SHORT = timedelta(seconds=1)


async def die_with(engine: Engine, count: int) -> list[int]:
    """Claim jobs for a worker that is never heard of again, and let its lease run out."""
    batch = await engine.store.claim(
        "default", limit=count, worker="dead", lease=timedelta(milliseconds=1)
    )
    await asyncio.sleep(0.005)
    return [claimed.id for claimed in batch.jobs]


async def test_a_dead_workers_jobs_are_run_by_another(engine: Engine) -> None:
    @engine.task
    async def work(job: Running) -> int:
        return job.crashes

    await work.enqueue_many([{}] * 5)
    ids = await die_with(engine, 5)
    async with working(engine, lease=SHORT):
        jobs = await finished(engine, *ids)

    assert [job.crashes for job in jobs] == [1] * 5
    assert [await engine.output(job.id) for job in jobs] == [1] * 5


async def test_jobs_of_one_crash_run_together_again(engine: Engine) -> None:
    together = asyncio.Barrier(8)

    @engine.task
    async def work() -> None:
        await together.wait()

    await work.enqueue_many([{}] * 8)
    ids = await die_with(engine, 8)
    async with working(engine, lease=SHORT, concurrency=8):
        jobs = await finished(engine, *ids)

    assert [job.crashes for job in jobs] == [1] * 8


async def test_crashed_jobs_run_one_at_a_time_beside_others(engine: Engine) -> None:
    running: list[int] = []
    beside: list[int] = []
    held = asyncio.Event()

    @engine.task
    async def work(job: Running) -> None:
        if job.crashes < 2:
            return
        running.append(job.id)
        beside.append(len(running))
        await held.wait()
        running.remove(job.id)

    await work.enqueue_many([{}] * 6)
    crashed = await die_with(engine, 6)
    await engine.store.rescue(crash_limit=5)
    assert await die_with(engine, 6) == crashed
    async with working(engine, lease=SHORT, concurrency=3):
        while not running:
            await asyncio.sleep(0.01)
        healthy = [answer.id for answer in await work.enqueue_many([{}] * 100)]
        await finished(engine, *healthy)  # while the first suspect runs and five wait
        assert len(running) == 1
        held.set()
        await finished(engine, *crashed)

    assert beside == [1] * 6


async def test_only_jobs_that_were_begun_count_a_crash() -> None:
    """A worker that ran many short jobs has claimed ahead when they turn long, and dies."""
    store_clock = VirtualClock()
    async with Engine(MemoryStore(clock=store_clock)) as engine:

        @engine.task
        async def short() -> None:
            await asyncio.sleep(0)

        begun: list[None] = []

        @engine.task
        async def long() -> None:
            begun.append(None)
            await asyncio.sleep(30)

        await short.enqueue_many([{}] * 20_000)
        ids = [answer.id for answer in await long.enqueue_many([{}] * 2_000)]
        async with working(engine, concurrency=4, grace=0.0) as worker:
            while len(begun) < 4:
                await asyncio.sleep(0.01)
            claimed = len(worker.inventory.buffer)
            store_clock.shift(timedelta(minutes=1))
            await engine.store.rescue(crash_limit=5)
            crashed = [job for job in await engine.store.get(ids) if job.crashes]
            assert len(crashed) >= 4
            assert not claimed or len(crashed) < claimed


async def test_a_job_whose_process_keeps_dying_is_buried_and_says_why(engine: Engine) -> None:
    @engine.task
    async def work() -> None: ...

    queued = await work.enqueue()
    for _ in range(5):
        alone = (await engine.get(queued.id)).crashes >= 2
        await engine.store.claim(
            "default", limit=1, worker="dead", lease=timedelta(milliseconds=1), alone=alone
        )
        await asyncio.sleep(0.005)
        await engine.store.rescue(crash_limit=5)

    job = await engine.get(queued.id)
    assert job.state is State.FAILED
    assert "died 5 times" in job.errors[-1]


async def test_a_lost_lease_stops_the_run_and_writes_nothing() -> None:
    stopped = asyncio.Event()
    store_clock = VirtualClock()

    async with Engine(MemoryStore(clock=store_clock)) as engine:

        @engine.task
        async def work() -> None:
            try:
                await asyncio.sleep(30)
            finally:
                stopped.set()

        async with working(engine) as worker:
            queued = await work.enqueue()
            await until(engine, queued.id, State.RUNNING)
            store_clock.shift(timedelta(minutes=1))
            assert (await engine.store.rescue(crash_limit=5)).returned == (queued.id,)
            await engine.cancel(queued.id, reason="so that nobody takes it up again")
            await worker.heartbeat.run_once()
            await asyncio.wait_for(stopped.wait(), 5)

        assert worker.meters.refused == 1
        assert (await engine.get(queued.id)).state is State.CANCELED


async def test_a_long_run_keeps_its_lease_by_heartbeats(engine: Engine) -> None:
    @engine.task
    async def work() -> None:
        await asyncio.sleep(1.6)

    async with working(engine, lease=SHORT) as worker:
        queued = await work.enqueue()
        (job,) = await finished(engine, queued.id)

    assert (job.state, job.crashes) == (State.DONE, 0)
    assert worker.meters.refused == 0
