"""Several writers at once on one MongoDB: none of the promises rests on one process."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.engine.job import Enqueued, Limit, NewJob, Schedule, Scope, State, Unique, While
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.stores.mongo import MongoStore
from cadenza.engine.stores.mongo.commit import finish_batches
from cadenza.engine.stores.mongo.documents import ARRIVING
from cadenza.engine.stores.mongo.insert import insert_documents

LEASE = timedelta(seconds=60)
SKIP = Unique("schedule:daily", While.LIVE)  # what a schedule's jobs carry under overlap=skip


@pytest.fixture
async def stores(mongo_database: str) -> AsyncIterator[list[MongoStore]]:
    found = [MongoStore(mongo_database) for _ in range(4)]
    for store in found:
        await store.open()
    yield found
    for store in found:
        await store.close()


async def daily(store: MongoStore) -> datetime:
    due = await store.now()
    await store.put_schedule(Schedule(name="daily", task="greet", recurrence="{}", next_at=due))
    return due


async def fire(
    store: MongoStore, due: datetime, *, rule: Unique | None = SKIP
) -> list[Enqueued] | None:
    return await store.fire(
        "daily",
        revision=0,
        expected=due,
        next_at=due + timedelta(days=1),
        note=None,
        jobs=[NewJob(task="greet", rule=rule)],
    )


async def _drain(store: MongoStore, *, limit: int) -> list[int]:
    taken: list[int] = []
    while True:
        batch = await store.claim("default", limit=limit, worker=str(id(store)), lease=LEASE)
        if not batch.jobs:
            return taken
        taken += [job.id for job in batch.jobs]
        refused = await store.settle(
            [Settlement(job.id, job.lease) for job in batch.jobs], closed=[batch.lease]
        )
        assert refused == []


async def test_each_job_is_handed_to_one_claim_only(stores: list[MongoStore]) -> None:
    answers = await stores[0].insert([NewJob(task="greet")] * 200)
    taken = await asyncio.gather(*(_drain(store, limit=7) for store in stores))
    assert Counter(id_ for ids in taken for id_ in ids) == Counter(a.id for a in answers)


async def test_a_unique_key_lets_one_of_many_in(stores: list[MongoStore]) -> None:
    job = NewJob(task="greet", rule=Unique("ada"))
    answers = await asyncio.gather(*(store.insert([job]) for store in stores * 5))
    assert Counter(one.outcome for (one,) in answers) == {"inserted": 1, "existing": 19}


async def test_a_limit_holds_over_many_claims_at_once(stores: list[MongoStore]) -> None:
    scope = Scope("default", "lane")
    await stores[0].insert([NewJob(task="greet", lane="lane", limit=Limit(concurrency=3))] * 20)
    batches = await asyncio.gather(
        *(s.claim("default", limit=2, worker=str(n), lease=LEASE) for n, s in enumerate(stores * 3))
    )
    assert sum(len(batch.jobs) for batch in batches) == 3
    (gate,) = [gate for gate in await stores[0].gates() if gate.scope == scope]
    assert gate.in_flight == 3


@pytest.mark.parametrize("rule", [None, SKIP], ids=["allow", "skip"])
async def test_an_occurrence_is_fired_by_one_of_many(
    stores: list[MongoStore], rule: Unique | None
) -> None:
    due = await daily(stores[0])
    fired = await asyncio.gather(*(fire(store, due, rule=rule) for store in stores * 3))
    assert sum(answers is not None for answers in fired) == 1
    (tally,) = await stores[0].tally()
    assert (tally.state, tally.count) == (State.WAITING, 1)


async def test_a_batch_without_its_commit_is_never_seen(stores: list[MongoStore]) -> None:
    connection = stores[0]._connection
    answers = await insert_documents(connection, [NewJob(task="greet")] * 3, batch=True)
    assert await stores[1].get([answer.id for answer in answers]) == []
    assert (await stores[1].claim("default", limit=9, worker="ada", lease=LEASE)).jobs == []
    await finish_batches(connection, await connection.now() + timedelta(hours=2))
    assert await connection.jobs.count_documents({"state": ARRIVING}) == 0


async def test_a_commit_that_was_not_carried_out_is_by_the_next_rescue(
    stores: list[MongoStore],
) -> None:
    connection = stores[0]._connection
    answers = await insert_documents(connection, [NewJob(task="greet")] * 3, batch=True)
    await connection.batches.insert_one({"_id": answers[0].id})
    await stores[1].rescue(crash_limit=3)
    batch = await stores[1].claim("default", limit=9, worker="ada", lease=LEASE)
    assert [job.id for job in batch.jobs] == [answer.id for answer in answers]


class LetAnotherGoFirst:
    """A collection on which, before our first update of many, somebody else does something."""

    def __init__(self, jobs: Any, act: Callable[[], Awaitable[None]]) -> None:
        self._jobs = jobs
        self._act: Callable[[], Awaitable[None]] | None = act

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)

    async def update_many(self, *args: Any) -> Any:
        act, self._act = self._act, None
        if act is not None:
            await act()
        return await self._jobs.update_many(*args)


async def test_a_job_that_ran_between_look_and_take_is_not_handed_out_as_it_was(
    stores: list[MongoStore],
) -> None:
    ours, other = stores[:2]
    answers = await ours.insert([NewJob(task="greet")] * 3)

    async def run_and_fail() -> None:
        batch = await other.claim("default", limit=1, worker="ben", lease=LEASE)
        failed = Settlement(batch.jobs[0].id, batch.lease, Verdict.RETRY, delay=timedelta())
        assert await other.settle([failed], closed=[batch.lease]) == []

    ours._connection.jobs = LetAnotherGoFirst(ours._connection.jobs, run_and_fail)  # pyright: ignore[reportAttributeAccessIssue]
    batches = [await ours.claim("default", limit=3, worker="ada", lease=LEASE) for _ in range(2)]
    assert [[job.id for job in batch.jobs] for batch in batches] == [
        [answers[1].id, answers[2].id],
        [answers[0].id],
    ]
    assert [job.attempts for batch in batches for job in batch.jobs] == [0, 0, 1]
