"""A cancel and a claim meet at one job: it is canceled, or it runs and is asked to stop."""

import asyncio
from datetime import timedelta

from cadenza.engine.job import NewJob, State
from cadenza.engine.stores.postgres import PostgresStore
from tests.races.conftest import Shared
from tests.races.hold import Holder

LEASE = timedelta(minutes=5)
JOB = "SELECT * FROM cadenza.job WHERE id = $1"


async def test_each_job_is_either_canceled_or_claimed(shared: Shared) -> None:
    answers = await shared.store.insert([NewJob(task="greet") for _ in range(200)])
    ids = [answer.id for answer in answers]
    shared.crew.tell(0, "cancel_each", ids=ids)
    shared.crew.tell(1, "claim_all", limit=1)
    changed = dict(zip(ids, shared.crew.hear(0), strict=True))
    claimed = {id_ for id_, _ in shared.crew.hear(1)}
    assert set(changed.values()) <= {"changed", "requested"}
    assert {id_ for id_, answer in changed.items() if answer == "requested"} <= claimed
    assert claimed.isdisjoint({id_ for id_, answer in changed.items() if answer == "changed"})
    for job in await shared.store.get(ids):
        if changed[job.id] == "changed":
            assert job.state is State.CANCELED
        else:
            assert (job.state, job.cancel_requested) == (State.RUNNING, True)


async def test_a_cancel_that_waits_for_a_claim_asks_the_worker(
    pair: tuple[PostgresStore, PostgresStore], holder: Holder
) -> None:
    """The claimer wins: the job is already in its hands when the cancel comes through."""
    (answer,) = await pair[0].insert([NewJob(task="greet")])
    batch = await pair[0].claim("default", limit=1, worker="ada", lease=LEASE)
    async with holder.hold(JOB, answer.id):
        cancel = asyncio.create_task(pair[1].cancel([answer.id], reason="race"))
        await holder.prove_waiting(1)
    assert await cancel == ["requested"]
    renewal = await pair[0].renew("ada", [batch.lease], lease=LEASE)
    assert renewal.cancel == {answer.id}


async def test_a_claim_passes_a_job_that_is_being_canceled(
    pair: tuple[PostgresStore, PostgresStore], holder: Holder
) -> None:
    """The canceler wins: the claimer neither waits for the row nor takes it afterwards."""
    (answer,) = await pair[0].insert([NewJob(task="greet")])
    async with holder.hold(JOB, answer.id):
        cancel = asyncio.create_task(pair[1].cancel([answer.id], reason="race"))
        await holder.prove_waiting(1)
        batch = await pair[0].claim("default", limit=1, worker="ada", lease=LEASE)
        assert batch.jobs == []
    assert await cancel == ["changed"]
    assert (await pair[0].claim("default", limit=1, worker="ada", lease=LEASE)).jobs == []
