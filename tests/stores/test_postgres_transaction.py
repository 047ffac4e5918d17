"""A job joins the caller's own transaction: it is there if and only if that commits."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest
from sqlalchemy import Connection as SqlAlchemyConnection
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from cadenza.engine.job import Enqueued, Limit, NewJob, Pace, Unique
from cadenza.engine.outcomes import Settlement
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.sql.script import over_sqlalchemy, run_sync

LEASE = timedelta(seconds=30)
ONE = Limit(concurrency=1)
PATIENCE = 5.0


@pytest.fixture
async def store(postgres_database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_database)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def caller(postgres_database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres_database)
    await connection.execute("CREATE TABLE post (id int)")
    yield connection
    await connection.close()


MIXED = [
    NewJob(task="plain"),
    NewJob(task="unique", rule=Unique("ada")),
    NewJob(task="paced", rule=Pace("ben", timedelta(seconds=1))),
    NewJob(task="lane", lane="cy", limit=ONE),
]


async def test_a_rollback_leaves_nothing(store: PostgresStore, caller: asyncpg.Connection) -> None:
    transaction = caller.transaction()
    await transaction.start()
    await caller.execute("INSERT INTO post VALUES (1)")
    answers = await store.insert_on(caller, MIXED)
    assert all(answer.inserted for answer in answers)
    await transaction.rollback()
    assert await store.tally() == []
    assert await store.gates() == []
    assert (await store.insert([MIXED[1]]))[0].inserted, "the key is free again"


async def test_a_commit_brings_the_jobs_with_the_callers_rows(
    store: PostgresStore, caller: asyncpg.Connection
) -> None:
    async with caller.transaction():
        await caller.execute("INSERT INTO post VALUES (1)")
        answers = await store.insert_on(caller, MIXED)
        assert await store.get([answer.id for answer in answers]) == [], "not before the commit"
    batch = await store.claim("default", limit=10, worker="ada", lease=LEASE)
    assert {job.id for job in batch.jobs} == {answer.id for answer in answers}
    assert await caller.fetchval("SELECT count(*) FROM post") == 1


async def test_without_a_transaction_the_insert_has_one_of_its_own(
    store: PostgresStore, caller: asyncpg.Connection
) -> None:
    await store.insert_on(caller, MIXED)
    assert not caller.is_in_transaction()
    assert sum(tally.count for tally in await store.tally()) == len(MIXED)


async def test_a_commit_wakes_those_who_watch(
    store: PostgresStore, caller: asyncpg.Connection
) -> None:
    heard = asyncio.Event()
    stop = store.watch(lambda queue: heard.set() if queue == "mail" else None)
    async with caller.transaction():
        await store.insert_on(caller, [NewJob(task="greet", queue="mail")])
        assert not heard.is_set()
    async with asyncio.timeout(PATIENCE):
        await heard.wait()
    stop()


@pytest.mark.parametrize("end", ["commit", "rollback"])
async def test_a_job_joins_a_transaction_of_sqlalchemy(
    store: PostgresStore, postgres_database: str, end: str
) -> None:
    address = postgres_database.replace("postgresql://", "postgresql+asyncpg://")
    engine = create_async_engine(address)

    def enqueue(connection: SqlAlchemyConnection) -> list[Enqueued]:
        connection.execute(text("SELECT 1"))
        return run_sync(store.insert_script(MIXED), over_sqlalchemy(connection))

    async with engine.connect() as connection:
        answers = await connection.run_sync(enqueue)
        await (connection.commit() if end == "commit" else connection.rollback())
    await engine.dispose()
    found = await store.get([answer.id for answer in answers])
    assert len(found) == (len(MIXED) if end == "commit" else 0)


async def test_an_open_transaction_holds_up_neither_claims_nor_settles_of_its_lane(
    store: PostgresStore, caller: asyncpg.Connection
) -> None:
    await store.insert([NewJob(task="greet", lane="ada", limit=Limit(concurrency=9))] * 2)
    async with caller.transaction(), asyncio.timeout(PATIENCE):
        await store.insert_on(caller, [NewJob(task="greet", lane="ada")])
        batch = await store.claim("default", limit=10, worker="ada", lease=LEASE)
        assert len(batch.jobs) == 2
        settlements = [Settlement(job.id, job.lease) for job in batch.jobs]
        assert await store.settle(settlements, closed=[batch.lease]) == []
    assert len((await store.claim("default", limit=10, worker="ada", lease=LEASE)).jobs) == 1
