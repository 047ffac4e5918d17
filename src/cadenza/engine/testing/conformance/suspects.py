"""Suspects: a job whose process died is claimed alone, so that it takes no neighbours with it."""

from cadenza.engine.job import NewJob, Scope, State
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness


class Suspects:
    """What `claim(alone=True)` and `Batch.suspects` promise."""

    async def test_a_suspect_is_not_handed_out_among_others(self, harness: Harness) -> None:
        await harness.add()
        await harness.crash()
        fresh = await harness.add()
        batch = await harness.take()
        assert [job.id for job in batch.jobs] == [fresh]
        assert batch.suspects

    async def test_alone_hands_out_one_suspect(self, harness: Harness) -> None:
        ids = [await harness.add() for _ in range(3)]
        await harness.crash()
        batches = [await harness.take(alone=True) for _ in range(4)]
        assert [len(batch.jobs) for batch in batches] == [1, 1, 1, 0]
        assert [job.id for batch in batches for job in batch.jobs] == ids
        assert [batch.suspects for batch in batches] == [True, True, False, False]
        assert all(job.crashes == 1 for batch in batches for job in batch.jobs)

    async def test_alone_hands_out_no_ordinary_job(self, harness: Harness) -> None:
        await harness.add()
        assert (await harness.take(alone=True)).jobs == []

    async def test_no_suspects_are_told_when_there_are_none(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 2)
        assert not (await harness.take(1)).suspects
        await harness.take(1)
        assert not (await harness.take(1)).suspects

    async def test_an_empty_batch_tells_of_suspects(self, harness: Harness) -> None:
        await harness.add()
        await harness.crash()
        batch = await harness.take()
        assert (batch.jobs, batch.suspects) == ([], True)

    async def test_a_suspect_is_due_now(self, harness: Harness) -> None:
        await harness.add()
        await harness.crash()
        due = await harness.store.next_due("default")
        assert due is not None
        assert due <= await harness.store.now()

    async def test_suspects_come_by_priority_too(self, harness: Harness) -> None:
        later = await harness.add(priority=1)
        sooner = await harness.add(priority=0)
        await harness.crash()
        assert await harness.take_ids(alone=True) == [sooner]
        assert await harness.take_ids(alone=True) == [later]

    async def test_a_suspect_in_a_lane_is_claimed_alone_as_well(self, harness: Harness) -> None:
        id_ = await harness.add(lane="ada")
        await harness.crash()
        batch = await harness.take()
        assert (batch.jobs, batch.suspects) == ([], True)
        assert await harness.take_ids(alone=True) == [id_]

    async def test_a_suspect_that_waits_again_stays_a_suspect(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.crash()
        batch = await harness.take(alone=True)
        await harness.settle(batch, Verdict.RETRY, delay=MINUTE)
        assert not (await harness.take()).suspects
        await harness.shift(MINUTE)
        assert (await harness.take()).suspects
        assert await harness.take_ids(alone=True) == [id_]

    async def test_a_suspect_that_runs_well_is_done(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.crash()
        await harness.settle(await harness.take(alone=True))
        job = await harness.job(id_)
        assert (job.state, job.crashes, job.attempts) == (State.DONE, 1, 1)

    async def test_a_revived_job_is_no_longer_a_suspect(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.crash(crash_limit=1)
        await harness.store.revive([id_])
        batch = await harness.take()
        assert [job.id for job in batch.jobs] == [id_]
        assert not batch.suspects

    async def test_a_canceled_suspect_is_gone(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.crash()
        await harness.store.cancel([id_], reason="not wanted")
        batch = await harness.take(alone=True)
        assert (batch.jobs, batch.suspects) == ([], False)

    async def test_no_suspects_are_told_behind_a_closed_gate(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet"), NewJob(task="greet", lane="ada")])
        await harness.crash()
        await harness.store.set_gate(Scope("default"), park=HOUR)
        batch = await harness.take()
        assert (batch.jobs, batch.suspects) == ([], False)
        assert (await harness.take(alone=True)).jobs == []

    async def test_no_suspects_are_told_of_a_closed_lane(self, harness: Harness) -> None:
        await harness.add(lane="ada")
        await harness.crash()
        await harness.store.set_gate(Scope("default", "ada"), paused=True)
        batch = await harness.take(alone=True)
        assert (batch.jobs, batch.suspects) == ([], False)
