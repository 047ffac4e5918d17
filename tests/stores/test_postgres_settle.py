"""A process that dies between the statements of a settlement leaves nothing that nobody looks after.

Only a lease leads a rescue to its jobs, so it must stay for as long as one of them is unsettled.
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from cadenza.engine.job import Limit, NewJob, Scope, State
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.postgres.settle import settle_jobs
from cadenza.sql.postgres import Connection

GONE = timedelta(milliseconds=-1)  # a lease that has run out when it is handed out


class Died(Exception):
    """Stands for the end of the process."""


class Dying:
    """A connection whose process dies after its first statement."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._left = 1

    async def fetchrow(self, *requested: Any) -> Any:
        if not self._left:
            raise Died
        self._left -= 1
        return await self._connection.fetchrow(*requested)

    def __getattr__(self, name: str) -> Any:
        raise Died


@pytest.fixture
async def store(postgres_database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_database)
    await store.open()
    yield store
    await store.close()


async def die_while_settling(
    store: PostgresStore, settlements: list[Settlement], *, queue: str | None
) -> None:
    """Write outcomes, and die after the first statement."""
    closed = [settlements[0].lease]

    async def work(connection: Connection) -> None:
        dying: Any = Dying(connection)
        await settle_jobs(dying, store._sql, settlements, closed, queue=queue)

    with pytest.raises(Died):
        await store._database.run(work)


@pytest.mark.parametrize("keep", [False, True])
async def test_a_limit_set_while_plain_jobs_run_strands_none(
    store: PostgresStore, keep: bool
) -> None:
    answers = await store.insert([NewJob(task="greet") for _ in range(3)])
    batch = await store.claim("default", limit=3, worker="ada", lease=GONE)
    await store.set_gate(Scope("default"), limit=Limit(concurrency=5))
    done = [Settlement(each.id, batch.lease, Verdict.DONE, keep=keep) for each in batch.jobs]
    await die_while_settling(store, done, queue="default")
    taken = await store.rescue(crash_limit=5)
    assert sorted(taken.returned) == [each.id for each in answers]


async def test_a_cancel_requested_while_jobs_go_back_strands_none(store: PostgresStore) -> None:
    answers = await store.insert([NewJob(task="greet") for _ in range(2)])
    batch = await store.claim("default", limit=2, worker="ada", lease=GONE)
    await store.cancel([answers[0].id], reason="not wanted")
    back = [Settlement(each.id, batch.lease, Verdict.RELEASED) for each in batch.jobs]
    await die_while_settling(store, back, queue=None)
    await store.rescue(crash_limit=5)
    jobs = await store.get([each.id for each in answers])
    assert [job.state for job in jobs] == [State.CANCELED, State.WAITING]


async def test_a_settled_batch_leaves_no_lease(store: PostgresStore) -> None:
    answers = await store.insert([NewJob(task="greet") for _ in range(2)])
    batch = await store.claim("default", limit=2, worker="ada", lease=timedelta(minutes=1))
    await store.cancel([answers[0].id], reason="not wanted")
    back = [Settlement(each.id, batch.lease, Verdict.RELEASED) for each in batch.jobs]
    assert await store.settle(back, closed=[batch.lease]) == []
    renewal = await store.renew("ada", [batch.lease], lease=timedelta(minutes=1))
    assert renewal.lost == {batch.lease}
