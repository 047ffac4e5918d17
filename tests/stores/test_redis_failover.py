"""A cluster whose primary dies: workers go on by themselves; what is lost is what the guide says.

Three primaries with a replica each, which call each other dead after less than a second. The
address that is given names the very node that dies.
"""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from redis.asyncio import Redis
from redis.crc import key_slot

from cadenza.engine import Engine
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import NewJob
from cadenza.engine.stores.redis import RedisStore
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail
from tests.servers.valkey import PrivateValkey
from tests.servers.valkey_cluster import SLOTS, start_cluster

PRIMARIES = 3
SILENCE = 700  # milliseconds after which a node is called dead
LEASE = timedelta(seconds=8)
AMPLE = 60.0


@pytest.fixture
async def nodes() -> AsyncIterator[list[PrivateValkey]]:
    async with AsyncExitStack() as stack:
        try:
            cluster = start_cluster(primaries=PRIMARIES, replicas=1, silence=SILENCE)
            yield await stack.enter_async_context(cluster)
        except ServerUnavailableError as reason:
            skip_or_fail("valkey", reason)
            raise


def home_of(nodes: list[PrivateValkey], queue: str) -> tuple[PrivateValkey, PrivateValkey]:
    """Return the primary that holds a queue, and its replica."""
    number = key_slot(f"{{{queue}}}".encode()) * PRIMARIES // SLOTS
    return nodes[number], nodes[PRIMARIES + number]


async def test_workers_go_on_when_the_primary_of_their_queue_dies(
    nodes: list[PrivateValkey],
) -> None:
    primary, replica = home_of(nodes, "default")
    ran: Counter[int] = Counter()
    some = asyncio.Event()
    async with Engine(f"{primary.url}?replicas=1", keep_done=0) as engine:

        @engine.task
        async def note(n: int) -> None:
            await asyncio.sleep(0.02)
            ran[n] += 1
            if len(ran) >= 40:
                some.set()

        await note.enqueue_many([{"n": n} for n in range(200)])
        worker = engine.worker(concurrency=5, lease=LEASE)
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(AMPLE):
            await some.wait()
            await asyncio.to_thread(primary.crash)
            await _leads(replica)
            await asyncio.to_thread(primary.start)  # behind its own replica now: writes wait for it
            while not await _drained(engine):
                await asyncio.sleep(0.05)
            assert ran == Counter(range(200))
            await note.enqueue(n=1000)  # the wake-up comes by another node now
            while 1000 not in ran:
                await asyncio.sleep(0.01)
        worker.stop()
        await running


async def _drained(engine: Engine) -> bool:
    try:
        return not await engine.store.tally()
    except StoreUnavailable:
        return False


async def _leads(replica: PrivateValkey) -> None:
    """Wait until the replica has taken over."""
    async with Redis.from_url(replica.url) as client:
        while (await client.info("replication"))["role"] != "master":
            await asyncio.sleep(0.05)


async def _cut_off_replicas(primary: PrivateValkey) -> None:
    async with Redis.from_url(primary.url) as client:
        await client.execute_command("CLIENT", "KILL", "TYPE", "replica")


async def test_a_failover_loses_what_no_replica_had_and_writes_can_wait_for_one(
    nodes: list[PrivateValkey],
) -> None:
    primary, replica = home_of(nodes, "default")
    careless, careful = RedisStore(primary.url), RedisStore(f"{primary.url}?replicas=1")
    await careless.open()
    await careful.open()
    (kept,) = await careful.insert([NewJob(task="greet")])
    assert replica.pid is not None
    os.kill(replica.pid, signal.SIGSTOP)
    await _cut_off_replicas(primary)
    try:
        (lost,) = await careless.insert([NewJob(task="greet")])
        with pytest.raises(StoreUnavailable, match="replicas"):
            await careful.insert([NewJob(task="greet")])
        await asyncio.to_thread(primary.crash)
    finally:
        os.kill(replica.pid, signal.SIGCONT)
    async with asyncio.timeout(AMPLE):
        await _leads(replica)
        careful._wire.patience = AMPLE
        assert [job.id for job in await careful.get([kept.id, lost.id])] == [kept.id]
        careless._wire.patience = AMPLE
        (answer,) = await careless.insert([NewJob(task="greet")])
    assert answer.id > lost.id
    await careless.close()
    await careful.close()
