"""Rescue: what a silent worker held goes back; what it had started counts a crash, or is buried."""

import pytest

from cadenza.engine.job import Limit, NewJob, Scope, State, Unique
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Rescue
from cadenza.engine.testing.conformance.harness import LEASE, MINUTE, NEVER, SECOND, Harness, read


class Rescuing:
    """What `rescue` promises."""

    async def test_a_job_of_an_expired_lease_goes_back(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.take()
        await harness.shift(LEASE + SECOND)
        assert await harness.store.rescue(crash_limit=NEVER) == Rescue(returned=(id_,))
        job = await harness.job(id_)
        assert (job.state, job.worker, job.lease_until) == (State.WAITING, None, None)

    async def test_a_job_of_a_running_lease_is_left_alone(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.take()
        await harness.shift(LEASE - 5 * SECOND)
        assert await harness.store.rescue(crash_limit=NEVER) == Rescue()
        assert (await harness.job(id_)).state is State.RUNNING

    async def test_a_job_is_rescued_once(self, harness: Harness) -> None:
        await harness.add()
        await harness.crash()
        assert await harness.store.rescue(crash_limit=NEVER) == Rescue()

    async def test_a_rescue_counts_a_crash_and_no_attempt(self, harness: Harness) -> None:
        at = await harness.store.now() - MINUTE
        id_ = await harness.add(run_at=at)
        await harness.crash()
        job = await harness.job(id_)
        assert (job.crashes, job.attempts, job.snoozes, job.errors) == (1, 0, 0, ())
        assert job.run_at == at

    async def test_what_was_only_claimed_counts_no_crash(self, harness: Harness) -> None:
        ids = [await harness.add(), await harness.add(lane="ada")]
        await harness.take(started=False)
        assert set((await harness.expire(crash_limit=1)).returned) == set(ids)
        jobs = [await harness.job(id_) for id_ in ids]
        assert {(job.state, job.crashes) for job in jobs} == {(State.WAITING, 0)}

    async def test_only_what_was_started_counts_a_crash(self, harness: Harness) -> None:
        ids = [await harness.add() for _ in range(4)]
        batch = await harness.take(started=False)
        await harness.store.start({batch.lease: [ids[2]]})
        await harness.store.start({batch.lease: [ids[2], ids[0]]})
        await harness.expire()
        jobs = [await harness.job(id_) for id_ in ids]
        assert [job.crashes for job in jobs] == [1, 0, 1, 0]

    async def test_starting_adds_nothing_to_what_was_claimed_as_started(
        self, harness: Harness
    ) -> None:
        ids = [await harness.add() for _ in range(2)]
        batch = await harness.take()
        await harness.store.start({batch.lease: [ids[0]]})
        await harness.expire()
        assert [(await harness.job(id_)).crashes for id_ in ids] == [1, 1]

    async def test_a_crashed_job_that_was_only_claimed_stays_as_it_was(
        self, harness: Harness
    ) -> None:
        id_ = await harness.add()
        await harness.crash_twice()
        await harness.crash(alone=True, started=False, crash_limit=2)
        assert ((await harness.job(id_)).crashes, (await harness.take()).crashed) == (2, True)
        assert await harness.take_ids(alone=True) == [id_]

    async def test_a_lost_lease_starts_nothing(self, harness: Harness) -> None:
        id_ = await harness.add()
        lost = await harness.crash(started=False)
        await harness.take(started=False)
        await harness.store.start({lost.lease: [id_], lost.lease + 1_000_000: [id_]})
        await harness.expire()
        assert (await harness.job(id_)).crashes == 0

    async def test_many_jobs_of_many_leases_come_back(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 300)
        for _ in range(150):
            await harness.take(2)
        await harness.shift(LEASE + SECOND)
        back: set[int] = set()
        while found := (await harness.store.rescue(crash_limit=NEVER)).returned:
            back.update(found)
        assert len(back) == 300
        assert len(await harness.take_ids(300)) == 300

    async def test_the_silent_worker_can_no_longer_settle(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.crash()
        assert len(await harness.settle(batch)) == 1
        assert (await harness.job(id_)).state is State.WAITING

    async def test_the_silent_worker_cannot_settle_its_jobs_next_run(
        self, harness: Harness
    ) -> None:
        id_ = await harness.add()
        lost = await harness.crash()
        held = await harness.take()
        assert held.lease > lost.lease
        assert len(await harness.settle(lost)) == 1
        assert (await harness.job(id_)).state is State.RUNNING

    async def test_settled_jobs_of_an_expired_lease_stay_settled(self, harness: Harness) -> None:
        ids = [await harness.add() for _ in range(3)]
        batch = await harness.take()
        await harness.store.settle([Settlement(ids[1], batch.lease)])
        await harness.shift(LEASE + SECOND)
        rescue = await harness.store.rescue(crash_limit=NEVER)
        assert set(rescue.returned) == {ids[0], ids[2]}
        assert (await harness.job(ids[1])).state is State.DONE

    async def test_a_job_settled_into_waiting_is_not_rescued_with_its_old_lease(
        self, harness: Harness
    ) -> None:
        id_ = await harness.add()
        await harness.settle(await harness.take(), Verdict.RELEASED, closed=False)
        await harness.shift(LEASE + SECOND)
        assert await harness.store.rescue(crash_limit=NEVER) == Rescue()
        assert (await harness.job(id_)).crashes == 0

    async def test_at_the_crash_limit_a_job_is_buried_with_its_reason(
        self, harness: Harness
    ) -> None:
        id_ = await harness.add()
        await harness.crash(crash_limit=2)
        await harness.take()
        assert await harness.expire(crash_limit=2) == Rescue(buried=(id_,))
        now = await harness.store.now()
        job = await harness.job(id_)
        assert (job.state, job.crashes) == (State.FAILED, 2)
        assert harness.same(job.finished_at, now)
        (note,) = [read(error) for error in job.errors]
        assert note["kind"] == "Crashed"
        assert "2 times" in note["message"]

    async def test_a_crash_limit_of_one_buries_at_once(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.crash(crash_limit=1)
        assert (await harness.job(id_)).state is State.FAILED

    async def test_one_rescue_returns_some_and_buries_others(self, harness: Harness) -> None:
        weak = await harness.add()
        await harness.crash(crash_limit=2)
        fresh = await harness.add()
        await harness.take()
        await harness.shift(LEASE + SECOND)
        assert await harness.store.rescue(crash_limit=2) == Rescue(
            returned=(fresh,), buried=(weak,)
        )

    async def test_a_job_that_was_to_be_canceled_ends_canceled(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.take()
        await harness.store.cancel([id_], reason="not wanted")
        await harness.shift(LEASE + SECOND)
        rescue = await harness.store.rescue(crash_limit=1)
        assert rescue.buried == ()
        assert (await harness.job(id_)).state is State.CANCELED
        assert await harness.take_ids(alone=True) == []

    async def test_a_buried_job_frees_its_unique_key(self, harness: Harness) -> None:
        await harness.add(rule=Unique("ada"))
        await harness.crash(crash_limit=1)
        assert (
            await harness.insert(NewJob(task="greet", rule=Unique("ada")))
        ).outcome == "inserted"

    async def test_a_returned_job_keeps_its_live_unique_key(self, harness: Harness) -> None:
        id_ = await harness.add(rule=Unique("ada"))
        await harness.crash()
        answer = await harness.insert(NewJob(task="greet", rule=Unique("ada")))
        assert (answer.outcome, answer.id) == ("existing", id_)

    @pytest.mark.parametrize("crash_limit", [1, NEVER])
    async def test_a_rescued_job_gives_its_place_back(
        self, harness: Harness, crash_limit: int
    ) -> None:
        await harness.store.set_gate(Scope("default"), limit=Limit(concurrency=1))
        await harness.store.insert(
            [NewJob(task="greet", lane="ada", limit=Limit(concurrency=1))] * 2
        )
        await harness.crash(crash_limit=crash_limit)
        assert (await harness.gate(Scope("default"))).in_flight == 0
        assert (await harness.gate(Scope("default", "ada"))).in_flight == 0
        assert len(await harness.take_ids()) == 1
