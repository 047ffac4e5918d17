"""Behind PgBouncer in transaction mode: no LISTEN, no prepared statements, polling does it."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from cadenza.engine import Engine, State
from cadenza.engine.stores.postgres import PostgresStore
from tests.engine.conftest import working
from tests.servers.databases import Databases
from tests.servers.pgbouncer import pgbouncer
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail


@pytest.fixture
async def pooled(postgres_databases: Databases) -> AsyncIterator[str]:
    name = postgres_databases.create()
    try:
        with pgbouncer(postgres_databases.server, name) as dsn:
            yield dsn
    except ServerUnavailableError as reason:
        skip_or_fail("pgbouncer", reason)
    finally:
        postgres_databases.drop(name)


async def test_two_workers_behind_a_small_pool_run_every_job_once(pooled: str) -> None:
    runs: Counter[int] = Counter()
    async with (
        Engine(PostgresStore(pooled, pooled=True)) as engine,
        Engine(PostgresStore(pooled, pooled=True)) as second,
    ):
        for each in (engine, second):

            @each.task(name="count")
            async def count(number: int) -> None:
                runs[number] += 1

        await engine.enqueue_many("count", [{"number": n} for n in range(500)])
        async with working(engine, poll=0.2), working(second, poll=0.2):
            await engine.enqueue("count", {"number": 500})
            async with asyncio.timeout(20):
                while len(runs) < 501:
                    await asyncio.sleep(0.02)
        tally = {t.state: t.count for t in await engine.store.tally()}

    assert set(runs.values()) == {1}
    assert tally == {State.DONE: 501}
