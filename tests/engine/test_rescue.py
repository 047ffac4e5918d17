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


async def test_a_job_that_a_process_died_with_runs_alone(engine: Engine) -> None:
    beside: list[int] = []
    running = 0

    @engine.task
    async def work(job: Running) -> None:
        nonlocal running
        running += 1
        if job.crashes:
            beside.append(running)
        await asyncio.sleep(0.003)
        if job.crashes:
            beside.append(running)
        running -= 1

    await work.enqueue_many([{}] * 6)
    suspects = await die_with(engine, 6)
    healthy = [answer.id for answer in await work.enqueue_many([{}] * 100)]
    async with working(engine, lease=SHORT, concurrency=8):
        await finished(engine, *suspects, *healthy)

    assert beside == [1] * 12


async def test_a_job_whose_process_keeps_dying_is_buried_and_says_why(engine: Engine) -> None:
    @engine.task
    async def work() -> None: ...

    queued = await work.enqueue()
    for _ in range(5):
        alone = bool((await engine.get(queued.id)).crashes)
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
