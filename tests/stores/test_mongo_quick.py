"""The quick way to a lone job: found without a poll, one lease to one worker, gates obeyed."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from cadenza.engine import Engine
from cadenza.engine.job import Debounce, NewJob, Scope, Unique
from cadenza.engine.outcomes import Settlement
from cadenza.engine.stores.mongo import MongoStore
from cadenza.engine.stores.mongo.documents import among

LEASE = timedelta(seconds=30)
PATIENCE = 60.0
NEVER = 3600.0


@pytest.fixture
async def store(mongo_database: str) -> AsyncIterator[MongoStore]:
    store = MongoStore(mongo_database)
    await store.open()
    for name in ("ada", "ben"):  # from here on the queue is known to be empty
        assert not (await store.claim("default", limit=9, worker=name, lease=LEASE)).jobs
    yield store
    await store.close()


async def test_jobs_of_another_process_are_found_without_a_poll(mongo_database: str) -> None:
    ran: list[int] = []
    other = Engine(mongo_database)
    async with Engine(mongo_database) as engine, other:

        @engine.task
        async def note(n: int) -> None:
            ran.append(n)

        worker = engine.worker(poll=NEVER)
        running = asyncio.create_task(worker.run())
        await worker.started.wait()
        async with asyncio.timeout(PATIENCE):
            for number in range(5):
                await other.enqueue("note", {"n": number})
                while len(ran) <= number:
                    await asyncio.sleep(0.01)
        worker.stop()
        await running
    assert ran == list(range(5))


async def test_claims_at_once_get_leases_of_their_own(store: MongoStore) -> None:
    answers = await store.insert([NewJob(task="greet")] * 6)
    batches = await asyncio.gather(
        *(store.claim("default", limit=2, worker=name, lease=LEASE) for name in ("ada", "ben"))
    )
    batches += await asyncio.gather(
        *(store.claim("default", limit=2, worker="ada", lease=LEASE) for _ in range(3))
    )
    taken = [batch for batch in batches if batch.jobs]
    assert sorted(job.id for batch in taken for job in batch.jobs) == [a.id for a in answers]
    assert len({batch.lease for batch in taken}) == len(taken)
    for batch in taken:
        assert {job.lease for job in batch.jobs} == {batch.lease}


async def test_a_quick_look_puts_back_what_a_closed_queue_holds(
    store: MongoStore, mongo_database: str
) -> None:
    (answer,) = await store.insert([NewJob(task="greet")])
    other = MongoStore(mongo_database)
    await other.set_gate(Scope("default"), paused=True)  # this process hears nothing of it
    assert not (await store.claim("default", limit=9, worker="ada", lease=LEASE)).jobs
    await other.set_gate(Scope("default"), paused=False)
    batch = await store.claim("default", limit=9, worker="ada", lease=LEASE)
    assert [(job.id, job.attempts) for job in batch.jobs] == [(answer.id, 0)]
    assert [gate.in_flight for gate in await store.gates()] == [1]
    await other.close()


async def test_where_more_waits_the_claim_goes_on_under_one_lease(store: MongoStore) -> None:
    jobs = [NewJob(task="greet"), NewJob(task="greet", lane="ada")]
    jobs.append(NewJob(task="greet", rule=Unique("once")))
    answers = await store.insert(jobs)
    batch = await store.claim("default", limit=9, worker="ada", lease=LEASE)
    assert sorted(job.id for job in batch.jobs) == [answer.id for answer in answers]
    settlements = [Settlement(job.id, batch.lease) for job in batch.jobs]
    assert await store.settle(settlements, closed=[batch.lease]) == []


async def test_a_lease_that_lay_ready_ends_a_whole_span_after_the_claim(store: MongoStore) -> None:
    (answer,) = await store.insert([NewJob(task="greet")])
    before = await store.now()
    await store.claim("default", limit=9, worker="ada", lease=LEASE)
    (job,) = await store.get([answer.id])
    assert job.worker == "ada"
    assert job.lease_until is not None
    assert job.lease_until >= before + LEASE * 0.9


@pytest.mark.parametrize(("ready", "requested"), [(LEASE * 10, LEASE), (LEASE, LEASE * 10)])
async def test_a_lease_that_lay_ready_is_as_long_as_the_claim_asks(
    store: MongoStore, ready: timedelta, requested: timedelta
) -> None:
    assert not (await store.claim("default", limit=9, worker="ada", lease=ready)).jobs
    (answer,) = await store.insert([NewJob(task="greet")])
    before = await store.now()
    await store.claim("default", limit=9, worker="ada", lease=requested)
    (job,) = await store.get([answer.id])
    assert job.lease_until is not None
    assert before + requested * 0.9 <= job.lease_until < before + requested * 2


async def test_a_few_that_wait_are_taken_together_in_their_order(store: MongoStore) -> None:
    answers = await store.insert([NewJob(task="greet", priority=n) for n in (3, 1, 2)])
    await store.insert([NewJob(task="greet", delay=timedelta(hours=1))])
    batch = await store.claim("default", limit=9, worker="ada", lease=LEASE)
    assert [job.id for job in batch.jobs] == [answers[n].id for n in (1, 2, 0)]
    assert batch.drained
    assert batch.next_due is not None


async def test_a_debounce_from_another_queue_is_news_to_the_holders(store: MongoStore) -> None:
    """What is known of an empty queue is no longer true when its job is moved from elsewhere."""
    (held,) = await store.insert(
        [NewJob(task="greet", rule=Debounce("ada", timedelta(minutes=10)))]
    )
    first = await store.claim("default", limit=5, worker="ada", lease=LEASE)
    assert first.next_due == held.run_at
    sooner = Debounce("ada", timedelta(minutes=1))
    (moved,) = await store.insert([NewJob(task="greet", queue="mail", rule=sooner)])
    assert (moved.outcome, moved.id) == ("debounced", held.id)
    again = await store.claim("default", limit=5, worker="ada", lease=LEASE)
    assert again.next_due == moved.run_at


async def test_a_timed_job_is_taken_by_one_look_when_it_is_due(store: MongoStore) -> None:
    soon = timedelta(milliseconds=150)
    (answer,) = await store.insert([NewJob(task="greet", delay=soon)])
    first = await store.claim("default", limit=9, worker="ada", lease=LEASE)
    assert (first.jobs, first.next_due) == ([], answer.run_at)
    await asyncio.sleep(soon.total_seconds())
    batch = await store.claim("default", limit=9, worker="ada", lease=LEASE)
    assert [job.id for job in batch.jobs] == [answer.id]
    assert batch.drained, "a full claim would not know, and would ask twice"


async def test_a_queue_that_fell_silent_is_looked_at_often_for_a_while(store: MongoStore) -> None:
    pauses = [
        (await store.claim("default", limit=9, worker="ada", lease=LEASE)).look_again
        for _ in range(80)
    ]
    assert pauses[0] == pytest.approx(0.001, rel=0.2)
    assert 0.025 <= (pauses[-1] or 0) < 0.03


def test_ids_that_follow_each_other_are_worded_as_a_range() -> None:
    assert among([7, 5, 6]) == {"$gte": 5, "$lte": 7}
    assert among([5]) == {"$gte": 5, "$lte": 5}
    assert among([9, 5, 6]) == {"$gte": 5, "$lte": 9, "$in": [9, 5, 6]}
