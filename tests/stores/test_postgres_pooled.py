"""Without LISTEN, without prepared statements, without session settings: slower, and the same."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from cadenza.engine.job import Limit, NewJob, Pace, Schedule, Scope, State, Unique, WorkerInfo
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.stores.postgres import PostgresStore

LEASE = timedelta(seconds=30)


@pytest.fixture(params=["silent", "pooled"])
async def store(
    request: pytest.FixtureRequest, postgres_database: str
) -> AsyncIterator[PostgresStore]:
    if request.param == "silent":
        store = PostgresStore(postgres_database, listen=False)
    else:
        store = PostgresStore(postgres_database, pooled=True)
    await store.open()
    yield store
    await store.close()


async def test_it_says_that_other_processes_have_to_poll(store: PostgresStore) -> None:
    assert not store.traits.notifies
    assert (await store.vital_signs())["wake-ups"] == "a poll only"


async def test_a_job_lives_its_whole_life(store: PostgresStore) -> None:
    (answer,) = await store.insert([NewJob(task="greet")])
    for verdict in (Verdict.RETRY, Verdict.SNOOZE, Verdict.RELEASED, Verdict.DONE):
        batch = await store.claim("default", limit=1, worker="ada", lease=LEASE)
        assert [job.id for job in batch.jobs] == [answer.id]
        assert (await store.renew("ada", [batch.lease], lease=LEASE)).lost == frozenset()
        assert await store.report(answer.id, batch.lease, '{"at":1}')
        settlement = Settlement(answer.id, batch.lease, verdict)
        assert await store.settle([settlement], closed=[batch.lease]) == []
    (job,) = await store.get([answer.id])
    assert (job.state, job.attempts, job.snoozes) == (State.DONE, 2, 1)
    assert await store.revive([answer.id]) == ["changed"]
    assert await store.cancel([answer.id], reason="enough") == ["changed"]


async def test_rules_lanes_gates_and_schedules_work(store: PostgresStore) -> None:
    jobs = [
        NewJob(task="greet", rule=Unique("ada")),
        NewJob(task="greet", rule=Unique("ada")),
        NewJob(task="greet", rule=Pace("ben", timedelta(hours=1))),
        NewJob(task="greet", lane="cy", limit=Limit(concurrency=1)),
        NewJob(task="greet", lane="cy"),
    ]
    outcomes = [answer.outcome for answer in await store.insert(jobs)]
    assert outcomes == ["inserted", "existing", "inserted", "inserted", "inserted"]
    await store.insert([NewJob(task="greet")] * 60)
    await store.set_gate(Scope("default"), limit=Limit(concurrency=5))
    assert len((await store.claim("default", limit=99, worker="a", lease=LEASE)).jobs) == 5
    now = await store.now()
    await store.put_schedule(Schedule(name="daily", task="greet", recurrence="{}", next_at=now))
    fired = await store.fire(
        "daily", revision=0, expected=now, next_at=None, note=None, jobs=[NewJob(task="greet")]
    )
    assert fired is not None
    beat = WorkerInfo("ada", ("default",), ("greet",), 1, now, now)
    await store.beat(beat)
    assert [worker.name for worker in await store.workers()] == ["ada"]
    assert await store.prune(done=LEASE, failed=LEASE, limit=10) == 0
