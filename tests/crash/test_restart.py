"""A database that goes away and comes back: the worker goes on by itself, nothing lost or doubled."""

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest

from cadenza.engine import Engine, State
from tests.engine.conftest import working
from tests.servers.postgres import PrivatePostgres

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("how", ["stop", "crash"])
async def test_a_worker_outlives_its_postgres(
    private_postgres: Callable[..., PrivatePostgres], how: str
) -> None:
    server = private_postgres(fsync=True)
    ends: Counter[int] = Counter()
    async with Engine(server.dsn) as engine:

        @engine.task
        async def nap(number: int) -> None:
            await asyncio.sleep(0.01)
            ends[number] += 1

        await nap.enqueue_many([{"number": n} for n in range(2000)])
        async with working(engine, concurrency=10) as worker:
            left = 0
            for _ in range(2):
                await asyncio.sleep(0.4)
                (server.stop if how == "stop" else server.crash)()
                left = 2000 - len(ends)
                await asyncio.sleep(1)
                server.start()
            async with asyncio.timeout(60):
                while len(ends) < 2000:
                    await asyncio.sleep(0.05)
            await asyncio.wait_for(worker.settler.empty.wait(), 10)
        tally = {t.state: t.count for t in await engine.store.tally()}

    assert left > 0, "all was done before the server went"
    assert tally == {State.DONE: 2000}
    # An outcome whose write was in doubt is written again under its fence; no run is repeated,
    # because the lease outlasts the outage.
    assert set(ends.values()) == {1}
