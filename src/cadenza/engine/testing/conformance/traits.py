"""Traits: what a store says of itself is true, as far as one process can see."""

from datetime import UTC

import pytest

from cadenza.engine.job import Limit, NewJob, Pace, Schedule, Scope, Throttle, Unique
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness


class KeepingTraits:
    """What a store's traits promise."""

    async def test_a_store_has_a_name_and_vital_signs(self, harness: Harness) -> None:
        assert harness.store.traits.name
        signs = await harness.store.vital_signs()
        assert signs
        assert all(isinstance(value, str) for value in signs.values())

    async def test_now_is_utc_and_moves_with_the_clock(self, harness: Harness) -> None:
        before = await harness.store.now()
        assert before.utcoffset() == UTC.utcoffset(None)
        await harness.shift(HOUR)
        assert harness.same(await harness.store.now(), before + HOUR)

    async def test_every_instant_that_is_shown_is_aware(self, harness: Harness) -> None:
        job = await harness.job(await harness.add())
        assert job.run_at.utcoffset() == job.created_at.utcoffset() == UTC.utcoffset(None)

    async def test_what_was_acknowledged_is_there_after_a_restart(self, harness: Harness) -> None:
        if not harness.store.traits.durable:
            pytest.skip("the store keeps nothing beyond its process")
        id_ = await harness.add(rule=Unique("ada"), payload='{"n":1}')
        await harness.add(rule=Throttle("ada", HOUR))
        await harness.add(rule=Pace("ada", HOUR))
        await harness.store.set_gate(
            Scope("mail"), paused=True, reason="moving", limit=Limit(concurrency=2)
        )
        await harness.store.put_schedule(Schedule(name="daily", task="greet", recurrence="{}"))
        before = (
            await harness.job(id_),
            await harness.store.gates(),
            await harness.store.schedules(),
        )
        second = await harness.open_peer()
        try:
            jobs = await second.get([id_])
            assert (jobs[0], await second.gates(), await second.schedules()) == before
            rules = [Unique("ada"), Throttle("ada", MINUTE), Pace("ada", HOUR)]
            answers = await second.insert([NewJob(task="greet", rule=rule) for rule in rules])
            assert [answer.outcome for answer in answers] == ["existing", "throttled", "inserted"]
            assert answers[2].run_at is not None
            assert answers[2].run_at >= await second.now() + HOUR - MINUTE
        finally:
            await second.close()

    async def test_leases_of_two_processes_never_meet(self, harness: Harness) -> None:
        if not harness.store.traits.many_processes:
            pytest.skip("the store serves one process")
        second = await harness.open_peer()
        try:
            await harness.store.insert([NewJob(task="greet")] * 6)
            leases: list[int] = []
            for store in (harness.store, second) * 3:
                batch = await store.claim("default", limit=1, worker="ada", lease=MINUTE)
                leases.append(batch.lease)
            assert leases == sorted(set(leases))
        finally:
            await second.close()
