"""Debounce: a newer job of a key replaces the waiting one and waits again, but not for ever."""

from cadenza.engine.job import Debounce, NewJob, State, Unique
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import HOUR, MINUTE, Harness, read


def _typing(text: str = "", *, max_minutes: int | None = None, minutes: int = 10) -> NewJob:
    longest = None if max_minutes is None else max_minutes * MINUTE
    rule = Debounce("ada", minutes * MINUTE, longest)
    return NewJob(task="save", payload=f'{{"text": "{text}"}}', rule=rule)


class Debouncing:
    """What `Debounce` promises."""

    async def test_the_first_waits_its_wait(self, harness: Harness) -> None:
        now = await harness.store.now()
        answer = await harness.insert(_typing())
        assert answer.outcome == "inserted"
        assert harness.same(answer.run_at, now + 10 * MINUTE)

    async def test_a_newer_one_replaces_the_payload_and_waits_again(self, harness: Harness) -> None:
        first = await harness.insert(_typing("dear"))
        await harness.shift(6 * MINUTE)
        now = await harness.store.now()
        second = await harness.insert(_typing("dear Ben"))
        assert (second.outcome, second.id) == ("debounced", first.id)
        assert harness.same(second.run_at, now + 10 * MINUTE)
        job = await harness.job(first.id)
        assert read(job.payload) == {"text": "dear Ben"}
        assert job.run_at == second.run_at

    async def test_it_runs_once_after_the_last_wait(self, harness: Harness) -> None:
        await harness.insert(_typing("dear"))
        await harness.shift(6 * MINUTE)
        answer = await harness.insert(_typing("dear Ben"))
        await harness.shift(6 * MINUTE)
        assert await harness.take_ids() == []
        await harness.shift(4 * MINUTE)
        (job,) = (await harness.take()).jobs
        assert (job.id, read(job.payload)) == (answer.id, {"text": "dear Ben"})
        await harness.shift(HOUR)
        assert await harness.take_ids() == []

    async def test_it_waits_no_longer_than_max_wait_in_all(self, harness: Harness) -> None:
        now = await harness.store.now()
        await harness.insert(_typing(max_minutes=25))
        await harness.shift(9 * MINUTE)
        assert harness.same(
            (await harness.insert(_typing(max_minutes=25))).run_at, now + 19 * MINUTE
        )
        await harness.shift(9 * MINUTE)
        assert harness.same(
            (await harness.insert(_typing(max_minutes=25))).run_at, now + 25 * MINUTE
        )

    async def test_max_wait_holds_for_the_first_as_well(self, harness: Harness) -> None:
        now = await harness.store.now()
        answer = await harness.insert(_typing(minutes=10, max_minutes=5))
        assert harness.same(answer.run_at, now + 5 * MINUTE)

    async def test_a_claimed_one_is_not_replaced(self, harness: Harness) -> None:
        first = await harness.insert(_typing("dear"))
        await harness.shift(10 * MINUTE)
        await harness.take()
        second = await harness.insert(_typing("dear Ben"))
        assert second.outcome == "inserted"
        assert second.id != first.id
        assert read((await harness.job(first.id)).payload) == {"text": "dear"}

    async def test_one_that_waits_again_after_a_run_is_not_replaced(self, harness: Harness) -> None:
        first = await harness.insert(_typing("dear"))
        await harness.shift(10 * MINUTE)
        await harness.run(Verdict.RETRY, delay=HOUR)
        assert (await harness.insert(_typing("dear Ben"))).id != first.id

    async def test_a_canceled_one_is_not_replaced(self, harness: Harness) -> None:
        first = await harness.insert(_typing())
        await harness.store.cancel([first.id], reason="not wanted")
        assert (await harness.insert(_typing())).outcome == "inserted"

    async def test_keys_are_debounced_each_for_itself(self, harness: Harness) -> None:
        await harness.insert(_typing())
        other = NewJob(task="save", rule=Debounce("ben", MINUTE))
        assert (await harness.insert(other)).outcome == "inserted"

    async def test_of_a_bulk_the_last_one_wins(self, harness: Harness) -> None:
        answers = await harness.store.insert([_typing(text) for text in ("a", "b", "c")])
        assert [answer.outcome for answer in answers] == ["inserted", "debounced", "debounced"]
        assert read((await harness.job(answers[0].id)).payload) == {"text": "c"}

    async def test_a_running_holder_of_the_key_is_answered_and_left_alone(
        self, harness: Harness
    ) -> None:
        id_ = await harness.add(rule=Unique("ada"), payload='{"text": "running"}')
        batch = await harness.take()
        answer = await harness.insert(_typing("newer"))
        assert (answer.outcome, answer.id) == ("existing", id_)
        await harness.shift(HOUR)
        assert await harness.take_ids() == []
        job = await harness.job(id_)
        assert (job.state, read(job.payload)) == (State.RUNNING, {"text": "running"})
        assert await harness.settle(batch) == []
