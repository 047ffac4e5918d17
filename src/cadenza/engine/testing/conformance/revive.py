"""Revive: a finished job waits again with fresh counters, a waiting one goes now."""

import pytest

from cadenza.engine.job import NewJob, State, Unique
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness, read


class Reviving:
    """What `revive` promises."""

    @pytest.mark.parametrize("verdict", [Verdict.DONE, Verdict.FAILED, Verdict.CANCELED])
    async def test_a_finished_job_waits_again(self, harness: Harness, verdict: Verdict) -> None:
        id_ = await harness.add()
        await harness.run(verdict, output='{"n": 1}')
        assert await harness.store.revive([id_]) == ["changed"]
        job = await harness.job(id_)
        assert (job.state, job.finished_at, job.output) == (State.WAITING, None, None)
        assert await harness.take_ids() == [id_]

    async def test_a_revived_job_has_fresh_counters(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.run(Verdict.SNOOZE)
        await harness.crash()
        await harness.settle(await harness.take(), Verdict.FAILED)
        await harness.store.revive([id_])
        job = await harness.job(id_)
        assert (job.attempts, job.crashes, job.snoozes) == (0, 0, 0)

    async def test_a_revived_job_keeps_its_errors(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.run(Verdict.FAILED, error='{"kind": "Refused"}')
        await harness.store.revive([id_])
        assert [read(error) for error in (await harness.job(id_)).errors] == [{"kind": "Refused"}]

    async def test_a_revived_job_is_no_longer_to_be_canceled(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        await harness.store.cancel([id_], reason="not wanted")
        await harness.settle(batch, Verdict.RETRY)
        await harness.store.revive([id_])
        assert not (await harness.job(id_)).cancel_requested
        await harness.run(Verdict.RETRY)
        assert (await harness.job(id_)).state is State.WAITING

    async def test_a_revived_job_has_a_higher_lease_than_before(self, harness: Harness) -> None:
        await harness.add()
        first = await harness.take()
        await harness.settle(first)
        await harness.store.revive([first.jobs[0].id])
        second = await harness.take()
        assert second.lease > first.lease
        assert len(await harness.settle(first)) == 1

    async def test_a_revived_job_no_longer_holds_a_unique_key(self, harness: Harness) -> None:
        id_ = await harness.add(rule=Unique("ada"))
        await harness.run()
        newer = await harness.add(rule=Unique("ada"))
        await harness.store.revive([id_])
        assert (await harness.job(id_)).unique_key is None
        assert (await harness.insert(NewJob(task="greet", rule=Unique("ada")))).id == newer
        await harness.run()
        assert (
            await harness.insert(NewJob(task="greet", rule=Unique("ada")))
        ).outcome == "inserted"

    async def test_a_waiting_job_goes_now(self, harness: Harness) -> None:
        id_ = await harness.add(delay=HOUR)
        now = await harness.store.now()
        assert await harness.store.revive([id_]) == ["changed"]
        assert harness.same((await harness.job(id_)).run_at, now)
        assert await harness.take_ids() == [id_]

    async def test_a_waiting_job_that_goes_now_keeps_its_counters(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.run(Verdict.RETRY, delay=HOUR)
        await harness.store.revive([id_])
        assert (await harness.job(id_)).attempts == 1

    async def test_a_due_job_keeps_its_place(self, harness: Harness) -> None:
        at = await harness.store.now() - MINUTE
        id_ = await harness.add(run_at=at)
        await harness.store.revive([id_])
        assert (await harness.job(id_)).run_at == at

    async def test_a_running_job_is_not_changed(self, harness: Harness) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        assert await harness.store.revive([id_]) == ["unchanged"]
        assert await harness.take_ids() == []
        assert await harness.settle(batch) == []

    async def test_revive_answers_in_the_order_of_the_ids(self, harness: Harness) -> None:
        running = await harness.add()
        await harness.take()
        waiting = await harness.add(delay=HOUR)
        answers = await harness.store.revive([987_654, waiting, running])
        assert answers == ["unknown", "changed", "unchanged"]

    async def test_a_revived_job_stands_in_its_lane_again(self, harness: Harness) -> None:
        id_ = await harness.add(lane="ada")
        await harness.run()
        await harness.store.revive([id_])
        (job,) = (await harness.take()).jobs
        assert (job.id, job.lane) == (id_, "ada")
