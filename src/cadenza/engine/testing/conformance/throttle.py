"""Throttle: one job of a key per period, the first; the others are told until when."""

from cadenza.engine.job import NewJob, Throttle, Unique
from cadenza.engine.testing.conformance.harness import DAY, HOUR, MINUTE, SECOND, Harness

HOURLY = NewJob(task="greet", rule=Throttle("ada", HOUR))


class Throttling:
    """What `Throttle` promises."""

    async def test_the_first_of_a_period_is_taken_and_the_second_told_until_when(
        self, harness: Harness
    ) -> None:
        now = await harness.store.now()
        first = await harness.insert(HOURLY)
        await harness.shift(MINUTE)
        second = await harness.insert(HOURLY)
        assert (first.outcome, second.outcome) == ("inserted", "throttled")
        assert second.id == first.id
        assert harness.same(second.until, now + HOUR)

    async def test_from_then_on_the_next_one_is_taken(self, harness: Harness) -> None:
        first = await harness.insert(HOURLY)
        await harness.shift(HOUR)
        second = await harness.insert(HOURLY)
        assert second.inserted
        assert second.id != first.id

    async def test_just_before_then_it_is_not(self, harness: Harness) -> None:
        await harness.insert(HOURLY)
        await harness.shift(HOUR - harness.drift - SECOND)
        assert (await harness.insert(HOURLY)).outcome == "throttled"

    async def test_a_throttled_job_does_not_begin_a_period(self, harness: Harness) -> None:
        await harness.insert(HOURLY)
        await harness.shift(HOUR - MINUTE)
        await harness.insert(HOURLY)
        await harness.shift(MINUTE)
        assert (await harness.insert(HOURLY)).inserted

    async def test_the_end_of_the_job_does_not_end_the_period(self, harness: Harness) -> None:
        await harness.insert(HOURLY)
        await harness.run()
        assert (await harness.insert(HOURLY)).outcome == "throttled"

    async def test_the_period_outlives_a_job_that_was_removed(self, harness: Harness) -> None:
        first = await harness.insert(HOURLY)
        await harness.run(keep=False)
        answer = await harness.insert(HOURLY)
        assert (answer.outcome, answer.id) == ("throttled", first.id)

    async def test_keys_are_throttled_each_for_itself(self, harness: Harness) -> None:
        await harness.insert(HOURLY)
        assert (await harness.insert(NewJob(task="greet", rule=Throttle("ben", HOUR)))).inserted

    async def test_throttled_and_unique_keys_of_one_name_do_not_meet(
        self, harness: Harness
    ) -> None:
        await harness.insert(HOURLY)
        assert (await harness.insert(NewJob(task="greet", rule=Unique("ada")))).inserted

    async def test_a_bulk_takes_one_of_a_key(self, harness: Harness) -> None:
        answers = await harness.store.insert([HOURLY] * 4)
        assert [answer.outcome for answer in answers] == ["inserted"] + ["throttled"] * 3

    async def test_the_period_counts_from_the_insert_and_not_from_the_run(
        self, harness: Harness
    ) -> None:
        deferred = NewJob(task="greet", rule=Throttle("ada", HOUR), delay=DAY)
        await harness.insert(deferred)
        await harness.shift(HOUR)
        assert (await harness.insert(deferred)).inserted
