"""An engine on each store, and a worker that runs beside the test."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cadenza.engine import Engine, State, Worker
from cadenza.engine.job import Job

AMPLE = 60.0  # seconds that a condition is waited for: long, because a machine may be busy
Working = Callable[..., AbstractAsyncContextManager[Worker]]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the engine keeps its jobs: every behaviour is the same on each store."""
    match request.param:
        case "sqlite":
            return f"sqlite:///{tmp_path}/jobs.sqlite3"
        case "postgres":
            return request.getfixturevalue("postgres_database")
        case _:
            return "memory://"


@pytest.fixture
async def engine(address: str) -> AsyncIterator[Engine]:
    async with Engine(address) as opened:
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
    async with asyncio.timeout(AMPLE):
        while True:
            jobs = await engine.store.get(ids)
            if len(jobs) == len(ids) and all(job.state.finished for job in jobs):
                return jobs
            await asyncio.sleep(0.005)


async def until(engine: Engine, id_: int, state: State) -> Job:
    """Wait until a job stands in a state."""
    async with asyncio.timeout(AMPLE):
        while True:
            job = await engine.get(id_)
            if job.state is state:
                return job
            await asyncio.sleep(0.005)
