"""A worker and a rescuer meet at one job: whoever comes first wins, the other writes nothing."""

import asyncio
from datetime import timedelta

import pytest

from cadenza.engine.job import NewJob, State
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Batch, Rescue
from cadenza.engine.stores.postgres import PostgresStore
from tests.races.conftest import Shared
from tests.races.hold import Holder

AT_ONCE = timedelta(microseconds=1)  # a lease that has run out before anyone can look
JOB = "SELECT * FROM cadenza.job WHERE id = $1"
Pair = tuple[PostgresStore, PostgresStore]


async def _claim_and_fall_silent(store: PostgresStore) -> Batch:
    await store.insert([NewJob(task="greet")])
    return await store.claim("default", limit=1, worker="ada", lease=AT_ONCE)


async def test_the_rescuer_beats_the_slow_worker(pair: Pair, holder: Holder) -> None:
    worker, rescuer = pair
    batch = await _claim_and_fall_silent(worker)
    (job,) = batch.jobs
    async with holder.hold(JOB, job.id):
        winner = asyncio.create_task(rescuer.rescue(crash_limit=9))
        await holder.prove_waiting(1)
        settlement = Settlement(job.id, batch.lease)
        loser = asyncio.create_task(worker.settle([settlement]))
        await holder.prove_waiting(2)
    assert await winner == Rescue(returned=(job.id,))
    assert await loser == [settlement]
    (after,) = await worker.get([job.id])
    assert (after.state, after.crashes, after.attempts) == (State.WAITING, 1, 0)


@pytest.mark.parametrize("verdict", list(Verdict))
async def test_the_worker_beats_the_hasty_rescuer(
    pair: Pair, holder: Holder, verdict: Verdict
) -> None:
    worker, rescuer = pair
    batch = await _claim_and_fall_silent(worker)
    (job,) = batch.jobs
    async with holder.hold(JOB, job.id):
        winner = asyncio.create_task(worker.settle([Settlement(job.id, batch.lease, verdict)]))
        await holder.prove_waiting(1)
        loser = asyncio.create_task(rescuer.rescue(crash_limit=9))
        await holder.prove_waiting(2)
    assert await winner == []
    assert await loser == Rescue()
    (after,) = await worker.get([job.id])
    assert after.crashes == 0
    assert after.state is not State.RUNNING


async def test_closing_a_lease_while_it_is_rescued_ends_well_for_both(
    pair: Pair, holder: Holder
) -> None:
    worker, rescuer = pair
    batch = await _claim_and_fall_silent(worker)
    (job,) = batch.jobs
    settlement = Settlement(job.id, batch.lease)
    async with holder.hold(JOB, job.id):
        rescue = asyncio.create_task(rescuer.rescue(crash_limit=9))
        await holder.prove_waiting(1)
        settle = asyncio.create_task(worker.settle([settlement], closed=[batch.lease]))
        await holder.prove_waiting(2)
    refused, rescued = await settle, await rescue
    assert (refused == []) == (rescued.returned == ()), "exactly one of them won"
    (after,) = await worker.get([job.id])
    assert after.state is (State.WAITING if refused else State.DONE)


@pytest.mark.parametrize("verdict", [Verdict.DONE, Verdict.SNOOZE])
async def test_of_many_jobs_each_is_either_settled_or_rescued(
    shared: Shared, verdict: Verdict
) -> None:
    answers = await shared.store.insert([NewJob(task="greet") for _ in range(120)])
    pairs: list[tuple[int, int]] = []
    for _ in answers:
        batch = await shared.store.claim("default", limit=1, worker="ada", lease=AT_ONCE)
        pairs += [(job.id, batch.lease) for job in batch.jobs]
    shared.crew.tell(0, "settle_each", pairs=pairs, verdict=verdict.value)
    shared.crew.tell(1, "rescue_all", wanted=len(pairs))
    settled, rescued = shared.crew.hear(0), shared.crew.hear(1)
    by_worker = {id_ for (id_, _), accepted in zip(pairs, settled, strict=True) if accepted}
    assert by_worker | set(rescued) == {answer.id for answer in answers}
    assert by_worker & set(rescued) == set()
    for job in await shared.store.get([id_ for id_, _ in pairs]):
        if job.id in by_worker:
            assert (job.crashes, job.attempts + job.snoozes) == (0, 1)
        else:
            assert (job.state, job.crashes, job.attempts, job.snoozes) == (State.WAITING, 1, 0, 0)


async def test_two_rescuers_count_one_crash(pair: Pair, holder: Holder) -> None:
    batch = await _claim_and_fall_silent(pair[0])
    (job,) = batch.jobs
    async with holder.hold(JOB, job.id):
        rescues = [asyncio.create_task(store.rescue(crash_limit=9)) for store in pair]
        await holder.prove_waiting(1)
    answers = [await rescue for rescue in rescues]
    assert sorted(answer.returned for answer in answers) == [(), (job.id,)]
    (after,) = await pair[0].get([job.id])
    assert after.crashes == 1
