"""Pause: a paused queue or lane hands nothing out until somebody opens it, and says why."""

from cadenza.engine.job import Scope
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import DAY, HOUR, Harness

QUEUE = Scope("default")
LANE = Scope("default", "ada")


class Pausing:
    """What `set_gate(paused=...)` promises."""

    async def test_a_paused_queue_hands_nothing_out(self, harness: Harness) -> None:
        await harness.add()
        await harness.add(lane="ada")
        await harness.store.set_gate(QUEUE, paused=True, reason="moving house")
        assert await harness.take_ids() == []
        await harness.shift(DAY)
        assert await harness.take_ids() == []

    async def test_an_opened_queue_hands_out_again(self, harness: Harness) -> None:
        id_ = await harness.add()
        await harness.store.set_gate(QUEUE, paused=True)
        await harness.store.set_gate(QUEUE, paused=False)
        assert await harness.take_ids() == [id_]

    async def test_a_pause_says_its_reason_and_opening_forgets_it(self, harness: Harness) -> None:
        gate = await harness.store.set_gate(QUEUE, paused=True, reason="moving house")
        assert (gate.scope, gate.paused, gate.reason) == (QUEUE, True, "moving house")
        assert await harness.gate(QUEUE) == gate
        gate = await harness.store.set_gate(QUEUE, paused=False)
        assert (gate.paused, gate.reason) == (False, None)
        assert await harness.gate(QUEUE) == gate

    async def test_a_pause_reaches_no_other_queue(self, harness: Harness) -> None:
        id_ = await harness.add(queue="mail")
        await harness.store.set_gate(QUEUE, paused=True)
        assert await harness.take_ids(queue="mail") == [id_]

    async def test_a_paused_lane_stops_that_lane_alone(self, harness: Harness) -> None:
        await harness.add(lane="ada")
        others = {await harness.add(lane="ben"), await harness.add()}
        await harness.store.set_gate(LANE, paused=True)
        assert set(await harness.take_ids()) == others

    async def test_a_lane_can_be_paused_before_its_first_job(self, harness: Harness) -> None:
        await harness.store.set_gate(LANE, paused=True)
        id_ = await harness.add(lane="ada")
        assert await harness.take_ids() == []
        await harness.store.set_gate(LANE, paused=False)
        assert await harness.take_ids() == [id_]

    async def test_running_jobs_of_a_paused_queue_can_settle(self, harness: Harness) -> None:
        await harness.add()
        batch = await harness.take()
        await harness.store.set_gate(QUEUE, paused=True)
        assert await harness.settle(batch, Verdict.RELEASED) == []
        assert await harness.take_ids() == []

    async def test_nothing_is_in_sight_of_a_paused_queue(self, harness: Harness) -> None:
        await harness.add(delay=HOUR)
        await harness.store.set_gate(QUEUE, paused=True)
        assert await harness.store.next_due("default") is None
        assert (await harness.take()).next_due is None

    async def test_nothing_is_in_sight_of_a_paused_lane(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.add(lane="ada")
        await harness.add(delay=HOUR)
        await harness.store.set_gate(LANE, paused=True)
        assert harness.same(await harness.store.next_due("default"), now + HOUR)

    async def test_an_empty_change_changes_nothing(self, harness: Harness) -> None:
        before = await harness.store.set_gate(QUEUE, paused=True, reason="moving house", park=HOUR)
        assert await harness.store.set_gate(QUEUE) == before

    async def test_a_pause_and_a_park_stand_side_by_side(self, harness: Harness) -> None:
        await harness.add()
        await harness.store.set_gate(QUEUE, park=HOUR)
        await harness.store.set_gate(QUEUE, paused=True)
        await harness.shift(2 * HOUR)
        assert await harness.take_ids() == []
        await harness.store.set_gate(QUEUE, paused=False)
        assert len(await harness.take_ids()) == 1

    async def test_gates_lists_every_gate_that_was_set(self, harness: Harness) -> None:
        for scope in (QUEUE, LANE, Scope("mail")):
            await harness.store.set_gate(scope, paused=True)
        assert {gate.scope for gate in await harness.store.gates()} == {QUEUE, LANE, Scope("mail")}
