"""Prune: finished jobs go when they are old enough, some at a time; live ones never."""

import pytest

from cadenza.engine.job import NewJob, State
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import DAY, HOUR, MINUTE, Harness

WEEK = 7 * DAY


class Pruning:
    """What `prune` promises."""

    @pytest.mark.parametrize("verdict", [Verdict.DONE, Verdict.CANCELED])
    async def test_a_job_finished_long_ago_goes(self, harness: Harness, verdict: Verdict) -> None:
        id_ = await harness.add()
        await harness.run(verdict)
        await harness.shift(DAY + MINUTE)
        assert await harness.store.prune(done=DAY, failed=WEEK, limit=100) == 1
        assert await harness.store.get([id_]) == []

    async def test_a_failed_job_has_an_age_of_its_own(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.run(Verdict.FAILED)
        await harness.shift(DAY + MINUTE)
        assert await harness.store.prune(done=HOUR, failed=WEEK, limit=100) == 0
        await harness.shift(WEEK)
        assert await harness.store.prune(done=HOUR, failed=WEEK, limit=100) == 1
        assert await harness.store.get([id_]) == []

    async def test_a_job_finished_lately_stays(self, harness: Harness) -> None:
        id_ = await harness.add(run_at=await harness.store.now() - WEEK)
        await harness.run()
        await harness.shift(DAY - MINUTE)
        assert await harness.store.prune(done=DAY, failed=DAY, limit=100) == 0
        assert (await harness.job(id_)).state is State.DONE

    async def test_live_jobs_never_go(self, harness: Harness) -> None:
        running = await harness.add()
        await harness.take()
        waiting = await harness.add(delay=HOUR)
        revived = await harness.add()
        await harness.run()
        await harness.store.revive([revived])
        await harness.shift(100 * WEEK)
        assert await harness.store.prune(done=DAY, failed=DAY, limit=100) == 0
        assert len(await harness.store.get([running, waiting, revived])) == 3

    async def test_no_more_than_the_limit_go_at_once(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 5)
        await harness.run()
        await harness.shift(2 * DAY)
        counts = [await harness.store.prune(done=DAY, failed=DAY, limit=2) for _ in range(4)]
        assert counts == [2, 2, 1, 0]

    async def test_the_limit_is_shared_by_done_and_failed(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 4)
        await harness.run(limit=2)
        await harness.run(Verdict.FAILED, limit=2)
        await harness.shift(2 * DAY)
        counts = [await harness.store.prune(done=DAY, failed=DAY, limit=3) for _ in range(2)]
        assert counts == [3, 1]

    async def test_pruning_nothing_says_so(self, harness: Harness) -> None:
        assert await harness.store.prune(done=DAY, failed=DAY, limit=10) == 0
