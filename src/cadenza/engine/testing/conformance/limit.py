"""Limits: how many of a queue or a lane run at once, and how many start in a time."""

import pytest

from cadenza.engine.job import Limit, NewJob, Rate, Scope
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness

QUEUE = Scope("default")
LANE = Scope("default", "ada")
ONE = Limit(concurrency=1)


class Limiting:
    """What `set_gate(limit=...)` and a job's own `limit` promise."""

    async def test_no_more_of_a_queue_run_at_once_than_its_limit(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(concurrency=2))
        await harness.store.insert([NewJob(task="greet")] * 5)
        batch = await harness.take()
        assert len(batch.jobs) == 2
        assert await harness.take_ids() == []
        assert (await harness.gate(QUEUE)).in_flight == 2

    @pytest.mark.parametrize("verdict", list(Verdict))
    async def test_a_settled_job_makes_room(self, harness: Harness, verdict: Verdict) -> None:
        await harness.store.set_gate(QUEUE, limit=ONE)
        await harness.store.insert([NewJob(task="greet")] * 2)
        await harness.run(verdict, delay=HOUR)
        assert (await harness.gate(QUEUE)).in_flight == 0
        assert len(await harness.take_ids()) == 1

    async def test_a_refused_settlement_makes_no_room(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(concurrency=2))
        await harness.store.insert([NewJob(task="greet")] * 3)
        first = await harness.take(1)
        await harness.settle(first)
        await harness.take(2)
        await harness.settle(first)
        assert await harness.take_ids() == []

    async def test_plain_jobs_and_lanes_share_the_queues_limit(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(concurrency=3))
        await harness.store.insert([NewJob(task="greet"), NewJob(task="greet", lane="ada")] * 3)
        assert len(await harness.take_ids()) == 3
        assert await harness.take_ids() == []

    async def test_a_limit_set_late_counts_what_already_runs(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 3)
        batch = await harness.take(2)
        gate = await harness.store.set_gate(QUEUE, limit=Limit(concurrency=2))
        assert gate.in_flight == 2
        assert await harness.take_ids() == []
        await harness.settle(batch)
        assert len(await harness.take_ids()) == 1

    async def test_a_lowered_limit_waits_until_enough_have_left(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(concurrency=3))
        await harness.store.insert([NewJob(task="greet")] * 5)
        first, second = await harness.take(2), await harness.take(1)
        await harness.store.set_gate(QUEUE, limit=ONE)
        await harness.settle(first)
        assert await harness.take_ids() == []
        await harness.settle(second)
        assert len(await harness.take_ids()) == 1

    async def test_a_lifted_limit_limits_nothing(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=ONE)
        await harness.store.insert([NewJob(task="greet")] * 3)
        await harness.take()
        gate = await harness.store.set_gate(QUEUE, limit=Limit())
        assert gate.limit == Limit()
        assert len(await harness.take_ids()) == 2

    async def test_nothing_is_in_sight_while_a_limit_is_used_up(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=ONE)
        await harness.store.insert([NewJob(task="greet")] * 2)
        await harness.take()
        assert (await harness.take()).next_due is None
        assert await harness.store.next_due("default") is None

    async def test_starts_of_a_rate_are_spaced_evenly(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(rate=Rate(6, HOUR)))
        await harness.store.insert([NewJob(task="greet")] * 4)
        assert len(await harness.take_ids()) == 1
        await harness.shift(9 * MINUTE)
        assert await harness.take_ids() == []
        await harness.shift(MINUTE)
        assert len(await harness.take_ids()) == 1
        assert await harness.take_ids() == []

    async def test_a_rate_counts_starts_and_not_ends(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(rate=Rate(6, HOUR)))
        await harness.store.insert([NewJob(task="greet")] * 2)
        await harness.run(Verdict.RETRY)
        assert await harness.take_ids() == []

    async def test_a_burst_may_go_together_and_then_waits(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(rate=Rate(6, HOUR, burst=3)))
        await harness.store.insert([NewJob(task="greet")] * 9)
        assert len(await harness.take_ids()) == 3
        assert await harness.take_ids() == []
        await harness.shift(20 * MINUTE)
        assert len(await harness.take_ids()) == 2

    async def test_idle_time_saves_up_no_more_than_a_burst(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(rate=Rate(6, HOUR, burst=2)))
        await harness.store.insert([NewJob(task="greet")] * 9)
        await harness.take()
        await harness.shift(10 * HOUR)
        assert len(await harness.take_ids()) == 2

    async def test_a_rated_queue_is_next_due_at_its_next_start(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.store.set_gate(QUEUE, limit=Limit(rate=Rate(6, HOUR)))
        await harness.store.insert([NewJob(task="greet")] * 2)
        await harness.take()
        assert harness.same((await harness.take()).next_due, now + 10 * MINUTE)
        assert harness.same(await harness.store.next_due("default"), now + 10 * MINUTE)

    async def test_a_gate_shows_its_limit_as_it_was_set(self, harness: Harness) -> None:
        limit = Limit(concurrency=4, rate=Rate(5, MINUTE, burst=2))
        await harness.store.set_gate(QUEUE, limit=limit)
        assert (await harness.gate(QUEUE)).limit == limit

    async def test_concurrency_and_rate_hold_together(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=Limit(concurrency=2, rate=Rate(6, HOUR, burst=3)))
        await harness.store.insert([NewJob(task="greet")] * 9)
        batch = await harness.take()
        assert len(batch.jobs) == 2
        await harness.settle(batch)
        assert len(await harness.take_ids()) == 1
        assert await harness.take_ids() == []

    async def test_a_change_of_pause_keeps_the_limit(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, limit=ONE)
        await harness.store.set_gate(QUEUE, paused=True)
        assert (await harness.store.set_gate(QUEUE, paused=False)).limit == ONE
