"""Find, get and tally: people see every job, live or finished, newest first."""

from collections.abc import Sequence

from cadenza.engine.job import Filter, Job, NewJob, State, Tally
from cadenza.engine.outcomes import Verdict
from cadenza.engine.testing.conformance.harness import Harness


def _ids(jobs: Sequence[Job]) -> list[int]:
    return [job.id for job in jobs]


class Finding:
    """What `find`, `get` and `tally` promise."""

    async def test_jobs_are_listed_newest_first(self, harness: Harness) -> None:
        ids = [await harness.add() for _ in range(4)]
        assert _ids(await harness.store.find(Filter())) == ids[::-1]

    async def test_live_and_finished_jobs_are_listed_together(self, harness: Harness) -> None:
        done = await harness.add()
        await harness.run()
        running = await harness.add()
        await harness.take()
        waiting = await harness.add()
        assert _ids(await harness.store.find(Filter())) == [waiting, running, done]

    async def test_a_page_goes_on_below_the_last_id(self, harness: Harness) -> None:
        ids = [await harness.add() for _ in range(5)]
        first = await harness.store.find(Filter(limit=2))
        second = await harness.store.find(Filter(limit=2, before=first[-1].id))
        third = await harness.store.find(Filter(limit=2, before=second[-1].id))
        assert _ids([*first, *second, *third]) == ids[::-1]

    async def test_a_page_goes_on_from_live_to_finished_jobs(self, harness: Harness) -> None:
        ids = [await harness.add() for _ in range(6)]
        await harness.run(limit=3)
        first = await harness.store.find(Filter(limit=4))
        second = await harness.store.find(Filter(limit=4, before=first[-1].id))
        assert _ids([*first, *second]) == ids[::-1]

    async def test_each_field_of_a_filter_narrows(self, harness: Harness) -> None:
        wanted = await harness.add(
            "post", queue="mail", tags=("spring", "sale"), lane="ada", schedule="daily"
        )
        await harness.add("greet", queue="posts", tags=("sales",), lane="ben", schedule="weekly")
        for narrow in (
            Filter(queue="mail"),
            Filter(task="post"),
            Filter(tag="sale"),
            Filter(tag="spring"),
            Filter(lane="ada"),
            Filter(schedule="daily"),
            Filter(queue="mail", task="post", tag="sale", lane="ada", schedule="daily"),
        ):
            assert _ids(await harness.store.find(narrow)) == [wanted], narrow

    async def test_all_fields_of_a_filter_must_fit(self, harness: Harness) -> None:
        await harness.add("post", queue="mail")
        assert await harness.store.find(Filter(queue="mail", task="greet")) == []

    async def test_states_are_alternatives(self, harness: Harness) -> None:
        done = await harness.add()
        await harness.run()
        failed = await harness.add()
        await harness.run(Verdict.FAILED)
        waiting = await harness.add()
        both = Filter(states=(State.WAITING, State.FAILED))
        assert _ids(await harness.store.find(both)) == [waiting, failed]
        assert _ids(await harness.store.find(Filter(states=(State.DONE,)))) == [done]

    async def test_get_returns_those_that_exist(self, harness: Harness) -> None:
        done = await harness.add()
        await harness.run()
        waiting = await harness.add()
        jobs = await harness.store.get([done, 987_654, waiting])
        assert sorted(_ids(jobs)) == [done, waiting]
        assert await harness.store.get([]) == []

    async def test_get_and_find_show_the_same(self, harness: Harness) -> None:
        id_ = await harness.add("post", tags=("spring",), lane="ada", options='{"retries":1}')
        await harness.take()
        assert await harness.store.find(Filter()) == [await harness.job(id_)]

    async def test_a_tally_counts_by_queue_and_state(self, harness: Harness) -> None:
        await harness.store.insert([NewJob(task="greet")] * 3)
        await harness.run(limit=1)
        await harness.take(1)
        await harness.add(queue="mail")
        assert {(t.queue, t.state): t.count for t in await harness.store.tally()} == {
            ("default", State.DONE): 1,
            ("default", State.RUNNING): 1,
            ("default", State.WAITING): 1,
            ("mail", State.WAITING): 1,
        }

    async def test_an_empty_store_counts_nothing(self, harness: Harness) -> None:
        assert [tally for tally in await harness.store.tally() if tally.count] == []

    async def test_a_tally_follows_every_move(self, harness: Harness) -> None:
        await harness.add()
        for verdict, state in [
            (Verdict.RETRY, State.WAITING),
            (Verdict.FAILED, State.FAILED),
        ]:
            await harness.run(verdict)
            counts = [tally for tally in await harness.store.tally() if tally.count]
            assert counts == [Tally("default", state, 1)]
