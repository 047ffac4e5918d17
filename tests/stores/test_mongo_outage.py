"""A server that restarts in mid-run: what was acknowledged stays, the store comes back.

The stand-in keeps its data over a clean stop only, so a crash is for a real mongod. Replica sets
are for CADENZA_TEST_MONGO_URL: majority and step-down are then proven, not read about.
"""

import asyncio
import contextlib
import os
from collections.abc import Iterator
from datetime import timedelta

import pytest
from pymongo import AsyncMongoClient
from pymongo.errors import AutoReconnect

from cadenza.engine import Engine
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import NewJob, State
from cadenza.engine.outcomes import Settlement
from cadenza.engine.stores.mongo import MongoStore
from tests.servers.mongo import URL, PrivateMongo
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail

LEASE = timedelta(seconds=30)
PATIENCE = 60.0


@pytest.fixture
def server() -> Iterator[PrivateMongo]:
    try:
        own = PrivateMongo.create(own=True)
    except ServerUnavailableError as reason:
        skip_or_fail("mongo", reason)
        raise
    with own:
        yield own


async def test_a_restart_is_survived(server: PrivateMongo) -> None:
    store = MongoStore(server.url_for("jobs"))
    await store.open()
    answers = await store.insert([NewJob(task="greet")] * 3)
    batch = await store.claim("default", limit=1, worker="ada", lease=LEASE)
    await asyncio.to_thread(server.restart)
    async with asyncio.timeout(PATIENCE):
        settlements = [Settlement(job.id, job.lease) for job in batch.jobs]
        while True:
            try:
                refused = await store.settle(settlements, closed=[batch.lease])
                break
            except StoreUnavailable:  # a connection that the old server left behind
                await asyncio.sleep(0.1)
        assert refused == []
        found = await store.get([answer.id for answer in answers])
        assert [job.state.value for job in found] == ["done", "waiting", "waiting"]
    await store.close()


async def test_while_the_server_is_away_it_is_said_so(server: PrivateMongo) -> None:
    store = MongoStore(f"{server.url_for('jobs')}?serverSelectionTimeoutMS=500")
    await store.open()
    server.stop()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(StoreUnavailable, match="MongoDB refused insert"):
            await store.insert([NewJob(task="greet")])
    await asyncio.to_thread(server.start)
    async with asyncio.timeout(PATIENCE):
        assert (await store.insert([NewJob(task="greet")]))[0].inserted
    await store.close()


async def test_a_worker_goes_on_after_a_restart(server: PrivateMongo) -> None:
    seen: list[int] = []
    async with Engine(server.url_for("jobs")) as engine:

        @engine.task
        async def note(n: int) -> None:
            seen.append(n)
            await asyncio.sleep(0.01)

        answers = await engine.enqueue_many(note, [{"n": n} for n in range(200)])
        worker = engine.worker(concurrency=4)
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(PATIENCE):
            while len(seen) < 20:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(server.restart)
            while len(set(seen)) < 200 or await _unsettled(engine):
                await asyncio.sleep(0.1)
        worker.stop()
        await running
        jobs = await engine.store.get([answer.id for answer in answers])
    assert {job.state for job in jobs} == {State.DONE}


async def _unsettled(engine: Engine) -> bool:
    try:
        tallies = await engine.store.tally()
    except StoreUnavailable:
        return True
    return any(not tally.state.finished for tally in tallies)


async def test_a_step_down_loses_nothing_that_was_acknowledged(mongo_database: str) -> None:
    if "replicaSet=" not in os.environ.get(URL, ""):
        pytest.skip(f"{URL} names no replica set (replicaSet=…): step-down was not tried")
    store = MongoStore(mongo_database)
    await store.open()
    known = [(await store.insert([NewJob(task="greet")]))[0].id for _ in range(50)]
    async with AsyncMongoClient[dict[str, object]](mongo_database) as client:
        with contextlib.suppress(AutoReconnect):
            await client.admin.command("replSetStepDown", 5, force=True)
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                found = await store.get(known)
                break
            except StoreUnavailable:
                await asyncio.sleep(0.2)
    assert [job.id for job in found] == known
    await store.close()
