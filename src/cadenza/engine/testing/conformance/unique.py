"""Unique keys: one job of a key at a time, and the second caller is told which one it is."""

import pytest

from cadenza.engine.job import NewJob, Unique, While
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness

LIVE = NewJob(task="greet", rule=Unique("ada", While.LIVE))
QUEUED = NewJob(task="greet", rule=Unique("ada", While.QUEUED))
EITHER = pytest.mark.parametrize("job", [LIVE, QUEUED], ids=["live", "queued"])


class Uniqueness:
    """What `Unique` promises."""

    @EITHER
    async def test_a_second_job_of_a_key_is_answered_with_the_first(
        self, harness: Harness, job: NewJob
    ) -> None:
        first, second = await harness.insert(job), await harness.insert(job)
        assert (first.outcome, second.outcome) == ("inserted", "existing")
        assert (second.id, second.run_at) == (first.id, first.run_at)
        assert [tally.count for tally in await harness.store.tally()] == [1]

    async def test_a_second_job_leaves_the_first_as_it_was(self, harness: Harness) -> None:
        id_ = await harness.add(rule=Unique("ada"), delay=HOUR, payload='{"n": 1}')
        before = await harness.job(id_)
        await harness.insert(
            NewJob(task="post", rule=Unique("ada"), payload='{"n": 2}', priority=-5)
        )
        assert await harness.job(id_) == before

    async def test_the_holder_shows_its_key(self, harness: Harness) -> None:
        assert (await harness.job(await harness.add(rule=Unique("ada")))).unique_key == "ada"

    async def test_a_key_holds_over_queues_and_tasks(self, harness: Harness) -> None:
        if not harness.store.traits.keys_span_queues:
            pytest.skip("the store keeps a key in each queue for itself")
        first = await harness.insert(LIVE)
        other = NewJob(task="post", queue="mail", rule=Unique("ada"))
        assert (await harness.insert(other)).id == first.id

    async def test_other_keys_are_free(self, harness: Harness) -> None:
        await harness.insert(LIVE)
        assert (await harness.insert(NewJob(task="greet", rule=Unique("ben")))).inserted

    async def test_a_job_without_a_rule_takes_no_key(self, harness: Harness) -> None:
        await harness.insert(LIVE)
        assert (await harness.insert(NewJob(task="greet"))).inserted

    async def test_a_live_key_is_held_while_the_job_runs(self, harness: Harness) -> None:
        first = await harness.insert(LIVE)
        await harness.take()
        assert (await harness.insert(LIVE)).id == first.id

    async def test_a_queued_key_is_free_once_the_job_is_claimed(self, harness: Harness) -> None:
        first = await harness.insert(QUEUED)
        await harness.take()
        second = await harness.insert(QUEUED)
        assert second.inserted
        assert second.id != first.id

    @pytest.mark.parametrize("verdict", [Verdict.DONE, Verdict.FAILED, Verdict.CANCELED])
    async def test_a_finished_job_frees_a_live_key(
        self, harness: Harness, verdict: Verdict
    ) -> None:
        await harness.insert(LIVE)
        await harness.run(verdict)
        assert (await harness.insert(LIVE)).inserted

    async def test_a_removed_job_frees_a_live_key(self, harness: Harness) -> None:
        await harness.insert(LIVE)
        await harness.run(keep=False)
        assert (await harness.insert(LIVE)).inserted

    @pytest.mark.parametrize("verdict", [Verdict.RETRY, Verdict.SNOOZE, Verdict.RELEASED])
    async def test_a_job_that_waits_again_keeps_a_live_key(
        self, harness: Harness, verdict: Verdict
    ) -> None:
        first = await harness.insert(LIVE)
        await harness.run(verdict, delay=MINUTE)
        assert (await harness.insert(LIVE)).id == first.id

    async def test_a_job_that_waits_again_does_not_take_a_queued_key_back(
        self, harness: Harness
    ) -> None:
        await harness.insert(QUEUED)
        await harness.run(Verdict.RETRY, delay=MINUTE)
        assert (await harness.insert(QUEUED)).inserted

    async def test_the_end_of_an_earlier_holder_does_not_free_a_later_holders_key(
        self, harness: Harness
    ) -> None:
        await harness.insert(QUEUED)
        early = await harness.take()
        second = await harness.insert(QUEUED)
        await harness.settle(early)
        assert (await harness.insert(QUEUED)).id == second.id

    async def test_a_key_may_be_taken_by_either_kind(self, harness: Harness) -> None:
        first = await harness.insert(QUEUED)
        assert (await harness.insert(LIVE)).id == first.id

    async def test_a_key_taken_in_a_bulk_is_taken_for_its_later_jobs(
        self, harness: Harness
    ) -> None:
        answers = await harness.store.insert([LIVE] * 5)
        assert [answer.outcome for answer in answers] == ["inserted"] + ["existing"] * 4
        assert len({answer.id for answer in answers}) == 1
