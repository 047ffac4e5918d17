"""Cancel: a waiting job ends at once, a running one is asked to, and both keep the reason."""

import pytest

from cadenza.engine.job import NewJob, State, Unique
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness, read


class Canceling:
    """What `cancel` promises."""

    async def test_a_waiting_job_is_canceled_at_once(self, harness: Harness) -> None:
        id_ = await harness.add()
        now = await harness.store.now()
        assert await harness.store.cancel([id_], reason="not wanted") == ["changed"]
        job = await harness.job(id_)
        assert job.state is State.CANCELED
        assert harness.same(job.finished_at, now)
        assert await harness.take_ids() == []

    async def test_a_canceled_job_keeps_the_reason(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.store.cancel([id_], reason="Ben changed his mind")
        (note,) = [read(error) for error in (await harness.job(id_)).errors]
        assert (note["kind"], note["message"]) == ("Canceled", "Ben changed his mind")

    async def test_a_deferred_job_can_be_canceled(self, harness: Harness) -> None:
        id_ = await harness.add(delay=HOUR)
        assert await harness.store.cancel([id_], reason="not wanted") == ["changed"]
        await harness.shift(2 * HOUR)
        assert await harness.take_ids() == []

    async def test_a_running_job_is_asked_to_stop(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.take()
        assert await harness.store.cancel([id_], reason="not wanted") == ["requested"]
        job = await harness.job(id_)
        assert (job.state, job.cancel_requested) == (State.RUNNING, True)

    async def test_a_running_job_keeps_the_reason_of_the_first_request(
        self, harness: Harness
    ) -> None:
        id_ = await harness.add()
        await harness.take()
        await harness.store.cancel([id_], reason="Ben changed his mind")
        assert await harness.store.cancel([id_], reason="again") == ["requested"]
        (note,) = [read(error) for error in (await harness.job(id_)).errors]
        assert (note["kind"], note["message"]) == ("Canceled", "Ben changed his mind")

    @pytest.mark.parametrize("verdict", [Verdict.RETRY, Verdict.SNOOZE, Verdict.RELEASED])
    async def test_a_job_asked_to_stop_does_not_wait_again(
        self, harness: Harness, verdict: Verdict
    ) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        await harness.store.cancel([id_], reason="not wanted")
        assert await harness.settle(batch, verdict, delay=MINUTE) == []
        job = await harness.job(id_)
        assert job.state is State.CANCELED
        assert job.finished_at is not None
        await harness.shift(HOUR)
        assert await harness.take_ids() == []

    @pytest.mark.parametrize("verdict", [Verdict.DONE, Verdict.FAILED])
    async def test_a_job_that_ended_before_it_heard_of_it_ended_so(
        self, harness: Harness, verdict: Verdict
    ) -> None:
        id_ = await harness.add()
        batch = await harness.take()
        await harness.store.cancel([id_], reason="not wanted")
        await harness.settle(batch, verdict)
        assert (await harness.job(id_)).state.value == verdict.value

    @pytest.mark.parametrize("verdict", [Verdict.DONE, Verdict.FAILED, Verdict.CANCELED])
    async def test_a_finished_job_is_not_changed(self, harness: Harness, verdict: Verdict) -> None:
        id_ = await harness.add()
        await harness.run(verdict)
        before = await harness.job(id_)
        assert await harness.store.cancel([id_], reason="too late") == ["unchanged"]
        assert await harness.job(id_) == before

    async def test_cancel_answers_in_the_order_of_the_ids(self, harness: Harness) -> None:
        done = await harness.add()
        await harness.run()
        running = await harness.add()
        await harness.take()
        waiting = await harness.add()
        answers = await harness.store.cancel([987_654, waiting, done, running], reason="not wanted")
        assert answers == ["unknown", "changed", "unchanged", "requested"]

    async def test_a_canceled_job_frees_its_unique_key(self, harness: Harness) -> None:
        id_ = await harness.add(rule=Unique("ada"))
        await harness.store.cancel([id_], reason="not wanted")
        assert (
            await harness.insert(NewJob(task="greet", rule=Unique("ada")))
        ).outcome == "inserted"

    async def test_a_job_in_a_lane_can_be_canceled(self, harness: Harness) -> None:
        first = await harness.add(lane="ada")
        second = await harness.add(lane="ada")
        await harness.store.cancel([first], reason="not wanted")
        assert await harness.take_ids() == [second]
