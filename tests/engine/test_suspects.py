"""Jobs that a process died with, on a worker of several queues."""

import asyncio
from datetime import timedelta

from cadenza.engine import Engine, State
from cadenza.engine.loops.loop import Loop
from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.testing.clock import VirtualClock
from tests.engine.conftest import AMPLE, finished, until, working


async def test_a_crashed_job_is_not_starved_by_a_busy_second_queue(engine: Engine) -> None:
    @engine.task(queue="mail")
    async def crashed() -> None: ...

    @engine.task(queue="busy", keep=False)
    async def busy(again: int) -> None:
        await asyncio.sleep(0.001)
        await busy.enqueue(again=again)

    queued = await crashed.enqueue()
    for _ in range(2):
        await engine.store.claim("mail", limit=1, worker="dead", lease=timedelta(milliseconds=1))
        await asyncio.sleep(0.005)
        await engine.store.rescue(crash_limit=5)
    await busy.enqueue_many([{"again": n} for n in range(4)])
    async with working(engine, "mail", "busy", concurrency=4, grace=0.1):
        (job,) = await finished(engine, queued.id)

    assert (job.state, job.crashes) == (State.DONE, 2)


async def test_a_worker_that_slept_does_not_count_its_own_jobs_as_crashed() -> None:
    store_clock = VirtualClock()
    async with Engine(MemoryStore(clock=store_clock)) as engine:
        go = asyncio.Event()

        @engine.task
        async def work() -> None:
            await go.wait()

        async with working(engine) as worker:
            queued = await work.enqueue()
            await until(engine, queued.id, State.RUNNING)
            store_clock.shift(timedelta(minutes=5))  # the machine was suspended
            rescue = next(duty for duty in worker.duties if duty.name == "rescue")
            passed = _hear_pass(rescue)
            rescue.nudge()
            await asyncio.wait_for(passed.wait(), AMPLE)
            go.set()
            (job,) = await finished(engine, queued.id)

    assert (job.state, job.crashes) == (State.DONE, 0)


def _hear_pass(duty: Loop) -> asyncio.Event:
    """Say when a duty has passed once more."""
    passed, run_once = asyncio.Event(), duty._run_once

    async def run_and_tell() -> float:
        wait = await run_once()
        passed.set()
        return wait

    duty._run_once = run_and_tell
    return passed
