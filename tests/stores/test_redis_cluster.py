"""A cluster: every queue in one slot, calls that span queues in one step for each queue.

One node that holds all slots is a cluster: it refuses whatever would need two slots at once.
"""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

import pytest

from cadenza.engine.errors import MissingTrait
from cadenza.engine.job import Limit, NewJob, Schedule, Scope, State, Unique
from cadenza.engine.outcomes import Park, Settlement, Verdict
from cadenza.engine.stores.redis import RedisStore
from cadenza.engine.stores.redis.wire import Wire
from tests.servers import place
from tests.servers.valkey import PrivateValkey

LEASE = timedelta(seconds=30)
PAST = datetime(2026, 1, 1, tzinfo=UTC)
Servers = Callable[..., PrivateValkey]


@pytest.fixture
async def store(private_valkey: Servers) -> AsyncIterator[RedisStore]:
    options = {"cluster-enabled": "yes", "cluster-port": str(place.free_port())}
    server = private_valkey(options=options)
    store = RedisStore(server.url)
    await give_all_slots(store._wire)
    await store.open()
    assert store._wire.cluster is not None
    yield store
    await store.close()


async def give_all_slots(wire: Wire) -> None:
    await wire.ask("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    while b"cluster_state:ok" not in await wire.ask("CLUSTER", "INFO"):
        pass


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


async def test_vital_signs_say_that_it_is_a_cluster(store: RedisStore) -> None:
    assert "cluster" in await store.vital_signs()
