"""Crashed jobs: one whose process died twice is claimed by itself, so that no two of them share a process."""

from cadenza.engine.job import NewJob, Scope, State
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness


class CrashedJobs:
    """What `claim(alone=True)` and `Batch.crashed` promise."""

    async def test_a_crashed_job_is_not_handed_out_among_others(self, harness: Harness) -> None:
        await harness.add()
        await harness.crash_twice()
        fresh = await harness.add()
        batch = await harness.take()
        assert [job.id for job in batch.jobs] == [fresh]
        assert batch.crashed

    async def test_alone_hands_out_one_crashed_job(self, harness: Harness) -> None:
        ids = [await harness.add() for _ in range(3)]
        await harness.crash_twice()
        batches = [await harness.take(alone=True) for _ in range(4)]
        assert [len(batch.jobs) for batch in batches] == [1, 1, 1, 0]
        assert [job.id for batch in batches for job in batch.jobs] == ids
        assert [batch.crashed for batch in batches] == [True, True, False, False]
        assert all(job.crashes == 2 for batch in batches for job in batch.jobs)

    async def test_a_job_that_crashed_once_runs_among_others(self, harness: Harness) -> None:
        weak = await harness.add()
        await harness.crash()
        fresh = await harness.add()
        assert (await harness.take(alone=True)).jobs == []
        batch = await harness.take()
        assert ([job.id for job in batch.jobs], batch.crashed) == ([weak, fresh], False)
        assert [job.crashes for job in batch.jobs] == [1, 0]

    async def test_alone_hands_out_no_ordinary_job(self, harness: Harness) -> None:
        await harness.add()
        assert (await harness.take(alone=True)).jobs == []

    async def test_no_crashed_jobs_are_told_when_there_are_none(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 2)
        assert not (await harness.take(1)).crashed
        await harness.take(1)
        assert not (await harness.take(1)).crashed

    async def test_an_empty_batch_tells_of_crashed_jobs(self, harness: Harness) -> None:
        await harness.add()
        await harness.crash_twice()
        batch = await harness.take()
        assert (batch.jobs, batch.crashed) == ([], True)

    async def test_a_crashed_job_is_due_now(self, harness: Harness) -> None:
        await harness.add()
        await harness.crash_twice()
        due = await harness.store.next_due("default")
        assert due is not None
        assert due <= await harness.store.now()

    async def test_crashed_jobs_come_by_priority_too(self, harness: Harness) -> None:
        later = await harness.add(priority=1)
        sooner = await harness.add(priority=0)
        await harness.crash_twice()
        assert await harness.take_ids(alone=True) == [sooner]
        assert await harness.take_ids(alone=True) == [later]

    async def test_a_crashed_job_in_a_lane_is_claimed_alone_as_well(self, harness: Harness) -> None:
        id_ = await harness.add(lane="ada")
        await harness.crash_twice()
        batch = await harness.take()
        assert (batch.jobs, batch.crashed) == ([], True)
        assert await harness.take_ids(alone=True) == [id_]

    async def test_a_crashed_job_that_waits_again_stays_a_crashed_job(
        self, harness: Harness
    ) -> None:
        id_ = await harness.add()
        await harness.crash_twice()
        batch = await harness.take(alone=True)
        await harness.settle(batch, Verdict.RETRY, delay=MINUTE)
        assert not (await harness.take()).crashed
        await harness.shift(MINUTE)
        assert (await harness.take()).crashed
        assert await harness.take_ids(alone=True) == [id_]

    async def test_a_crashed_job_that_runs_well_is_done(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.crash_twice()
        await harness.settle(await harness.take(alone=True))
        job = await harness.job(id_)
        assert (job.state, job.crashes, job.attempts) == (State.DONE, 2, 1)

    async def test_a_revived_job_is_no_longer_a_crashed_job(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.crash(crash_limit=1)
        await harness.store.revive([id_])
        batch = await harness.take()
        assert [job.id for job in batch.jobs] == [id_]
        assert not batch.crashed

    async def test_a_canceled_crashed_job_is_gone(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.crash_twice()
        await harness.store.cancel([id_], reason="not wanted")
        batch = await harness.take(alone=True)
        assert (batch.jobs, batch.crashed) == ([], False)

    async def test_no_crashed_jobs_are_told_behind_a_closed_gate(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet"), NewJob(task="greet", lane="ada")])
        await harness.crash_twice()
        await harness.store.set_gate(Scope("default"), park=HOUR)
        batch = await harness.take()
        assert (batch.jobs, batch.crashed) == ([], False)
        assert (await harness.take(alone=True)).jobs == []

    async def test_no_crashed_jobs_are_told_of_a_closed_lane(self, harness: Harness) -> None:
        await harness.add(lane="ada")
        await harness.crash_twice()
        await harness.store.set_gate(Scope("default", "ada"), paused=True)
        batch = await harness.take(alone=True)
        assert (batch.jobs, batch.crashed) == ([], False)
