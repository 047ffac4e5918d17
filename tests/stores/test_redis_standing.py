"""A lone job for an idle worker is leased to it by the insert itself, and to nobody who is not there."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from cadenza.core.clock import SystemClock
from cadenza.engine import Engine
from cadenza.engine.job import Limit, NewJob, Scope, State, Unique
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Batch
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

LEASE = timedelta(seconds=30)
AMPLE = 60.0
GREET = NewJob(task="greet")


class Stander:
    """A worker that stands by, and what it was handed."""

    def __init__(self, store: RedisStore, name: str = "ada") -> None:
        self.store = store
        self.name = name
        self.handed: list[tuple[str, Batch, float]] = []
        self.came = asyncio.Event()
        self.free = True
        self.leave = store.stand_by(name, self.take, idle=lambda: self.free, most=2)

    def take(self, queue: str, batch: Batch, requested: float) -> None:
        self.handed.append((queue, batch, requested))
        self.came.set()

    async def ask(self, queue: str = "default", *, lease: timedelta = LEASE) -> Batch:
        return await self.store.claim(queue, limit=5, worker=self.name, lease=lease)


@pytest.fixture
async def store(redis_database: str) -> AsyncIterator[RedisStore]:
    store = RedisStore(redis_database)
    await store.open()
    store.watch(lambda queue: None)
    async with asyncio.timeout(AMPLE):
        while not store._notifier.hears:
            await asyncio.sleep(0.005)
    yield store
    await store.close()


@pytest.fixture
async def producer(redis_database: str) -> AsyncIterator[RedisStore]:
    store = RedisStore(redis_database)
    await store.open()
    yield store
    await store.close()


async def state_of(store: RedisStore, id_: int) -> State:
    (job,) = await store.get([id_])
    return job.state


async def test_a_lone_job_is_handed_to_the_worker_that_stands_by(
    store: RedisStore, producer: RedisStore
) -> None:
    ada = Stander(store)
    before = SystemClock().monotonic()
    assert not (await ada.ask()).jobs
    (answer,) = await producer.insert([NewJob(task="greet", payload='{"n":"é"}', priority=3)])
    async with asyncio.timeout(AMPLE):
        await ada.came.wait()
    (queue, batch, requested), (job,) = ada.handed[0], ada.handed[0][1].jobs
    assert (queue, job.id, job.payload, job.task) == ("default", answer.id, '{"n":"é"}', "greet")
    assert before <= requested <= SystemClock().monotonic()
    (seen,) = await producer.get([answer.id])
    assert (seen.state, seen.lease, seen.worker) == (State.RUNNING, batch.lease, "ada")
    assert await store.settle([Settlement(job.id, job.lease)], closed=[batch.lease]) == []
    assert await state_of(producer, answer.id) is State.DONE


async def test_one_claim_brings_one_job(store: RedisStore, producer: RedisStore) -> None:
    ada = Stander(store)
    await ada.ask()
    first, second = [(await producer.insert([GREET]))[0] for _ in range(2)]
    assert await state_of(producer, first.id) is State.RUNNING
    assert await state_of(producer, second.id) is State.WAITING


@pytest.mark.parametrize(
    "job",
    [
        NewJob(task="greet", delay=timedelta(hours=1)),
        NewJob(task="greet", lane="ben"),
        NewJob(task="greet", rule=Unique("ben")),
        NewJob(task="greet", queue="other"),
    ],
    ids=["deferred", "in a lane", "keyed", "of another queue"],
)
async def test_what_is_not_plain_and_due_here_waits(
    store: RedisStore, producer: RedisStore, job: NewJob
) -> None:
    await Stander(store).ask()
    (answer,) = await producer.insert([job])
    assert await state_of(producer, answer.id) is State.WAITING


async def test_a_closed_gate_or_a_job_before_it_is_not_passed(
    store: RedisStore, producer: RedisStore
) -> None:
    await Stander(store).ask()
    await producer.set_gate(Scope("default"), limit=Limit(concurrency=1))
    (answer,) = await producer.insert([GREET])
    assert await state_of(producer, answer.id) is State.WAITING
    await Stander(store, "ben").ask("mail")
    pair = await producer.insert([NewJob(task="greet", queue="mail")] * 2)
    (late,) = await producer.insert([NewJob(task="greet", queue="mail", priority=-5)])
    assert [await state_of(producer, a.id) for a in [*pair, late]] == [State.WAITING] * 3


async def test_who_is_busy_or_has_taken_something_does_not_stand_by(
    store: RedisStore, producer: RedisStore
) -> None:
    ada = Stander(store)
    await ada.ask()
    ada.free = False
    await ada.ask()
    (answer,) = await producer.insert([GREET])
    assert await state_of(producer, answer.id) is State.WAITING
    ada.free = True
    assert len((await ada.ask()).jobs) == 1
    (second,) = await producer.insert([GREET])
    assert await state_of(producer, second.id) is State.WAITING


async def test_nothing_is_handed_to_a_worker_that_is_gone(
    redis_database: str, store: RedisStore, producer: RedisStore
) -> None:
    woken: asyncio.Queue[str] = asyncio.Queue()
    store.watch(woken.put_nowait)
    gone, late = RedisStore(redis_database), Stander(store, "late")
    await gone.open()
    ada = Stander(gone)
    gone.watch(lambda queue: None)
    async with asyncio.timeout(AMPLE):
        while not gone._notifier.hears:
            await asyncio.sleep(0.005)
    await ada.ask()
    await late.ask(lease=timedelta(milliseconds=1))  # it stood by for half of that
    await gone.close()
    await asyncio.sleep(0.01)
    (answer,) = await producer.insert([GREET])
    assert await state_of(producer, answer.id) is State.WAITING
    async with asyncio.timeout(AMPLE):
        while await woken.get() != "default":
            pass


def insert_from_elsewhere(url: str) -> None:
    async def insert() -> None:
        store = RedisStore(url)
        await store.open()
        await store.insert([GREET])
        await store.close()

    asyncio.run(insert())


async def test_what_comes_after_a_worker_left_goes_back(
    redis_database: str, store: RedisStore
) -> None:
    ada = Stander(store)
    await ada.ask()
    with ThreadPoolExecutor(1) as elsewhere:  # this loop stands still: the job is not heard of yet
        elsewhere.submit(insert_from_elsewhere, redis_database).result()
    ada.leave()
    ada.leave()
    async with asyncio.timeout(AMPLE):
        while not (batch := await Stander(store, "ben").ask()).jobs:
            await asyncio.sleep(0.01)
    assert not ada.handed
    assert (batch.jobs[0].crashes, batch.jobs[0].attempts) == (0, 0)


async def test_workers_stand_by_in_no_more_queues_than_they_have_room_for(
    store: RedisStore, producer: RedisStore
) -> None:
    ada = Stander(store)
    for queue in ("one", "two", "three"):
        await ada.ask(queue)
    answers = await producer.insert(
        [NewJob(task="greet", queue=queue) for queue in ("one", "two", "three")]
    )
    states = [await state_of(producer, answer.id) for answer in answers]
    assert states == [State.RUNNING, State.RUNNING, State.WAITING]


async def test_idle_workers_are_handed_each_job_once(
    private_valkey: Callable[..., PrivateValkey],
) -> None:
    server = private_valkey()
    ran: list[int] = []
    async with Engine(server.url, keep_done=0) as engine, Engine(server.url) as outside:

        async def note(n: int) -> None:
            await asyncio.sleep(0.001 * (n % 3))
            ran.append(n)

        engine.declare(note)
        asking = outside.declare(note)
        workers = [engine.worker(["default", "mail"], concurrency=2) for _ in range(2)]
        running = [asyncio.create_task(worker.run()) for worker in workers]
        async with asyncio.timeout(AMPLE):
            for n in range(200):
                await asking.using(queue="mail" if n % 5 == 0 else "default").enqueue(n=n)
                await asyncio.sleep(0.002 * (n % 4))
            while len(ran) < 200 or await engine.store.tally():
                await asyncio.sleep(0.01)
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)
    assert sorted(ran) == list(range(200))
