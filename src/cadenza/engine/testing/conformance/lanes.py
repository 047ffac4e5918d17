"""Lanes: jobs of one lane keep their order and their own limits, and nobody starves."""

from cadenza.engine.job import Limit, NewJob, Rate, Scope
from cadenza.engine.testing.conformance.harness import DAY, HOUR, MINUTE, Harness

LANE = Scope("default", "ada")
ONE = Limit(concurrency=1)


def _lane(lane: str, **fields: object) -> NewJob:
    return NewJob(task="greet", lane=lane, **fields)  # pyright: ignore[reportArgumentType]


class Lanes:
    """What `claim` promises of jobs in lanes."""

    async def test_a_lane_keeps_the_order_of_its_jobs(self, harness: Harness) -> None:
        now = await harness.store.now()
        third = await harness.add(lane="ada", run_at=now - MINUTE)
        second = await harness.add(lane="ada", run_at=now - HOUR)
        first = await harness.add(lane="ada", priority=-1)
        assert await harness.take_ids() == [first, second, third]

    async def test_a_job_brings_its_lanes_limit(self, harness: Harness) -> None:
        await harness.store.insert([_lane("ada", limit=Limit(concurrency=2))] * 5)
        assert len(await harness.take_ids()) == 2
        gate = await harness.gate(LANE)
        assert (gate.limit, gate.in_flight) == (Limit(concurrency=2), 2)

    async def test_the_newest_limit_of_a_lane_holds(self, harness: Harness) -> None:
        await harness.store.insert(
            [_lane("ada", limit=ONE), _lane("ada", limit=Limit(concurrency=3))]
        )
        assert (await harness.gate(LANE)).limit == Limit(concurrency=3)

    async def test_a_job_without_a_limit_leaves_its_lanes_limit(self, harness: Harness) -> None:
        await harness.store.insert([_lane("ada", limit=ONE), _lane("ada")])
        assert (await harness.gate(LANE)).limit == ONE
        assert len(await harness.take_ids()) == 1

    async def test_lanes_are_limited_each_for_itself(self, harness: Harness) -> None:
        await harness.store.insert(
            [_lane(name, limit=ONE) for name in ("ada", "ben", "cy") for _ in range(3)]
        )
        batch = await harness.take()
        assert sorted(job.lane or "" for job in batch.jobs) == ["ada", "ben", "cy"]
        assert await harness.take_ids() == []

    async def test_lanes_of_one_name_in_two_queues_are_two_lanes(self, harness: Harness) -> None:
        await harness.store.insert(
            [_lane("ada", limit=ONE, queue=queue) for queue in ("mail", "posts")]
        )
        await harness.store.set_gate(Scope("mail", "ada"), paused=True)
        assert await harness.take_ids(queue="mail") == []
        assert len(await harness.take_ids(queue="posts")) == 1

    async def test_a_lane_with_a_rate_is_next_due_at_its_next_start(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.store.insert([_lane("ada", limit=Limit(rate=Rate(1, HOUR)))] * 2)
        assert len(await harness.take_ids()) == 1
        assert harness.same(await harness.store.next_due("default"), now + HOUR)
        await harness.shift(HOUR)
        assert len(await harness.take_ids()) == 1

    async def test_a_full_lane_holds_up_nobody_else(self, harness: Harness) -> None:
        await harness.store.insert([_lane("ada", limit=ONE)] * 50)
        await harness.take()
        others = {await harness.add(lane="ben"), await harness.add()}
        assert set(await harness.take_ids(2)) == others

    async def test_a_full_lane_is_not_in_sight(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.store.insert([_lane("ada", limit=ONE)] * 2)
        await harness.take()
        assert await harness.store.next_due("default") is None
        await harness.add(lane="ben", delay=HOUR)
        assert harness.same(await harness.store.next_due("default"), now + HOUR)

    async def test_a_deferred_lane_is_handed_out_when_it_is_due(self, harness: Harness) -> None:
        later = await harness.add(lane="ada", delay=HOUR)
        assert await harness.take_ids() == []
        sooner = await harness.add(lane="ada", delay=MINUTE)
        await harness.shift(MINUTE)
        assert await harness.take_ids() == [sooner]
        await harness.shift(HOUR)
        assert await harness.take_ids() == [later]

    async def test_a_claim_fills_its_room_from_lanes_or_from_plain_jobs(
        self, harness: Harness
    ) -> None:
        await harness.store.insert([NewJob(task="greet", queue="plain")] * 6)
        await harness.store.insert([_lane("ada", queue="lanes")] * 6)
        assert len(await harness.take_ids(6, queue="plain")) == 6
        assert len(await harness.take_ids(6, queue="lanes")) == 6

    async def test_a_claim_serves_lanes_and_plain_jobs(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 20 + [_lane("ada")] * 20)
        batch = await harness.take(6)
        assert {job.lane for job in batch.jobs} == {None, "ada"}

    async def test_even_one_place_at_a_time_starves_neither_kind(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 9 + [_lane("ada")] * 9)
        kinds = {(await harness.take(1)).jobs[0].lane for _ in range(9)}
        assert kinds == {None, "ada"}

    async def test_no_lane_starves_another(self, harness: Harness) -> None:
        names = ["ada", "ben", "cy"]
        await harness.store.insert([_lane(name) for name in names for _ in range(9)])
        seen = [(await harness.take(1)).jobs[0].lane for _ in range(9)]
        assert {seen.count(name) for name in names} == {3}

    async def test_jobs_of_a_lane_come_back_to_it_in_order(self, harness: Harness) -> None:
        at = await harness.store.now() - DAY
        ids = [await harness.add(lane="ada", limit=ONE, run_at=at) for _ in range(3)]
        seen: list[int] = []
        for _ in ids:
            batch = await harness.take()
            seen += [job.id for job in batch.jobs]
            await harness.settle(batch)
        assert seen == ids

    async def test_many_lanes_are_all_served_in_the_end(self, harness: Harness) -> None:
        answers = await harness.store.insert([_lane(f"lane-{number}") for number in range(60)])
        seen: set[int] = set()
        for _ in range(60):
            ids = await harness.take_ids(7)
            if not ids:
                break
            seen |= set(ids)
        assert seen == {answer.id for answer in answers}
