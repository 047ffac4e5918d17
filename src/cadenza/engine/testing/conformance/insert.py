"""Insert: jobs go in as they were handed over, and each is answered in its place."""

from cadenza.engine.job import NewJob, State, Unique
from cadenza.engine.testing.conformance.harness import DAY, HOUR, Harness, read

BULK = 1200  # more than any sensible batch of statements


class Inserting:
    """What `insert` promises."""

    async def test_a_job_is_kept_as_it_was_handed_over(self, harness: Harness) -> None:
        now = await harness.store.now()
        answer = await harness.insert(
            NewJob(
                task="greet",
                payload='{"to": "Ada – ☀"}',
                queue="mail",
                priority=-3,
                run_at=now + HOUR,
                lane="ben",
                tags=("hello", "spring"),
                options='{"retries": 7}',
                schedule="daily",
            )
        )
        job = await harness.job(answer.id)
        assert (job.queue, job.task, job.state, job.priority) == (
            "mail",
            "greet",
            State.WAITING,
            -3,
        )
        assert (job.lane, job.tags, job.schedule) == ("ben", ("hello", "spring"), "daily")
        assert read(job.payload) == {"to": "Ada – ☀"}
        assert read(job.options) == {"retries": 7}
        assert job.run_at == now + HOUR
        assert harness.same(job.created_at, now)

    async def test_a_new_job_has_no_past(self, harness: Harness) -> None:
        job = await harness.job(await harness.add())
        assert (job.attempts, job.crashes, job.snoozes, job.errors) == (0, 0, 0, ())
        assert (job.worker, job.lease_until, job.progress, job.output, job.finished_at) == (
            None,
        ) * 5
        assert (job.lane, job.unique_key, job.tags, job.options, job.schedule) == (
            None,
            None,
            (),
            None,
            None,
        )
        assert not job.cancel_requested

    async def test_a_job_without_a_time_is_due_now(self, harness: Harness) -> None:
        now = await harness.store.now()
        answer = await harness.insert(NewJob(task="greet"))
        assert answer.outcome == "inserted"
        assert harness.same(answer.run_at, now)
        assert await harness.take_ids() == [answer.id]

    async def test_a_delay_counts_from_the_stores_now(self, harness: Harness) -> None:
        now = await harness.store.now()
        answer = await harness.insert(NewJob(task="greet", delay=HOUR))
        assert harness.same(answer.run_at, now + HOUR)
        assert harness.same((await harness.job(answer.id)).run_at, now + HOUR)

    async def test_an_instant_wins_over_a_delay(self, harness: Harness) -> None:
        at = await harness.store.now() + DAY
        answer = await harness.insert(NewJob(task="greet", run_at=at, delay=HOUR))
        assert answer.run_at == at

    async def test_an_instant_in_the_past_is_kept(self, harness: Harness) -> None:
        at = await harness.store.now() - DAY
        answer = await harness.insert(NewJob(task="greet", run_at=at))
        assert (await harness.job(answer.id)).run_at == at

    async def test_the_answers_stand_in_the_order_of_the_jobs(self, harness: Harness) -> None:
        names = ["greet", "post", "bill", "greet"]
        answers = await harness.store.insert([NewJob(task=name) for name in names])
        assert [(await harness.job(answer.id)).task for answer in answers] == names

    async def test_ids_rise_within_a_call_and_from_call_to_call(self, harness: Harness) -> None:
        answers = await harness.store.insert([NewJob(task="greet")] * 3)
        answers += await harness.store.insert([NewJob(task="greet")] * 3)
        ids = [answer.id for answer in answers]
        assert ids == sorted(set(ids))

    async def test_nothing_inserted_is_nothing_answered(self, harness: Harness) -> None:
        assert await harness.store.insert([]) == []

    async def test_a_great_many_jobs_go_in_at_once(self, harness: Harness) -> None:
        answers = await harness.store.insert([NewJob(task="greet") for _ in range(BULK)])
        assert len({answer.id for answer in answers if answer.inserted}) == BULK
        assert [tally.count for tally in await harness.store.tally()] == [BULK]

    async def test_jobs_with_and_without_rules_mix_in_one_call(self, harness: Harness) -> None:
        one = NewJob(task="greet", rule=Unique("ada"))
        answers = await harness.store.insert([NewJob(task="plain"), one, NewJob(task="plain"), one])
        assert [answer.outcome for answer in answers] == [
            "inserted",
            "inserted",
            "inserted",
            "existing",
        ]
        assert answers[3].id == answers[1].id
        assert [(await harness.job(answer.id)).task for answer in answers[:3]] == [
            "plain",
            "greet",
            "plain",
        ]
