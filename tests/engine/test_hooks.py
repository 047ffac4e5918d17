import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from cadenza.engine import Engine, Hooks, State
from cadenza.engine.job import Claimed
from cadenza.engine.outcomes import Settlement
from tests.engine.conftest import finished, working


async def test_hooks_hear_of_start_jobs_errors_idleness_and_stop() -> None:
    heard: list[str] = []

    def on_job(claimed: Claimed, settlement: Settlement) -> None:
        heard.append(f"{claimed.task} {settlement.verdict}")

    async def on_error(error: BaseException, claimed: Claimed | None) -> None:
        heard.append(f"{type(error).__name__} in {claimed.task if claimed else None}")

    hooks = Hooks(
        on_start=lambda _: heard.append("start"),
        on_stop=lambda _: heard.append("stop"),
        on_job=on_job,
        on_error=on_error,
    )
    async with Engine("memory://", hooks=hooks) as engine:

        @engine.task(retry=0)
        async def fail() -> None:
            raise ValueError

        async with working(engine):
            await finished(engine, (await fail.enqueue()).id)

    assert heard == ["start", "ValueError in fail", "fail failed", "stop"]


async def test_a_failing_loop_is_told_without_a_job() -> None:
    heard: list[tuple[str, Claimed | None]] = []

    async def stumble() -> float:
        raise ZeroDivisionError

    hooks = Hooks(on_error=lambda error, job: heard.append((type(error).__name__, job)))
    async with Engine("memory://", hooks=hooks) as engine:
        worker = engine.worker()
        worker.duties.append(worker.loop("stumble", stumble))
        running = asyncio.create_task(worker.run())
        while not heard:
            await asyncio.sleep(0.001)
        worker.stop()
        await running

    assert heard == [("ZeroDivisionError", None)]


async def test_idleness_is_told_once_per_idle_period() -> None:
    idle = 0

    def on_idle(_: object) -> None:
        nonlocal idle
        idle += 1

    async with Engine("memory://", hooks=Hooks(on_idle=on_idle)) as engine:

        @engine.task
        async def work() -> None: ...

        async with working(engine, poll=0.01):
            await asyncio.sleep(0.1)
            assert idle == 1
            await finished(engine, (await work.enqueue()).id)
            await asyncio.sleep(0.1)
            assert idle == 2


async def test_a_hook_that_fails_stops_nothing() -> None:
    def on_job(*_: object) -> None:
        raise RuntimeError("a bad hook")

    async with Engine("memory://", hooks=Hooks(on_job=on_job)) as engine:

        @engine.task
        async def work() -> None: ...

        async with working(engine):
            (job,) = await finished(engine, (await work.enqueue()).id)

    assert job.state is State.DONE


async def test_around_wraps_every_run() -> None:
    heard: list[str] = []

    async def around(claimed: Claimed, run: Callable[[], Awaitable[Any]]) -> Any:
        heard.append(f"before {claimed.id}")
        try:
            return await run()
        finally:
            heard.append(f"after {claimed.id}")

    async with Engine("memory://", hooks=Hooks(around=around)) as engine:

        @engine.task
        async def work() -> int:
            return 7

        async with working(engine):
            (job,) = await finished(engine, (await work.enqueue()).id)

        assert heard == [f"before {job.id}", f"after {job.id}"]
        assert await engine.output(job.id) == 7
