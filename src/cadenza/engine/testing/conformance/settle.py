"""Settle: one fenced write says what a run came to, and a stale hand writes nothing."""

import pytest

from cadenza.engine.job import NewJob, Scope, State
from cadenza.engine.outcomes import Park, Settlement, Verdict
from cadenza.engine.testing.conformance.harness import HOUR, LEASE, MINUTE, Harness, read

WAITING_AGAIN = [Verdict.RETRY, Verdict.SNOOZE, Verdict.RELEASED]
FINAL = [Verdict.DONE, Verdict.FAILED, Verdict.CANCELED]


class Settling:
    """What `settle` promises."""

    async def test_done_ends_the_job_with_its_output(self, harness: Harness) -> None:
        now = await harness.store.now()
        (id_,) = [await harness.add()]
        await harness.run(output='{"sent": 3}')
        job = await harness.job(id_)
        assert (job.state, job.attempts) == (State.DONE, 1)
        assert read(job.output) == {"sent": 3}
        assert harness.same(job.finished_at, now)

    async def test_done_without_keeping_removes_the_job(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.run(keep=False)
        assert await harness.store.get([id_]) == []
        assert await harness.store.tally() == []

    @pytest.mark.parametrize("verdict", FINAL)
    async def test_a_finished_job_is_never_handed_out(
        self, harness: Harness, verdict: Verdict
    ) -> None:
        id_ = await harness.add()
        await harness.run(verdict)
        await harness.shift(HOUR)
        assert await harness.take_ids() == []
        job = await harness.job(id_)
        assert job.state.value == verdict.value
        assert (job.worker, job.lease_until) == (None, None)

    async def test_failed_uses_up_the_attempt_and_keeps_the_error(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.run(Verdict.FAILED, error='{"kind": "Refused"}')
        job = await harness.job(id_)
        assert (job.state, job.attempts) == (State.FAILED, 1)
        assert [read(error) for error in job.errors] == [{"kind": "Refused"}]

    async def test_canceled_uses_up_no_attempt(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.run(Verdict.CANCELED, error='{"kind": "Canceled"}')
        job = await harness.job(id_)
        assert (job.state, job.attempts, len(job.errors)) == (State.CANCELED, 0, 1)

    async def test_a_retry_waits_its_delay_and_uses_up_an_attempt(self, harness: Harness) -> None:
        now = await harness.store.now()
        id_ = await harness.add()
        await harness.run(Verdict.RETRY, delay=MINUTE, error='{"kind": "Flaky"}')
        job = await harness.job(id_)
        assert (job.state, job.attempts, job.snoozes) == (State.WAITING, 1, 0)
        assert harness.same(job.run_at, now + MINUTE)
        assert await harness.take_ids() == []
        await harness.shift(MINUTE)
        (claimed,) = (await harness.take()).jobs
        assert (claimed.id, claimed.attempts) == (id_, 1)

    async def test_a_retry_at_an_instant_waits_for_that_instant(self, harness: Harness) -> None:
        at = await harness.store.now() + HOUR
        id_ = await harness.add()
        await harness.run(Verdict.RETRY, at=at, delay=MINUTE)
        assert (await harness.job(id_)).run_at == at

    async def test_a_retry_without_a_wait_is_due_at_once(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.run(Verdict.RETRY)
        assert await harness.take_ids() == [id_]

    async def test_a_snooze_uses_up_no_attempt_and_is_counted(self, harness: Harness) -> None:
        now = await harness.store.now()
        id_ = await harness.add()
        await harness.run(Verdict.SNOOZE, delay=HOUR)
        job = await harness.job(id_)
        assert (job.state, job.attempts, job.snoozes) == (State.WAITING, 0, 1)
        assert harness.same(job.run_at, now + HOUR)
        await harness.shift(HOUR)
        (claimed,) = (await harness.take()).jobs
        assert (claimed.attempts, claimed.snoozes) == (0, 1)

    async def test_a_snooze_until_an_instant_waits_for_that_instant(self, harness: Harness) -> None:
        at = await harness.store.now() + HOUR
        id_ = await harness.add()
        await harness.run(Verdict.SNOOZE, at=at)
        assert (await harness.job(id_)).run_at == at

    async def test_a_released_job_goes_back_untouched(self, harness: Harness) -> None:
        at = await harness.store.now() - HOUR
        id_ = await harness.add(run_at=at)
        await harness.run(Verdict.RELEASED)
        job = await harness.job(id_)
        assert (job.state, job.run_at) == (State.WAITING, at)
        assert (job.attempts, job.snoozes, job.crashes, job.errors) == (0, 0, 0, ())
        assert (job.worker, job.lease_until) == (None, None)
        assert await harness.take_ids() == [id_]

    async def test_errors_are_kept_oldest_first(self, harness: Harness) -> None:
        id_ = await harness.add()
        for number in range(3):
            await harness.run(Verdict.RETRY, error=f'{{"n": {number}}}')
        assert [read(error) for error in (await harness.job(id_)).errors] == [
            {"n": 0},
            {"n": 1},
            {"n": 2},
        ]

    async def test_a_later_lease_fences_out_an_earlier_one(self, harness: Harness) -> None:
        id_ = await harness.add()
        first = await harness.take()
        await harness.settle(first, Verdict.RELEASED)
        second = await harness.take()
        stale = Settlement(id_, first.lease, Verdict.FAILED, error='{"kind": "Stale"}')
        assert await harness.store.settle([stale]) == [stale]
        job = await harness.job(id_)
        assert (job.state, job.lease, job.errors) == (State.RUNNING, second.lease, ())
        assert await harness.settle(second) == []

    @pytest.mark.parametrize("verdict", list(Verdict))
    async def test_an_outcome_is_refused_the_second_time(
        self, harness: Harness, verdict: Verdict
    ) -> None:
        await harness.add()
        batch = await harness.take()
        assert await harness.settle(batch, verdict) == []
        assert len(await harness.settle(batch, Verdict.DONE)) == 1

    async def test_an_unknown_job_is_refused(self, harness: Harness) -> None:
        ghost = Settlement(987_654, 1)
        assert await harness.store.settle([ghost]) == [ghost]

    async def test_a_waiting_job_cannot_be_settled(self, harness: Harness) -> None:
        id_ = await harness.add()
        guess = Settlement(id_, (await harness.job(id_)).lease)
        assert await harness.store.settle([guess]) == [guess]
        assert (await harness.job(id_)).state is State.WAITING

    async def test_of_a_mixed_batch_only_the_stale_are_refused(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 3)
        batch = await harness.take()
        good = [Settlement(job.id, batch.lease) for job in batch.jobs]
        stale = Settlement(batch.jobs[1].id, batch.lease + 1)
        assert await harness.store.settle([good[0], stale, good[2]]) == [stale]
        states = [(await harness.job(job.id)).state for job in batch.jobs]
        assert states == [State.DONE, State.RUNNING, State.DONE]

    async def test_one_call_may_carry_every_verdict(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * len(Verdict))
        batch = await harness.take(len(Verdict))
        pairs = list(zip(batch.jobs, Verdict, strict=True))
        settlements = [Settlement(job.id, batch.lease, verdict) for job, verdict in pairs]
        assert await harness.store.settle(settlements, closed=[batch.lease]) == []
        for job, verdict in pairs:
            wanted = State.WAITING if verdict in WAITING_AGAIN else State(verdict.value)
            assert (await harness.job(job.id)).state is wanted

    async def test_a_lease_that_ran_out_still_settles_until_it_is_rescued(
        self, harness: Harness
    ) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        await harness.shift(2 * LEASE)
        assert await harness.settle(batch) == []
        assert (await harness.job(id_)).state is State.DONE

    async def test_nothing_settled_is_nothing_refused(self, harness: Harness) -> None:
        assert await harness.store.settle([]) == []

    async def test_a_settlement_can_park_a_scope(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.store.insert([NewJob(task="greet", queue="mail")] * 2)
        batch = await harness.take(1, queue="mail")
        await harness.settle(batch, Verdict.SNOOZE, park=Park(Scope("mail"), HOUR))
        assert await harness.take_ids(queue="mail") == []
        assert harness.same((await harness.gate(Scope("mail"))).parked_until, now + HOUR)
        await harness.shift(HOUR)
        assert len(await harness.take_ids(queue="mail")) == 2

    async def test_a_refused_settlement_parks_nothing(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.store.settle(
            [Settlement(id_, 99, Verdict.SNOOZE, park=Park(Scope("default"), HOUR))]
        )
        assert await harness.take_ids() == [id_]

    async def test_a_job_that_parks_its_scope_has_left_it(self, harness: Harness) -> None:
        await harness.add()
        batch = await harness.take()
        await harness.settle(batch, Verdict.SNOOZE, park=Park(Scope("default"), MINUTE))
        assert (await harness.gate(Scope("default"))).in_flight == 0
