"""Cost follows what is runnable, not what is stored: counted in calls of the server's own commands."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from cadenza.engine import Engine
from cadenza.engine.job import Filter, NewJob, Scope, State
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

LEASE = timedelta(seconds=30)
DAY = timedelta(days=1)
MANY = 3_000
SLACK = 3  # a line that is not empty may be asked for its head


Servers = Callable[..., PrivateValkey]
Fill = Callable[[RedisStore], Awaitable[None]]


@pytest.fixture
async def store(private_valkey: Servers) -> AsyncIterator[RedisStore]:
    store = RedisStore(private_valkey().url)
    await store.open()
    yield store
    await store.close()


async def calls(store: RedisStore, command: str = "") -> int:
    """Count the commands that ran so far, those within scripts too."""
    said = (await store._wire.ask("INFO", "commandstats")).decode()
    lines = [line for line in said.splitlines() if line.startswith(f"cmdstat_{command}")]
    return sum(int(line.split("calls=")[1].split(",")[0]) for line in lines)


async def calls_of_a_claim(store: RedisStore) -> int:
    """Insert ten jobs; return how many commands it takes to claim and settle them, and find no more."""
    await store.insert([NewJob(task="greet")] * 10)
    before = await calls(store)
    batch = await store.claim("default", limit=10, worker="ada", lease=LEASE)
    settlements = [Settlement(job.id, batch.lease, keep=False) for job in batch.jobs]
    assert await store.settle(settlements, closed=[batch.lease]) == []
    empty = await store.claim("default", limit=10, worker="ada", lease=LEASE)
    assert (len(batch.jobs), empty.jobs) == (10, [])
    return await calls(store) - before


async def defer(store: RedisStore) -> None:
    await store.insert([NewJob(task="greet", delay=DAY, priority=-1) for _ in range(MANY)])


async def defer_in_lanes(store: RedisStore) -> None:
    await store.insert([NewJob(task="greet", delay=DAY, lane=f"l{n}") for n in range(MANY // 10)])


async def close_lanes(store: RedisStore) -> None:
    await store.insert([NewJob(task="greet", lane=f"l{n}") for n in range(MANY // 10)])
    for number in range(MANY // 10):
        await store.set_gate(Scope("default", f"l{number}"), paused=True)


async def finish(store: RedisStore) -> None:
    await store.insert([NewJob(task="greet") for _ in range(MANY)])
    batch = await store.claim("default", limit=MANY, worker="ada", lease=LEASE)
    settlements = [Settlement(job.id, batch.lease) for job in batch.jobs]
    await store.settle(settlements, closed=[batch.lease])


@pytest.mark.parametrize("fill", [defer, defer_in_lanes, close_lanes, finish])
async def test_what_cannot_run_costs_a_claim_nothing(store: RedisStore, fill: Fill) -> None:
    await calls_of_a_claim(store)  # the scripts are known from here on
    bare = await calls_of_a_claim(store)
    await fill(store)
    assert await calls_of_a_claim(store) <= bare + SLACK


async def test_a_few_failed_jobs_among_many_are_found_at_once(store: RedisStore) -> None:
    await finish(store)
    (doomed,) = await store.insert([NewJob(task="greet")])
    batch = await store.claim("default", limit=1, worker="ada", lease=LEASE)
    await store.settle([Settlement(doomed.id, batch.lease, Verdict.FAILED)])
    before = await calls(store)
    found = await store.find(Filter(task="greet", states=(State.FAILED,)))
    assert [job.id for job in found] == [doomed.id]
    assert await calls(store) - before < 40


async def test_a_job_for_an_idle_worker_is_three_round_trips(private_valkey: Servers) -> None:
    rounds, others = 20, 15  # heartbeats and the like while it runs
    engine = Engine(private_valkey().url, keep_done=0)
    ran = asyncio.Event()

    async def greet() -> None:
        ran.set()

    task = engine.declare(greet)
    async with engine:
        store = engine.store
        assert isinstance(store, RedisStore)
        worker = engine.worker()
        running = asyncio.create_task(worker.run())
        before = 0
        for turn in range(rounds + 1):
            if turn == 1:  # the scripts are known from here on
                before = await calls(store, "evalsha")
            ran.clear()
            await task.enqueue()
            await ran.wait()
            await worker.completer.empty.wait()
        assert await calls(store, "evalsha") - before < rounds * 3 + others
        worker.stop()
        await running
