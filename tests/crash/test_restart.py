"""A database that goes away and comes back: the worker goes on by itself, nothing lost or doubled."""

import asyncio
import faulthandler
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest

from cadenza.engine import Engine, State
from tests.engine.conftest import working
from tests.servers.postgres import PrivatePostgres

pytestmark = pytest.mark.slow

AMPLE = 180.0  # seconds, of which a lease takes thirty to run out


@pytest.mark.parametrize("how", ["stop", "crash"])
async def test_a_worker_outlives_its_postgres(
    private_postgres: Callable[..., PrivatePostgres], how: str
) -> None:
    faulthandler.cancel_dump_traceback_later()  # on a busy machine it may take longer than a test may
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
            async with asyncio.timeout(AMPLE):
                while len(ends) < 2000:
                    await asyncio.sleep(0.05)
            await asyncio.wait_for(worker.completer.empty.wait(), AMPLE)
        tally = {t.state: t.count for t in await engine.store.tally()}

    assert left > 0, "all was done before the server went"
    assert tally == {State.DONE: 2000}
    # An outcome whose write was unconfirmed is written again under its fence; no run is repeated,
    # because the lease outlasts the outage.
    assert set(ends.values()) == {1}


async def test_an_outage_longer_than_the_lease_makes_no_live_workers_job_run_twice(
    private_postgres: Callable[..., PrivatePostgres],
) -> None:
    server = private_postgres(fsync=True)
    begun: Counter[tuple[str, int]] = Counter()
    gone, back = asyncio.Event(), asyncio.Event()

    async def hold(who: str, number: int) -> None:
        begun[who, number] += 1
        await (back if number % 2 else gone).wait()  # half end while the server is away

    lease = timedelta(seconds=3)
    async with Engine(server.dsn) as ada, Engine(server.dsn) as ben:
        for name, engine in (("ada", ada), ("ben", ben)):
            task = engine.task(name="hold", queue=name)(hold)
            await task.enqueue_many([{"who": name, "number": n} for n in range(4)])
        async with (
            working(ada, "ada", concurrency=4, lease=lease) as first,
            working(ben, "ben", concurrency=4, lease=lease) as second,
        ):
            async with asyncio.timeout(30):
                while len(begun) < 8:
                    await asyncio.sleep(0.02)
            server.stop()
            gone.set()
            await asyncio.sleep(2 * lease.total_seconds())
            server.start()
            await asyncio.sleep(lease.total_seconds())  # time for a rescue that comes too early
            back.set()
            async with asyncio.timeout(60):
                while [t.count for t in await ada.store.tally() if t.state is State.DONE] != [4, 4]:
                    await asyncio.sleep(0.05)
            taken = first.meters.rescued + second.meters.rescued

    assert set(begun.values()) == {1}
    assert taken == 0
