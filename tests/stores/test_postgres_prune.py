"""Retention: what throttle and pace remember of long ago goes too, some at a time."""

from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from cadenza.engine.job import NewJob, Throttle
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.postgres import store as postgres_store

DAY = timedelta(days=1)
FOREGONE = """
INSERT INTO cadenza.marker (kind, key, at)
SELECT 'throttle', 'key-' || n, now() - interval '2 days' FROM generate_series(1, $1::integer) AS n
"""


@pytest.fixture
async def store(postgres_database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_database, listen=False)
    await store.open()
    await store.insert([NewJob(task="greet", rule=Throttle("ada", DAY))])
    yield store
    await store.close()


@pytest.fixture
async def own(postgres_database: str, store: PostgresStore) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres_database)
    yield connection
    await connection.close()


async def keys(own: asyncpg.Connection) -> list[str]:
    return [row["key"] for row in await own.fetch("SELECT key FROM cadenza.marker ORDER BY key")]


async def prune(store: PostgresStore, limit: int = 100) -> int:
    return await store.prune(done=DAY, failed=DAY, limit=limit)


async def test_all_marks_of_long_ago_go_however_many_there_are(
    store: PostgresStore, own: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "MARKS", 2)
    await own.execute(FOREGONE, 5)
    await prune(store)
    assert await keys(own) == ["ada"]


async def test_a_mark_that_another_holds_is_not_waited_for(
    store: PostgresStore, own: asyncpg.Connection
) -> None:
    await own.execute(FOREGONE, 3)
    async with own.transaction():
        await own.execute("SELECT FROM cadenza.marker WHERE key = 'key-2' FOR UPDATE")
        await prune(store)
    assert await keys(own) == ["ada", "key-2"]
    await prune(store)
    assert await keys(own) == ["ada"]


async def test_marks_wait_until_no_finished_job_is_left(
    store: PostgresStore, own: asyncpg.Connection
) -> None:
    await own.execute(FOREGONE, 1)
    answers = await store.insert([NewJob(task="greet")] * 2)
    await store.cancel([one.id for one in answers], reason="not wanted")
    await own.execute("UPDATE cadenza.job_done SET finished_at = now() - interval '2 days'")
    assert [await prune(store, limit=2), await keys(own)] == [2, ["ada", "key-1"]]
    assert [await prune(store, limit=2), await keys(own)] == [0, ["ada"]]
