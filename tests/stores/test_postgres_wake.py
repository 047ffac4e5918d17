"""Bells: other processes are told, seldom enough, and nothing is lost when a bell is missed."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from cadenza.engine.job import NewJob
from cadenza.engine.stores.postgres import PostgresStore, notifier

PATIENCE = 10.0
LEASE = timedelta(seconds=30)


class Ear:
    """Hears wake-ups, and can be waited on."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._rang = asyncio.Event()

    def __call__(self, queue: str) -> None:
        self.heard.append(queue)
        self._rang.set()

    async def hear(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._rang.wait()
        self._rang.clear()


@pytest.fixture
async def pair(postgres_database: str) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    ada, ben = PostgresStore(postgres_database), PostgresStore(postgres_database)
    await ada.open()
    await ben.open()
    yield ada, ben
    await ada.close()
    await ben.close()


async def test_an_insert_wakes_another_process(pair: tuple[PostgresStore, PostgresStore]) -> None:
    ada, ben = pair
    ear = Ear()
    ben.watch(ear)
    await ada.insert([NewJob(task="greet", queue="mail")])
    await ear.hear()
    assert ear.heard == ["mail"]


async def test_only_what_can_run_rings(
    pair: tuple[PostgresStore, PostgresStore], postgres_database: str
) -> None:
    ada, _ = pair
    heard: list[object] = []
    rang = asyncio.Event()

    def hear(*said: object) -> None:
        heard.append(said[-1])
        if said[-1] == "now":
            rang.set()

    listener = await asyncpg.connect(postgres_database)
    await listener.add_listener(ada._notifier.channel, hear)
    far = timedelta(hours=1)
    await ada.insert([NewJob(task="greet", queue="far", delay=far)])
    await ada.insert([NewJob(task="greet", queue="far", run_at=await ada.now() + far)])
    await ada.insert([NewJob(task="greet", queue="far", delay=far) for _ in range(1000)])
    await ada.insert_uniform(
        NewJob(task="greet", queue="far", delay=far), lambda: iter(["{}"] * 1000), 1000
    )
    await asyncio.sleep(4 * notifier.GAP)  # a late ring would come before the next
    await ada.insert([NewJob(task="greet", queue="now")])
    async with asyncio.timeout(PATIENCE):
        await rang.wait()
    await listener.close()
    assert heard == ["now"]


async def test_after_a_burst_the_last_job_is_announced_too(
    pair: tuple[PostgresStore, PostgresStore],
) -> None:
    ada, ben = pair
    taken: set[int] = set()
    ear = Ear()
    ben.watch(ear)
    answers = [(await ada.insert([NewJob(task="greet")]))[0] for _ in range(50)]
    async with asyncio.timeout(PATIENCE):
        while len(taken) < len(answers):
            await ear.hear()
            batch = await ben.claim("default", limit=100, worker="ben", lease=LEASE)
            taken |= {job.id for job in batch.jobs}
    assert taken == {answer.id for answer in answers}


async def test_what_comes_right_after_a_ring_is_rung_a_moment_later(
    pair: tuple[PostgresStore, PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben = pair
    monkeypatch.setattr(notifier, "GAP", 0.5)
    ear = Ear()
    ben.watch(ear)
    await ada.insert([NewJob(task="greet")])
    await ear.hear()
    await ada.insert([NewJob(task="greet")])
    assert ear.heard == ["default"]
    await ear.hear()
    assert ear.heard == ["default", "default"]


async def test_a_slow_insert_right_after_a_ring_is_announced_once_it_is_committed(
    pair: tuple[PostgresStore, PostgresStore],
    postgres_database: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ada, ben = pair
    barrier = await asyncpg.connect(postgres_database)
    monkeypatch.setattr(notifier, "GAP", 0.5)
    early, ear = Ear(), Ear()
    leave = ben.watch(early)
    await ada.insert([NewJob(task="greet")])
    async with barrier.transaction():
        await barrier.execute("LOCK TABLE cadenza.job IN SHARE MODE")
        slow = asyncio.create_task(ada.insert([NewJob(task="greet")]))
        await asyncio.sleep(2 * notifier.GAP)  # a ring that does not wait for the commit comes now
        leave()
        ben.watch(ear)
    await slow
    await ear.hear()
    await barrier.close()


async def test_a_burst_rings_less_often_than_it_inserts(
    pair: tuple[PostgresStore, PostgresStore],
) -> None:
    ada, ben = pair
    ear = Ear()
    ben.watch(ear)
    await asyncio.gather(*(ada.insert([NewJob(task="greet")]) for _ in range(100)))
    await ear.hear()
    await ada.insert([NewJob(task="greet", queue="last")])
    async with asyncio.timeout(PATIENCE):
        while "last" not in ear.heard:
            await ear.hear()
    assert ear.heard.count("default") < 50


async def test_own_news_are_heard_once(pair: tuple[PostgresStore, PostgresStore]) -> None:
    ada, ben = pair
    own, other = Ear(), Ear()
    ada.watch(own)
    ben.watch(other)
    await ada.insert([NewJob(task="greet")])
    await other.hear()  # by now the notification came back to its sender too
    await asyncio.sleep(0.05)
    assert own.heard == ["default"]


async def test_everybody_is_woken_after_the_listener_was_cut_off(
    pair: tuple[PostgresStore, PostgresStore], postgres_database: str
) -> None:
    ada, ben = pair
    ear = Ear()
    ben.watch(ear)
    admin = await asyncpg.connect(postgres_database)
    cut = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
    )
    assert len(await admin.fetch(cut)) == 2
    await ear.hear()
    assert ear.heard == [""]
    await ada.insert([NewJob(task="greet", queue="mail")])
    async with asyncio.timeout(PATIENCE):
        while "mail" not in ear.heard:
            await ear.hear()
    await admin.close()
