"""A lock is waited for as long as those before it go on, and no longer than a bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime

import asyncpg
import pytest

from cadenza.sql import postgres as settings
from cadenza.sql.errors import Busy
from cadenza.sql.postgres import PostgresDatabase
from cadenza.sql.transactions import PostgresOperations
from cadenza.sql.tx import Tx

CROWD = 16
LOCKS = [f"account{n}" for n in range(8)]


@pytest.fixture
async def operations(postgres_database: str) -> AsyncIterator[PostgresOperations]:
    database = PostgresDatabase(postgres_database, spare=CROWD, session={"lock_timeout": "30ms"})
    await database.open()
    yield PostgresOperations(database)
    await database.close()


@pytest.fixture
async def outside(postgres_database: str) -> AsyncIterator[asyncpg.Connection]:
    connection: asyncpg.Connection = await asyncpg.connect(postgres_database)
    yield connection
    await connection.close()


def work_slowly(tx: Tx, _now: datetime) -> None:
    """Take longer, with fifteen before it, than a lock is waited for at once."""
    seen = tx.value("SELECT count FROM counter")
    tx.value("SELECT pg_sleep(0.01)")
    tx.run("UPDATE counter SET count = :next", next=seen + 1)


def count_on(tx: Tx, _now: datetime) -> int:
    return tx.run("UPDATE counter SET count = count + 1")


async def test_sixteen_that_want_the_same_eight_locks_all_get_them(
    operations: PostgresOperations, outside: asyncpg.Connection
) -> None:
    await outside.execute("CREATE TABLE counter (count bigint); INSERT INTO counter VALUES (0)")
    turned = [LOCKS[n % 8 :] + LOCKS[: n % 8] for n in range(CROWD)]
    await asyncio.gather(*(operations.run(work_slowly, locks=names) for names in turned))
    assert await outside.fetchval("SELECT count FROM counter") == CROWD


async def test_a_row_that_is_held_for_long_is_written_once_it_is_free(
    operations: PostgresOperations, outside: asyncpg.Connection
) -> None:
    await outside.execute("CREATE TABLE counter (count bigint); INSERT INTO counter VALUES (0)")
    async with outside.transaction():
        await outside.execute("UPDATE counter SET count = 1")
        waiting = asyncio.create_task(operations.run(count_on))
        starts: set[datetime] = set()
        while len(starts) < 3 and not waiting.done():  # it gave up twice and asked again
            held = await outside.fetch("SELECT waitstart FROM pg_locks WHERE NOT granted")
            starts |= {row["waitstart"] for row in held if row["waitstart"] is not None}
        assert not waiting.done()
    await waiting
    assert await outside.fetchval("SELECT count FROM counter") == 2


async def test_a_lock_that_never_comes_free_is_given_up_as_busy(
    operations: PostgresOperations, outside: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "LOCK_PATIENCE", 0.2)
    await outside.execute("CREATE TABLE counter (count bigint); INSERT INTO counter VALUES (0)")
    async with outside.transaction():
        await outside.execute("UPDATE counter SET count = 1")
        with pytest.raises(Busy):
            await operations.run(count_on)
