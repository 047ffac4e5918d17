"""A heartbeat and a rescuer meet at one lease: it is either kept whole or lost whole."""

import asyncio
from datetime import timedelta

from cadenza.engine.job import NewJob, State
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Renewal, Rescue
from cadenza.engine.stores.postgres import PostgresStore
from tests.races.hold import Holder

AT_ONCE = timedelta(microseconds=1)
LEASE = timedelta(minutes=5)
Pair = tuple[PostgresStore, PostgresStore]


async def test_a_late_heartbeat_learns_that_the_rescuer_won(pair: Pair, holder: Holder) -> None:
    worker, rescuer = pair
    await worker.insert([NewJob(task="greet"), NewJob(task="greet")])
    batch = await worker.claim("default", limit=2, worker="ada", lease=AT_ONCE)
    ids = [job.id for job in batch.jobs]
    async with holder.hold("SELECT * FROM cadenza.job WHERE id = $1", ids[0]):
        winner = asyncio.create_task(rescuer.rescue(crash_limit=9))
        await holder.prove_waiting(1)
        loser = asyncio.create_task(worker.renew("ada", [batch.lease], lease=LEASE))
        await holder.prove_waiting(2)
    assert set((await winner).returned) == set(ids)
    assert await loser == Renewal(lost=frozenset({batch.lease}))


async def test_a_heartbeat_in_time_leaves_the_rescuer_nothing(pair: Pair, holder: Holder) -> None:
    worker, rescuer = pair
    await worker.insert([NewJob(task="greet")])
    batch = await worker.claim("default", limit=1, worker="ada", lease=AT_ONCE)
    (job,) = batch.jobs
    async with holder.hold("SELECT * FROM cadenza.lease WHERE number = $1", batch.lease):
        winner = asyncio.create_task(worker.renew("ada", [batch.lease], lease=LEASE))
        await holder.prove_waiting(1)
        assert await rescuer.rescue(crash_limit=9) == Rescue()  # passes what others hold
    assert await winner == Renewal()
    assert await rescuer.rescue(crash_limit=9) == Rescue()
    assert await worker.settle([Settlement(job.id, batch.lease)]) == []
    assert (await worker.get([job.id]))[0].state is State.DONE
