"""Plans made while the tables were small do not outlive that: the cost follows what can run."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import asyncpg
import pytest

from cadenza.core.clock import SystemClock
from cadenza.engine.job import Filter, NewJob, State, Unique
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.sql.postgres import PLANS_KEPT, Connection, Purpose

LEASE = timedelta(seconds=30)
MANY = 30_000  # jobs that are not due: some 600 pages
FEW = 100  # pages
ENOUGH = 8  # runs of a statement, after which the server keeps one plan for it

Step = Callable[[PostgresStore], Awaitable[object]]


class Hands(SystemClock):
    """A monotonic clock that is moved by hand."""

    at = 100.0

    def monotonic(self) -> float:
        return self.at


async def get(store: PostgresStore) -> None:
    await store.get([1])


async def cancel(store: PostgresStore) -> None:
    await store.cancel([0], reason="not wanted")


async def insert_known(store: PostgresStore) -> None:
    await store.insert([NewJob(task="greet", delay=LEASE, rule=Unique("ada"))])


@pytest.fixture
def inventory() -> Hands:
    return Hands()


@pytest.fixture
async def store(postgres_database: str, inventory: Hands) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_database, listen=False, clock=inventory)
    await store.open()
    yield store
    await store.close()


async def pages_read(store: PostgresStore, own: asyncpg.Connection, table: str = "job") -> int:
    """Count the pages of a table and its indexes that were looked at so far."""

    async def flush(connection: Connection) -> None:
        await connection.execute("SELECT pg_stat_force_next_flush()")

    for desk in Purpose:
        await store._database.run(flush, desk=desk)
    await own.execute("SELECT pg_stat_clear_snapshot()")
    found: int | None = await own.fetchval(
        "SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::bigint"
        " FROM pg_statio_user_tables WHERE relname = $1",
        table,
    )
    return found or 0


@pytest.mark.parametrize("step", [get, cancel, insert_known])
async def test_jobs_that_wait_cost_nothing_even_if_the_tables_were_empty_once(
    store: PostgresStore, inventory: Hands, postgres_database: str, step: Step
) -> None:
    own = await asyncpg.connect(postgres_database)
    await own.execute("ALTER TABLE cadenza.job SET (autovacuum_enabled = off)")
    for _ in range(ENOUGH):
        await step(store)
    await own.execute(
        "INSERT INTO cadenza.job (created_at, run_at, state, queue, task, payload)"
        " SELECT now(), now() + interval '1 day', 0, 'default', 'greet', '{}'"
        " FROM generate_series(1, $1::integer)",
        MANY,
    )
    inventory.at += PLANS_KEPT + 1
    await step(store)  # plans again
    before = await pages_read(store, own)
    await step(store)
    assert await pages_read(store, own) - before < FEW
    await own.close()


async def test_a_list_of_live_jobs_does_not_read_the_finished_ones(
    store: PostgresStore, postgres_database: str
) -> None:
    own = await asyncpg.connect(postgres_database)
    await own.execute(
        "INSERT INTO cadenza.job_done SELECT n, 1, now(), now(), now(), 0, 1, 0, 0, 4, false, 'default', 'greet', '{}'"
        " FROM generate_series(1, $1::integer) AS n",
        MANY,
    )
    live = Filter(schedule="nightly", states=(State.WAITING, State.RUNNING))
    for _ in range(ENOUGH):
        before = await pages_read(store, own, "job_done")
        assert await store.find(live) == []
        assert await pages_read(store, own, "job_done") - before < FEW
    await own.close()
