"""Sync handlers: in threads, with their context, and never in each other's way."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from cadenza.engine import Engine, Hooks, Running, State
from cadenza.engine.job import Claimed
from tests.engine.conftest import AMPLE, finished, working

WHO: ContextVar[str] = ContextVar("who", default="nobody")


async def test_stop_iteration_from_a_thread_is_an_error_like_any_other(engine: Engine) -> None:
    @engine.task(retry=0)
    def run_dry() -> int:
        return next(iter([]))

    async with working(engine, grace=0.1):
        (job,) = await finished(engine, (await run_dry.enqueue()).id)

    assert job.state is State.FAILED
    assert "StopIteration" in job.errors[-1]


async def test_a_thread_that_outlives_its_limit_takes_no_place(engine: Engine) -> None:
    go = threading.Event()

    @engine.task(time_limit=0.02, retry=0)
    def hang() -> None:
        go.wait(10 * AMPLE)

    @engine.task(time_limit=AMPLE, retry=0)
    def quick() -> str:
        return "ran"

    try:
        async with working(engine, concurrency=1):
            await finished(engine, *[(await hang.enqueue()).id for _ in range(3)])
            (job,) = await finished(engine, (await quick.enqueue()).id)
    finally:
        go.set()

    assert job.state is State.DONE


async def test_a_sync_handler_sees_the_context_that_wraps_its_run() -> None:
    async def around(_: Claimed, run: Callable[[], Awaitable[Any]]) -> Any:
        WHO.set("ada")
        return await run()

    async with Engine("memory://", hooks=Hooks(around=around)) as engine:

        @engine.task
        def who() -> str:
            return WHO.get()

        async with working(engine):
            (job,) = await finished(engine, (await who.enqueue()).id)
        assert await engine.output(job.id) == "ada"


async def test_what_a_handler_sets_in_its_context_ends_with_its_run(engine: Engine) -> None:
    @engine.task
    async def who(name: str) -> str:
        before = WHO.get()
        WHO.set(name)
        await asyncio.sleep(0)
        return f"{before}, {WHO.get()}"

    async with working(engine, concurrency=1):
        jobs = [(await who.enqueue(name=name)).id for name in ("ada", "ben", "cy")]
        await finished(engine, *jobs)

    seen = [await engine.output(id_) for id_ in jobs]
    assert seen == ["nobody, ada", "nobody, ben", "nobody, cy"]


async def test_a_sync_handler_reports_progress(engine: Engine) -> None:
    @engine.task
    def work(job: Running) -> None:
        job.report_from_thread({"done": 7})

    async with working(engine):
        (job,) = await finished(engine, (await work.enqueue()).id)

    assert job.progress == '{"done":7}'


def test_a_stuck_thread_does_not_keep_the_process() -> None:
    program = """
import asyncio, threading
from cadenza.engine import Engine

async def main():
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with Engine("memory://") as engine:
        @engine.task
        def stuck():
            loop.call_soon_threadsafe(begun.set)
            threading.Event().wait()
        worker = engine.worker(grace=0.05)
        running = asyncio.create_task(worker.run())
        await stuck.enqueue()
        await begun.wait()
        worker.stop()
        await running

asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", program], timeout=20, check=True)
