"""Park: a scope is closed for a while, opens by itself, and a park only ever grows."""

from datetime import timedelta

from cadenza.engine.job import Scope
from cadenza.engine.outcomes import Park, Verdict
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness

QUEUE = Scope("default")
LANE = Scope("default", "ada")


class Parking:
    """What `set_gate(park=...)` and a settlement's park promise."""

    async def test_a_parked_queue_opens_by_itself(self, harness: Harness) -> None:
        await harness.add()
        now = await harness.store.now()
        gate = await harness.store.set_gate(QUEUE, park=HOUR)
        assert harness.same(gate.parked_until, now + HOUR)
        await harness.shift(HOUR - MINUTE)
        assert await harness.take_ids() == []
        await harness.shift(MINUTE)
        assert len(await harness.take_ids()) == 1

    async def test_a_parked_lane_stops_that_lane_alone(self, harness: Harness) -> None:
        await harness.add(lane="ada")
        other = await harness.add(lane="ben")
        await harness.store.set_gate(LANE, park=HOUR)
        assert await harness.take_ids() == [other]

    async def test_a_shorter_park_does_not_shorten_a_longer_one(self, harness: Harness) -> None:
        long = await harness.store.set_gate(QUEUE, park=HOUR)
        short = await harness.store.set_gate(QUEUE, park=MINUTE)
        assert short.parked_until == long.parked_until

    async def test_a_longer_park_lengthens_a_shorter_one(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.store.set_gate(QUEUE, park=MINUTE)
        gate = await harness.store.set_gate(QUEUE, park=HOUR)
        assert harness.same(gate.parked_until, now + HOUR)

    async def test_a_park_of_zero_ends_a_park(self, harness: Harness) -> None:
        await harness.add()
        await harness.store.set_gate(QUEUE, park=HOUR)
        gate = await harness.store.set_gate(QUEUE, park=timedelta())
        assert gate.parked_until is None
        assert len(await harness.take_ids()) == 1

    async def test_a_park_of_an_empty_lane_ends_too(self, harness: Harness) -> None:
        await harness.store.set_gate(LANE, park=HOUR)
        gate = await harness.store.set_gate(LANE, park=timedelta())
        assert gate.parked_until is None

    async def test_a_settlements_park_only_grows_too(self, harness: Harness) -> None:
        await harness.add()
        batch = await harness.take()
        long = await harness.store.set_gate(QUEUE, park=HOUR)
        await harness.settle(batch, Verdict.SNOOZE, park=Park(QUEUE, MINUTE))
        assert (await harness.gate(QUEUE)).parked_until == long.parked_until

    async def test_a_settlement_can_park_a_lane(self, harness: Harness) -> None:
        await harness.add(lane="ada")
        await harness.add(lane="ada")
        other = await harness.add(lane="ben", delay=MINUTE)
        batch = await harness.take(1)
        await harness.settle(batch, Verdict.SNOOZE, park=Park(LANE, HOUR))
        await harness.shift(MINUTE)
        assert await harness.take_ids() == [other]
        await harness.shift(HOUR)
        assert len(await harness.take_ids()) == 2

    async def test_a_settlement_can_park_a_scope_that_has_no_jobs(self, harness: Harness) -> None:
        await harness.add()
        batch = await harness.take()
        await harness.settle(batch, park=Park(LANE, HOUR))
        await harness.add(lane="ada")
        assert await harness.take_ids() == []
        await harness.shift(HOUR)
        assert len(await harness.take_ids()) == 1

    async def test_a_parked_queue_is_next_due_when_it_opens(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.add()
        await harness.store.set_gate(QUEUE, park=HOUR)
        assert harness.same(await harness.store.next_due("default"), now + HOUR)
        batch = await harness.take()
        assert harness.same(batch.next_due, now + HOUR)

    async def test_a_parked_lane_is_next_due_when_it_opens(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.add(lane="ada")
        await harness.add(delay=2 * HOUR)
        await harness.store.set_gate(LANE, park=HOUR)
        assert harness.same(await harness.store.next_due("default"), now + HOUR)

    async def test_a_job_due_after_the_park_is_next_due_at_its_own_time(
        self, harness: Harness
    ) -> None:
        now = await harness.store.now()
        await harness.add(delay=2 * HOUR)
        await harness.store.set_gate(QUEUE, park=HOUR)
        assert harness.same(await harness.store.next_due("default"), now + 2 * HOUR)

    async def test_a_park_of_an_empty_queue_puts_nothing_in_sight(self, harness: Harness) -> None:
        await harness.store.set_gate(QUEUE, park=HOUR)
        assert await harness.store.next_due("default") is None
