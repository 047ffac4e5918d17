"""Lanes between processes: no wake-up is lost, whoever commits last."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from cadenza.engine.job import Gate, Limit, NewJob, Scope
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Batch
from cadenza.engine.stores.postgres import PostgresStore

LEASE = timedelta(seconds=30)
PATIENCE = 5.0


@pytest.fixture
async def store(postgres_database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_database)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def rival(postgres_database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(postgres_database)
    yield connection
    await connection.close()


async def take(store: PostgresStore, limit: int = 10) -> Batch:
    return await store.claim("default", limit=limit, worker="ada", lease=LEASE)


async def test_a_job_added_while_its_lane_is_being_put_to_sleep_is_not_lost(
    store: PostgresStore, rival: asyncpg.Connection
) -> None:
    await store.insert([NewJob(task="greet", lane="ada")])
    await take(store)  # the lane's gate is written: awake or not
    async with asyncio.timeout(PATIENCE):
        async with rival.transaction():
            # A claim of another process, which found the lane empty, has written but not committed.
            await rival.execute(
                "UPDATE cadenza.gate SET awake = false WHERE queue = 'default' AND lane = 'ada'"
            )
            added = (await store.insert([NewJob(task="greet", lane="ada")]))[0]
        batch = await take(store)
    assert [job.id for job in batch.jobs] == [added.id]


async def test_a_job_that_is_given_back_while_its_lane_is_put_to_sleep_is_not_lost(
    store: PostgresStore, rival: asyncpg.Connection
) -> None:
    await store.insert([NewJob(task="greet", lane="ada")])
    first = await take(store)
    given_back = [Settlement(job.id, job.lease, Verdict.RELEASED) for job in first.jobs]
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group, rival.transaction():
        await rival.execute(
            "UPDATE cadenza.gate SET awake = false WHERE queue = 'default' AND lane = 'ada'"
        )
        settling = group.create_task(store.settle(given_back, closed=[first.lease]))
        await asyncio.sleep(0.1)
        assert not settling.done(), "the gate's count is written under its lock"
    again = await take(store)
    assert [job.id for job in again.jobs] == [job.id for job in first.jobs]


async def test_a_lane_that_another_claim_holds_is_left_to_it(
    store: PostgresStore, rival: asyncpg.Connection
) -> None:
    answers = await store.insert([NewJob(task="greet", lane=lane) for lane in ("ada", "ben")])
    await store.settle([Settlement(0, 0)])
    async with rival.transaction(), asyncio.timeout(PATIENCE):
        await rival.execute("SELECT 1 FROM cadenza.gate WHERE lane = 'ada' FOR UPDATE")
        batch = await take(store)
        assert [job.id for job in batch.jobs] == [answers[1].id]
        empty = await take(store)
        assert empty.jobs == []
        assert empty.next_due is not None, "it is to be asked for again"
    assert [job.id for job in (await take(store)).jobs] == [answers[0].id]


async def test_two_processes_share_many_lanes_without_a_double_or_a_loss(
    store: PostgresStore, postgres_database: str
) -> None:
    other = PostgresStore(postgres_database)
    await other.open()
    limit = Limit(concurrency=2)
    jobs = [NewJob(task="greet", lane=f"lane-{n % 20}", limit=limit) for n in range(200)]
    answers = await store.insert(jobs)
    seen: list[int] = []

    async def work(hand: PostgresStore) -> None:
        idle = 0
        while len(seen) < len(answers) and idle < 500:
            batch = await take(hand, 7)
            idle = 0 if batch.jobs else idle + 1
            assert not await hand.settle(
                [Settlement(job.id, job.lease, keep=False) for job in batch.jobs],
                closed=[batch.lease],
            )
            seen.extend(job.id for job in batch.jobs)

    async with asyncio.TaskGroup() as group:
        for hand in (store, other, store, other):
            group.create_task(work(hand))
    assert sorted(seen) == sorted(answer.id for answer in answers)
    assert {gate.in_flight for gate in await store.gates()} == {0}
    await other.close()


async def test_a_limit_that_is_set_under_way_counts_what_runs(store: PostgresStore) -> None:
    await store.insert([NewJob(task="greet")] * 1_000)
    gates: list[Gate] = []
    running = 0
    lock = asyncio.Lock()

    async def claim() -> None:
        nonlocal running
        for _ in range(10):
            batch = await take(store, 10)
            async with lock:
                running += len(batch.jobs)

    async def limit() -> None:
        await asyncio.sleep(0.01)
        gates.append(await store.set_gate(Scope("default"), limit=Limit(concurrency=500)))

    await asyncio.gather(claim(), claim(), limit())
    (gate,) = await store.gates()
    assert gate.in_flight == running


async def test_a_queue_that_was_paused_once_is_not_slower_for_it(store: PostgresStore) -> None:
    await store.set_gate(Scope("default"), paused=True, reason="lunch")
    await store.set_gate(Scope("default"), paused=False)
    await store.insert([NewJob(task="greet")])
    batch = await take(store)
    assert store._claims.queue_of([batch.lease]) == "default", "claimed by the one fast statement"
    (gate,) = await store.gates()
    assert gate.in_flight == 1
