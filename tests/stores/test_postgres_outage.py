"""What an outage of PostgreSQL is like beyond what all stores have in common (test_outage.py)."""

import asyncio
from collections.abc import Callable

import asyncpg
import pytest

from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import NewJob
from cadenza.engine.stores.postgres import PostgresStore
from tests.servers.postgres import PrivatePostgres

AMPLE = 60.0
Servers = Callable[..., PrivatePostgres]


async def test_a_call_waits_out_a_quick_restart(private_postgres: Servers) -> None:
    server = private_postgres()
    store = PostgresStore(server.dsn)
    store._database._patience = AMPLE  # a restart is quick only where the machine is not busy
    await store.open()
    server.stop()
    reading = asyncio.create_task(store.tally())
    await asyncio.sleep(0.2)
    assert not reading.done()
    await asyncio.to_thread(server.start)
    async with asyncio.timeout(AMPLE):
        assert await reading == []
    await store.close()


async def test_after_a_restart_watchers_are_woken(private_postgres: Servers) -> None:
    server = private_postgres()
    store = PostgresStore(server.dsn)
    await store.open()
    woken = asyncio.Event()
    store.watch(lambda queue: woken.set() if not queue else None)
    await asyncio.to_thread(server.restart)
    async with asyncio.timeout(AMPLE):
        await woken.wait()
    await store.close()


async def test_a_server_that_is_not_there_is_named_at_once(tmp_path: object) -> None:
    store = PostgresStore(f"postgresql://ada@/jobs?host={tmp_path}")
    store._database._patience = 0.2
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await store.open()


async def test_an_unknown_database_is_not_waited_for(private_postgres: Servers) -> None:
    store = PostgresStore(private_postgres().dsn_for("nowhere"))
    store._database._patience = 10 * AMPLE
    async with asyncio.timeout(AMPLE):
        with pytest.raises(StoreUnavailable, match="check the address"):
            await store.open()


async def test_a_cut_connection_costs_a_read_nothing(postgres_database: str) -> None:
    store = PostgresStore(postgres_database)
    await store.open()
    await store.insert([NewJob(task="greet")])
    await _cut_all(postgres_database)
    assert len(await store.tally()) == 1
    await store.close()


async def test_an_insert_that_is_cut_off_is_not_repeated_behind_the_callers_back(
    postgres_database: str,
) -> None:
    store = PostgresStore(postgres_database)
    await store.open()
    rival = await asyncpg.connect(postgres_database)
    async with rival.transaction(), asyncio.timeout(AMPLE):
        await rival.execute("LOCK TABLE cadenza.job IN ACCESS EXCLUSIVE MODE")
        inserting = asyncio.create_task(store.insert([NewJob(task="greet")]))
        cut = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        while not await rival.fetch(cut):
            await asyncio.sleep(0.01)
        with pytest.raises(StoreUnavailable) as said:
            await inserting
        assert "locks in time" not in str(said.value), "a second try has waited for the lock again"
    assert await store.tally() == []
    assert (await store.insert([NewJob(task="greet")]))[0].inserted
    await rival.close()
    await store.close()


async def test_a_locked_table_is_given_up_on_with_a_word(postgres_database: str) -> None:
    store = PostgresStore(postgres_database)
    await store.open()
    await store.insert([NewJob(task="greet")])
    rival = await asyncpg.connect(postgres_database)
    async with rival.transaction(), asyncio.timeout(AMPLE):
        await rival.execute("LOCK TABLE cadenza.job IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreUnavailable, match="locks in time"):
            await store.insert([NewJob(task="greet")])
    assert (await store.insert([NewJob(task="greet")]))[0].inserted
    await rival.close()
    await store.close()


async def _cut_all(dsn: str) -> None:
    admin = await asyncpg.connect(dsn)
    await admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name LIKE 'cadenza%' AND datname = current_database()"
    )
    await admin.close()
    await asyncio.sleep(0.05)
