"""A cluster: every queue in one slot, calls that span queues in one step for each queue.

Three nodes of the tests' own, each with a third of the slots, so queues lie on different servers,
and a command sent to the wrong one is sent on. What happens when one dies: test_redis_failover.py.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.crc import key_slot

from cadenza.core.clock import SystemClock
from cadenza.engine import Engine
from cadenza.engine.errors import MissingTrait, StoreUnavailable
from cadenza.engine.job import Limit, NewJob, Schedule, Scope, State, Unique
from cadenza.engine.outcomes import Park, Settlement, Verdict
from cadenza.engine.stores.redis import RedisStore
from cadenza.engine.stores.redis.wire import Wire
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail
from tests.servers.valkey import PrivateValkey
from tests.servers.valkey_cluster import SLOTS, join, start_node

LEASE = timedelta(seconds=30)
PAST = datetime(2026, 1, 1, tzinfo=UTC)
PATIENCE = 60.0


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[PrivateValkey]]:
    with ExitStack() as servers:
        try:
            yield [servers.enter_context(start_node()) for _ in range(3)]
        except ServerUnavailableError as reason:
            skip_or_fail("valkey", reason)
            raise


@pytest.fixture
async def store(nodes: list[PrivateValkey]) -> AsyncIterator[RedisStore]:
    await join(nodes, primaries=len(nodes))
    store = RedisStore(nodes[0].url)
    await store.open()
    assert store._wire.cluster is not None
    yield store
    await store.close()
    for node in nodes:
        node.flush()


async def test_queues_lie_on_all_nodes(store: RedisStore, nodes: list[PrivateValkey]) -> None:
    names = [f"queue-{number}" for number in range(30)]
    answers = await store.insert([NewJob(task="greet", queue=name) for name in names])
    sizes = []
    for node in nodes:
        wire = Wire(node.url, clock=SystemClock())
        sizes.append(await wire.ask("DBSIZE"))
        await wire.close()
    assert all(sizes)
    assert [job.queue for job in await store.get([a.id for a in answers])] == names


async def test_a_worker_drains_queues_of_all_nodes(
    store: RedisStore, nodes: list[PrivateValkey]
) -> None:
    ran: list[str] = []
    names = [f"queue-{number}" for number in range(6)]
    async with Engine(nodes[1].url, keep_done=0) as engine:

        @engine.task
        async def note(name: str) -> None:
            ran.append(name)

        for name in names:
            await note.using(queue=name).enqueue_many([{"name": name}] * 20)
        worker = engine.worker(names)
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(PATIENCE):
            while len(ran) < 120 or await store.tally():
                await asyncio.sleep(0.02)
        worker.stop()
        await running
    assert sorted(ran) == sorted(names * 20)


async def test_jobs_of_several_queues_go_in_and_out(store: RedisStore) -> None:
    names = ["mail", "posts", "mail", "bills"]
    answers = await store.insert([NewJob(task=name, queue=name) for name in names])
    assert [job.queue for job in await store.get([a.id for a in answers])] == names
    batches = [await store.claim(queue, limit=9, worker="ada", lease=LEASE) for queue in set(names)]
    settlements = [Settlement(job.id, job.lease) for batch in batches for job in batch.jobs]
    assert await store.settle(settlements, closed=[batch.lease for batch in batches]) == []
    assert sum(tally.count for tally in await store.tally() if tally.state is State.DONE) == 4


async def test_a_settlement_parks_a_scope_of_another_queue(store: RedisStore) -> None:
    await store.insert([NewJob(task="greet"), NewJob(task="greet", queue="mail", lane="ada")])
    batch = await store.claim("default", limit=1, worker="ada", lease=LEASE)
    park = Park(Scope("mail", "ada"), timedelta(hours=1))
    await store.settle([Settlement(batch.jobs[0].id, batch.lease, Verdict.SNOOZE, park=park)])
    assert not (await store.claim("mail", limit=1, worker="ada", lease=LEASE)).jobs


async def test_lanes_limits_and_keys_hold_in_a_queue(store: RedisStore) -> None:
    one = Limit(concurrency=1)
    jobs = [NewJob(task="greet", lane="ada", limit=one)] * 2
    jobs += [NewJob(task="greet", rule=Unique("ben"))] * 2
    answers = await store.insert(jobs)
    assert [a.outcome for a in answers] == ["inserted"] * 3 + ["existing"]
    assert len((await store.claim("default", limit=9, worker="ada", lease=LEASE)).jobs) == 2


async def test_a_schedule_fires_once_into_its_own_queue(store: RedisStore) -> None:
    schedule = Schedule(name="daily", task="greet", recurrence="{}", queue="mail", next_at=PAST)
    put = await store.put_schedule(schedule)
    fired = [
        await store.fire(
            "daily",
            revision=put.revision,
            expected=PAST,
            next_at=None,
            note=None,
            jobs=[NewJob(task="greet", queue="mail")],
        )
        for _ in range(2)
    ]
    assert [found is not None for found in fired] == [True, False]
    with pytest.raises(MissingTrait, match="own queue"):
        await store.fire(
            "daily", revision=0, expected=PAST, next_at=None, note=None, jobs=[NewJob(task="x")]
        )


async def test_a_queue_that_was_moved_to_another_node_is_found_there(
    store: RedisStore, nodes: list[PrivateValkey]
) -> None:
    await store.tally()  # it knows who holds what
    slot = key_slot(b"{moved}")
    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(Redis.from_url(node.url)) for node in nodes]
        holder = slot * len(nodes) // SLOTS
        taker = (holder + 1) % len(nodes)
        names: list[Any] = [await wire.execute_command("CLUSTER", "MYID") for wire in wires]
        await wires[taker].execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", names[holder])
        await wires[holder].execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", names[taker])
        store._wire.patience = 0.1
        with pytest.raises(StoreUnavailable, match="being moved"):
            await store.insert([NewJob(task="greet", queue="moved")])
        for wire in wires:
            await wire.execute_command("CLUSTER", "SETSLOT", slot, "NODE", names[taker])
        (answer,) = await store.insert([NewJob(task="greet", queue="moved")])
        assert [job.queue for job in await store.get([answer.id])] == ["moved"]
        assert await wires[taker].execute_command("CLUSTER", "COUNTKEYSINSLOT", slot)


async def test_vital_signs_say_that_it_is_a_cluster(store: RedisStore) -> None:
    assert "cluster" in await store.vital_signs()
