"""Workers: heartbeats are kept for people, and those long silent are forgotten."""

from dataclasses import replace

from cadenza.engine.job import WorkerInfo
from cadenza.engine.testing.conformance.harness import DAY, MINUTE, Harness


async def _worker(harness: Harness, name: str) -> WorkerInfo:
    now = await harness.store.now()
    return WorkerInfo(
        name=name,
        queues=("default", "mail"),
        tasks=("greet", "post"),
        concurrency=10,
        started_at=now - MINUTE,
        seen_at=now - MINUTE,
        running=3,
        version="1.2.3",
        skew=0.25,
    )


class Workers:
    """What `beat` and `workers` promise."""

    async def test_a_worker_is_kept_as_it_tells(self, harness: Harness) -> None:
        ada = await _worker(harness, "ada")
        await harness.store.beat(ada)
        (seen,) = await harness.store.workers()
        assert replace(seen, seen_at=ada.seen_at) == ada

    async def test_a_worker_was_seen_at_the_stores_now(self, harness: Harness) -> None:
        await harness.store.beat(await _worker(harness, "ada"))
        (seen,) = await harness.store.workers()
        assert harness.same(seen.seen_at, await harness.store.now())

    async def test_the_newest_word_of_a_worker_counts(self, harness: Harness) -> None:
        ada = await _worker(harness, "ada")
        await harness.store.beat(ada)
        await harness.shift(MINUTE)
        await harness.store.beat(replace(ada, running=7))
        (seen,) = await harness.store.workers()
        assert seen.running == 7
        assert harness.same(seen.seen_at, await harness.store.now())

    async def test_workers_are_listed_by_name(self, harness: Harness) -> None:
        for name in ("cy", "ada", "ben"):
            await harness.store.beat(await _worker(harness, name))
        assert [worker.name for worker in await harness.store.workers()] == ["ada", "ben", "cy"]

    async def test_a_worker_long_silent_is_forgotten(self, harness: Harness) -> None:
        await harness.store.beat(await _worker(harness, "ada"))
        await harness.shift(DAY)
        await harness.store.beat(await _worker(harness, "ben"))
        assert [worker.name for worker in await harness.store.workers()] == ["ben"]

    async def test_a_worker_silent_for_minutes_is_still_shown(self, harness: Harness) -> None:
        await harness.store.beat(await _worker(harness, "ada"))
        await harness.shift(10 * MINUTE)
        await harness.store.beat(await _worker(harness, "ben"))
        assert [worker.name for worker in await harness.store.workers()] == ["ada", "ben"]
