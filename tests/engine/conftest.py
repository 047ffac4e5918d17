"""An engine on the reference store, and a worker that runs beside the test."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from cadenza.engine import Engine, State, Worker
from cadenza.engine.job import Job

Working = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with Engine("memory://") as opened:
        yield opened


@asynccontextmanager
async def working(engine: Engine, *queues: str, **settings: Any) -> AsyncGenerator[Worker]:
    """Run a worker for the length of the block, then stop it gracefully."""
    worker = engine.worker(queues or ("default",), **settings)
    running = asyncio.create_task(worker.run())
    await worker.started.wait()
    try:
        yield worker
    finally:
        worker.stop()
        await running


async def finished(engine: Engine, *ids: int) -> list[Job]:
    """Wait until jobs have come to an end, and return them."""
    async with asyncio.timeout(10):
        while True:
            jobs = await engine.store.get(ids)
            if len(jobs) == len(ids) and all(job.state.finished for job in jobs):
                return jobs
            await asyncio.sleep(0.005)


async def until(engine: Engine, id_: int, state: State) -> Job:
    """Wait until a job stands in a state."""
    async with asyncio.timeout(10):
        while True:
            job = await engine.get(id_)
            if job.state is state:
                return job
            await asyncio.sleep(0.005)
