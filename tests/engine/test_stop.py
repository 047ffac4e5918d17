import asyncio
import os
import signal

from cadenza.engine import Engine, State
from tests.engine.conftest import AMPLE, until, working


async def test_a_running_job_gets_its_grace(engine: Engine) -> None:
    go = asyncio.Event()

    @engine.task
    async def careful() -> str:
        await go.wait()
        return "finished"

    async with working(engine, grace=5) as worker:
        queued = await careful.enqueue()
        await until(engine, queued.id, State.RUNNING)
        worker.stop()
        asyncio.get_running_loop().call_later(0.05, go.set)

    assert State.DONE is (await engine.get(queued.id)).state


async def test_what_outlasts_the_grace_goes_back_without_a_burnt_attempt(engine: Engine) -> None:
    @engine.task
    async def endless() -> None:
        await asyncio.sleep(60)

    async with working(engine, grace=0.02):
        queued = await endless.enqueue()
        await until(engine, queued.id, State.RUNNING)

    job = await engine.get(queued.id)
    assert (job.state, job.attempts, job.crashes) == (State.WAITING, 0, 0)


async def test_what_was_claimed_and_not_begun_goes_back(engine: Engine) -> None:
    begun = 0

    @engine.task
    async def nap() -> None:
        nonlocal begun
        begun += 1
        await asyncio.sleep(0.01)

    await nap.enqueue_many([{}] * 500)
    async with working(engine, concurrency=5):
        await _stocked(engine, concurrency=5)

    jobs = await engine.find(limit=1000)
    assert {State.DONE, State.WAITING} == {job.state for job in jobs}
    assert begun == sum(job.state is State.DONE for job in jobs)
    assert not any(job.crashes or (job.attempts and job.state is State.WAITING) for job in jobs)


async def _stocked(engine: Engine, *, concurrency: int) -> None:
    """Wait until some are done, and more are claimed than can run."""
    async with asyncio.timeout(AMPLE):
        while True:
            counts = {tally.state: tally.count for tally in await engine.store.tally()}
            if counts.get(State.DONE, 0) and counts.get(State.RUNNING, 0) > concurrency:
                return
            await asyncio.sleep(0.005)


async def test_a_worker_can_be_started_and_stopped_again_and_again(engine: Engine) -> None:
    @engine.task(keep=False)
    async def nothing() -> None: ...

    for _ in range(20):
        async with working(engine):
            await nothing.enqueue()

    async with working(engine) as worker:
        while not worker.is_idle:
            await asyncio.sleep(0.001)
    assert await engine.store.tally() == []


async def test_a_stopped_worker_no_longer_counts_as_serving(engine: Engine) -> None:
    @engine.task
    async def nothing() -> None: ...

    async with working(engine):
        pass
    queued = await nothing.enqueue()

    assert "no running worker" in (await engine.why(queued.id)).sentence


async def test_a_second_signal_waits_for_no_grace(engine: Engine) -> None:
    @engine.task
    async def endless() -> None:
        await asyncio.sleep(60)

    async with working(engine, grace=60) as worker:
        worker.stop_on_signals([signal.SIGUSR1])
        queued = await endless.enqueue()
        await until(engine, queued.id, State.RUNNING)
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.sleep(0.05)
        assert State.RUNNING is (await engine.get(queued.id)).state
        os.kill(os.getpid(), signal.SIGUSR1)
        await until(engine, queued.id, State.WAITING)

    job = await engine.get(queued.id)
    assert (job.attempts, job.crashes) == (0, 0)
