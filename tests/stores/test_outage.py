"""A server that restarts, crashes or is away, the same for every store that has one.

What was acknowledged stays where the server's settings promise it: PostgreSQL with fsync, Valkey
with appendfsync always. The stand-in for MongoDB keeps its data over a clean stop alone, so it is
stopped where the others are killed. What is peculiar to one store stands in its own file.
"""

import asyncio
import faulthandler
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, TypeVar

import pytest

from cadenza.core.clock import SystemClock
from cadenza.engine import Engine
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import NewJob, State
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Store
from cadenza.engine.stores.open import open_store
from tests.servers.mongo import PrivateMongo
from tests.servers.postgres import PrivatePostgres
from tests.servers.valkey import PrivateValkey

LEASE = timedelta(seconds=30)
AMPLE = 300.0  # seconds: two starts of a Java machine on a busy box, and a lease that runs out
T = TypeVar("T")


class Server(Protocol):
    """What can be done to a server."""

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def crash(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Place:
    """A server of the test's own, and the store on it."""

    server: Server
    address: str
    brief: str  # the same, with little patience
    keeps: bool  # what was acknowledged survives a crash

    def store(self) -> Store:
        return open_store(self.address, clock=SystemClock())


@pytest.fixture(params=["postgres", "redis", "mongo"])
def place(
    request: pytest.FixtureRequest,
    private_postgres: Callable[..., PrivatePostgres],
    private_valkey: Callable[..., PrivateValkey],
    private_mongo: Callable[..., PrivateMongo],
) -> Place:
    if request.param == "postgres":
        postgres = private_postgres(fsync=True)
        return Place(postgres, postgres.dsn, postgres.dsn, keeps=True)
    if request.param == "redis":
        valkey = private_valkey(options={"appendonly": "yes", "appendfsync": "always"})
        return Place(valkey, valkey.url, valkey.url, keeps=True)
    mongo = private_mongo()
    address = mongo.url_for("jobs")
    return Place(mongo, address, f"{address}?serverSelectionTimeoutMS=500", keeps=mongo.is_mongod)


async def persist(call: Callable[[], Awaitable[T]]) -> T:
    """Call until the server is back: a connection that the old one left behind may fail once."""
    while True:
        try:
            return await call()
        except StoreUnavailable:
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("end", ["stop", "crash"])
async def test_a_restart_is_survived(place: Place, end: str) -> None:
    if end == "crash" and not place.keeps:
        pytest.skip("the stand-in promises nothing after a crash")
    store = place.store()
    await store.open()
    answers = await store.insert([NewJob(task="greet")] * 3)
    batch = await store.claim("default", limit=1, worker="ada", lease=LEASE)
    getattr(place.server, end)()
    await asyncio.to_thread(place.server.start)
    async with asyncio.timeout(AMPLE):
        settlements = [Settlement(job.id, job.lease) for job in batch.jobs]
        assert await persist(lambda: store.settle(settlements, closed=[batch.lease])) == []
        found = await persist(lambda: store.get([answer.id for answer in answers]))
        assert [job.state.value for job in found] == ["done", "waiting", "waiting"]
    await store.close()


async def test_while_the_server_is_away_it_is_said_so_and_nothing_hangs(place: Place) -> None:
    store = open_store(place.brief, clock=SystemClock())
    await store.open()
    await store.insert([NewJob(task="greet")])
    place.server.stop()
    async with asyncio.timeout(AMPLE):
        with pytest.raises(StoreUnavailable, match=r"PostgreSQL|Redis|MongoDB"):
            await store.insert([NewJob(task="greet")])
        with pytest.raises(StoreUnavailable):
            await store.claim("default", limit=1, worker="ada", lease=LEASE)
    await asyncio.to_thread(place.server.start)
    async with asyncio.timeout(AMPLE):
        assert (await persist(lambda: store.insert([NewJob(task="greet")])))[0].inserted
        batch = await store.claim("default", limit=9, worker="ada", lease=LEASE)
        assert len(batch.jobs) >= 2
    await store.close()


async def test_a_worker_works_on_through_crashes(place: Place) -> None:
    ran: list[int] = []
    interrupt = place.server.crash if place.keeps else place.server.stop
    async with Engine(place.address) as engine:

        async def note(n: int) -> None:
            ran.append(n)
            await asyncio.sleep(0.001)

        task = engine.declare(note)
        answers = await task.enqueue_many([{"n": n} for n in range(300)])
        worker = engine.worker(concurrency=5)
        running = asyncio.create_task(worker.run())
        faulthandler.cancel_dump_traceback_later()  # it may take longer than a test may
        async with asyncio.timeout(AMPLE):
            for amount in (20, 60):
                while len(set(ran)) < amount:
                    await asyncio.sleep(0.01)
                await asyncio.to_thread(interrupt)
                await asyncio.to_thread(place.server.start)
            await persist(lambda: task.enqueue(n=300))
            while 300 not in ran or await unsettled(engine):
                await asyncio.sleep(0.1)
        worker.stop()
        await running
        # A claim whose answer was cut off comes back with its lease; what ran, ran once.
        assert sorted(ran) == list(range(301))
        jobs = await engine.store.get([answer.id for answer in answers])
        assert {job.state for job in jobs} == {State.DONE}


async def unsettled(engine: Engine) -> bool:
    tallies = await persist(engine.store.tally)
    return any(not tally.state.finished for tally in tallies)
