"""Claim: due jobs, in order, each to one worker only, and a lease number that only rises."""

from datetime import timedelta

from cadenza.engine.job import NewJob, State
from cadenza.engine.testing.conformance.harness import HOUR, LEASE, MINUTE, SECOND, Harness, read


class Claiming:
    """What `claim` and `next_due` promise of plain jobs."""

    async def test_a_claimed_job_comes_with_all_that_its_handler_needs(
        self, harness: Harness
    ) -> None:
        at = await harness.store.now() - HOUR
        id_ = await harness.add(
            "post",
            payload='{"n": 1}',
            run_at=at,
            options='{"retries": 2}',
            schedule="daily",
            lane="ada",
        )
        batch = await harness.take()
        (job,) = batch.jobs
        assert (job.id, job.task, job.queue, job.run_at) == (id_, "post", "default", at)
        assert (job.lane, job.schedule, job.lease) == ("ada", "daily", batch.lease)
        assert (read(job.payload), read(job.options)) == ({"n": 1}, {"retries": 2})
        assert (job.attempts, job.crashes, job.snoozes, job.progress) == (0, 0, 0, None)

    async def test_a_claimed_job_shows_who_holds_it_and_until_when(self, harness: Harness) -> None:
        now = await harness.store.now()
        id_ = await harness.add()
        batch = await harness.take(worker="ben", lease=MINUTE)
        job = await harness.job(id_)
        assert (job.state, job.worker, job.lease) == (State.RUNNING, "ben", batch.lease)
        assert harness.same(job.lease_until, now + MINUTE)

    async def test_a_job_is_not_handed_out_before_its_time(self, harness: Harness) -> None:
        id_ = await harness.add(delay=HOUR)
        assert await harness.take_ids() == []
        await harness.shift(HOUR - MINUTE)
        assert await harness.take_ids() == []
        await harness.shift(MINUTE)
        assert await harness.take_ids() == [id_]

    async def test_a_claimed_job_is_not_handed_out_again(self, harness: Harness) -> None:
        await harness.add()
        assert len(await harness.take_ids()) == 1
        assert await harness.take_ids() == []
        await harness.shift(10 * LEASE)  # silent, but nobody has rescued it
        assert await harness.take_ids() == []

    async def test_no_more_than_the_limit_are_handed_out(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 5)
        assert [len(await harness.take_ids(2)) for _ in range(4)] == [2, 2, 1, 0]

    async def test_only_jobs_of_the_asked_queue_come(self, harness: Harness) -> None:
        mail = await harness.add(queue="mail")
        await harness.add(queue="posts")
        assert await harness.take_ids(queue="mail") == [mail]
        assert await harness.take_ids(queue="nobody") == []

    async def test_the_lower_priority_number_goes_first(self, harness: Harness) -> None:
        late = await harness.add(priority=5)
        early = await harness.add(priority=-5)
        middle = await harness.add()
        assert await harness.take_ids() == [early, middle, late]

    async def test_of_one_priority_the_longest_due_goes_first(self, harness: Harness) -> None:
        now = await harness.store.now()
        second = await harness.add(run_at=now - MINUTE)
        third = await harness.add(run_at=now)
        first = await harness.add(run_at=now - HOUR)
        assert await harness.take_ids() == [first, second, third]

    async def test_of_one_instant_the_first_inserted_goes_first(self, harness: Harness) -> None:
        at = await harness.store.now() - MINUTE
        ids = [await harness.add(run_at=at) for _ in range(4)]
        assert await harness.take_ids() == ids

    async def test_priority_does_not_make_a_job_due(self, harness: Harness) -> None:
        await harness.add(priority=-9, delay=HOUR)
        due = await harness.add(priority=9)
        assert await harness.take_ids() == [due]

    async def test_a_batch_has_one_lease_and_each_claim_a_higher_one(
        self, harness: Harness
    ) -> None:
        await harness.store.insert([NewJob(task="greet")] * 6)
        batches = [await harness.take(2) for _ in range(3)]
        assert all({job.lease for job in batch.jobs} == {batch.lease} for batch in batches)
        leases = [batch.lease for batch in batches]
        assert leases == sorted(set(leases))

    async def test_leases_rise_over_all_queues(self, harness: Harness) -> None:
        leases: list[int] = []
        for queue in ("mail", "posts", "mail"):
            await harness.add(queue=queue)
            leases.append((await harness.take(queue=queue)).lease)
        assert leases == sorted(set(leases))

    async def test_an_empty_batch_says_when_to_ask_again(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.add(delay=2 * HOUR)
        await harness.add(delay=HOUR)
        batch = await harness.take()
        assert batch.jobs == []
        assert harness.same(batch.next_due, now + HOUR)

    async def test_an_empty_batch_says_when_nothing_is_in_sight(self, harness: Harness) -> None:
        assert (await harness.take()).next_due is None
        await harness.add()
        await harness.take()
        assert (await harness.take()).next_due is None

    async def test_next_due_is_the_earliest_waiting_job_of_the_queue(
        self, harness: Harness
    ) -> None:
        now = await harness.store.now()
        await harness.add(delay=HOUR, priority=-1)
        await harness.add(delay=MINUTE)
        await harness.add(queue="mail", delay=SECOND)
        assert harness.same(await harness.store.next_due("default"), now + MINUTE)

    async def test_next_due_of_a_due_job_is_not_in_the_future(self, harness: Harness) -> None:
        await harness.add()
        due = await harness.store.next_due("default")
        assert due is not None
        assert due <= await harness.store.now()

    async def test_next_due_ignores_what_runs_and_what_has_finished(self, harness: Harness) -> None:
        await harness.add()
        await harness.run()
        await harness.add()
        await harness.take()
        canceled = await harness.add(delay=MINUTE)
        await harness.store.cancel([canceled], reason="not wanted")
        assert await harness.store.next_due("default") is None

    async def test_a_lease_of_any_length_is_kept_exactly(self, harness: Harness) -> None:
        now = await harness.store.now()
        id_ = await harness.add()
        await harness.take(lease=timedelta(hours=7, seconds=1))
        assert harness.same(
            (await harness.job(id_)).lease_until, now + timedelta(hours=7, seconds=1)
        )
