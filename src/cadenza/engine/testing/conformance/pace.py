"""Pace: jobs of a key get instants at least a step apart, in the order they came; none is dropped."""

from itertools import pairwise

from cadenza.engine.job import NewJob, Pace
from cadenza.engine.testing.conformance.harness import DAY, HOUR, MINUTE, Harness

STEADY = NewJob(task="send", rule=Pace("ada", 3 * MINUTE))


class Pacing:
    """What `Pace` promises."""

    async def test_twenty_jobs_get_twenty_instants_a_step_apart(self, harness: Harness) -> None:
        now = await harness.store.now()
        answers = await harness.store.insert([STEADY] * 20)
        times = [answer.run_at for answer in answers if answer.run_at is not None]
        assert [answer.outcome for answer in answers] == ["inserted"] * 20
        assert harness.same(times[0], now)
        assert [later - earlier for earlier, later in pairwise(times)] == [3 * MINUTE] * 19
        assert [(await harness.job(answer.id)).run_at for answer in answers] == times

    async def test_the_pace_goes_on_from_call_to_call(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.store.insert([STEADY] * 2)
        await harness.shift(MINUTE)
        assert harness.same((await harness.insert(STEADY)).run_at, now + 6 * MINUTE)

    async def test_after_a_rest_the_next_goes_at_once(self, harness: Harness) -> None:
        await harness.insert(STEADY)
        await harness.shift(HOUR)
        now = await harness.store.now()
        assert harness.same((await harness.insert(STEADY)).run_at, now)

    async def test_an_instant_later_than_the_pace_is_kept(self, harness: Harness) -> None:
        at = await harness.store.now() + DAY
        await harness.insert(STEADY)
        answer = await harness.insert(NewJob(task="send", rule=Pace("ada", MINUTE), run_at=at))
        assert answer.run_at == at
        assert (await harness.insert(STEADY)).run_at == at + MINUTE

    async def test_an_instant_earlier_than_the_pace_is_pushed_back(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.store.insert([STEADY] * 2)
        answer = await harness.insert(NewJob(task="send", rule=Pace("ada", MINUTE), run_at=now))
        assert harness.same(answer.run_at, now + 6 * MINUTE)

    async def test_keys_are_paced_each_for_itself(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.store.insert([STEADY] * 3)
        answer = await harness.insert(NewJob(task="send", rule=Pace("ben", HOUR)))
        assert harness.same(answer.run_at, now)

    async def test_a_canceled_job_gives_no_instant_back(self, harness: Harness) -> None:
        now = await harness.store.now()
        answer = await harness.insert(STEADY)
        await harness.store.cancel([answer.id], reason="not wanted")
        assert harness.same((await harness.insert(STEADY)).run_at, now + 3 * MINUTE)

    async def test_paced_jobs_run_at_their_instants(self, harness: Harness) -> None:
        ids = [answer.id for answer in await harness.store.insert([STEADY] * 3)]
        seen: list[int] = []
        for _ in ids:
            seen += await harness.take_ids()
            await harness.shift(3 * MINUTE)
        assert seen == ids
