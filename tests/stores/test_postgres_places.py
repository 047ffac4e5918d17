"""Where a claim begins to read: past dead entries, and yet nothing is overlooked."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from cadenza.engine.job import NewJob
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Batch
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.postgres.read_positions import (
    DEAR,
    EVERY,
    LONGEST,
    SAMPLES,
    SLACK,
    START,
    ReadPosition,
    ReadPositions,
)
from cadenza.engine.testing.clock import VirtualClock
from cadenza.sql.postgres import Connection, Purpose

LEASE = timedelta(seconds=30)
HOUR = timedelta(hours=1)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
async def store(postgres_database: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_database)
    await store.open()
    yield store
    await store.close()


async def take(store: PostgresStore, limit: int) -> Batch:
    return await store.claim("default", limit=limit, worker="ada", lease=LEASE)


def known_places() -> tuple[ReadPositions, VirtualClock]:
    clock = VirtualClock()
    places = ReadPositions(clock)
    places.note_read("mail", START, 0.0)
    return places, clock


def test_a_full_batch_is_followed_from_its_last_job() -> None:
    places, _ = known_places()
    places.note_taken("mail", ReadPosition(1, NOON, 7), full=True)
    assert places.begin("mail") == ReadPosition(1, NOON, 7)


def test_a_short_batch_leaves_time_for_late_commits() -> None:
    places, _ = known_places()
    places.note_taken("mail", ReadPosition(1, NOON, 7), full=False)
    assert places.begin("mail") == ReadPosition(1, NOON - SLACK, 0)


def test_once_a_second_all_is_read() -> None:
    places, clock = known_places()
    places.note_taken("mail", ReadPosition(1, NOON, 7), full=True)
    clock.shift(timedelta(seconds=EVERY))
    assert places.begin("mail") is START


def test_an_empty_reading_is_repeated_from_the_beginning_unless_that_is_dear() -> None:
    places, clock = known_places()
    places.note_taken("mail", ReadPosition(1, NOON, 7), full=True)
    assert places.look_again("mail") is START
    for _ in range(SAMPLES):
        places.note_read("mail", START, DEAR, looked=True)
    assert places.look_again("mail") == ReadPosition(1, NOON, 7)
    clock.shift(timedelta(seconds=EVERY))
    assert places.look_again("mail") is START


@pytest.mark.parametrize(
    ("took", "every"), [(DEAR, EVERY), (0.04, 2.0), (1.0, LONGEST)], ids=["cheap", "dear", "very"]
)
def test_dear_readings_from_the_beginning_come_more_seldom(took: float, every: float) -> None:
    places, clock = known_places()
    places.note_taken("mail", ReadPosition(1, NOON, 7), full=True)
    places.note_read("mail", START, took)
    clock.shift(timedelta(seconds=every - 0.001))
    assert places.begin("mail") == ReadPosition(1, NOON, 7)
    clock.shift(timedelta(seconds=0.002))
    assert places.begin("mail") is START


def test_one_slow_reading_is_not_dear() -> None:
    places, _ = known_places()
    places.note_taken("mail", ReadPosition(1, NOON, 7), full=True)
    for took in (DEAR, 0.0, DEAR):
        places.note_read("mail", START, took, looked=True)
    assert places.look_again("mail") is START


def test_a_forgotten_queue_is_read_from_the_beginning() -> None:
    places, _ = known_places()
    places.note_taken("mail", ReadPosition(1, NOON, 7), full=True)
    places.forget(["mail", "unknown"])
    assert places.begin("mail") is START


async def test_an_old_job_of_another_process_is_found_although_we_are_past_it(
    store: PostgresStore, postgres_database: str
) -> None:
    await store.insert([NewJob(task="greet")] * 10)
    await take(store, 5)
    other = PostgresStore(postgres_database)
    await other.open()
    old = (await other.insert([NewJob(task="greet", run_at=await other.now() - HOUR)]))[0]
    await other.close()
    rest = await take(store, 100)
    found = {job.id for job in (*rest.jobs, *(await take(store, 100)).jobs)}
    assert old.id in found
    assert len(found) == 6


async def test_a_released_job_comes_first_again(store: PostgresStore) -> None:
    answers = await store.insert([NewJob(task="greet")] * 300)
    first = await take(store, 100)
    await take(store, 100)
    back = [Settlement(job.id, job.lease, Verdict.RELEASED) for job in first.jobs]
    await store.settle(back, closed=[first.lease])
    again = await take(store, 100)
    assert [job.id for job in again.jobs] == [answer.id for answer in answers[:100]]


async def test_an_urgent_job_overtakes_a_backlog(store: PostgresStore) -> None:
    await store.insert([NewJob(task="greet")] * 1_000)
    await take(store, 100)
    await take(store, 100)
    urgent = (await store.insert([NewJob(task="greet", priority=-1)]))[0]
    assert (await take(store, 100)).jobs[0].id == urgent.id


async def test_lanes_and_due_jobs_get_their_turn_under_a_backlog(store: PostgresStore) -> None:
    await store.insert([NewJob(task="greet")] * 20_000)
    await take(store, 100)
    lane = (await store.insert([NewJob(task="greet", lane="ada")]))[0]
    soon = (
        await store.insert([NewJob(task="greet", priority=-1, delay=timedelta(milliseconds=1))])
    )[0]
    seen: set[int] = set()
    async with asyncio.timeout(20):
        while not {lane.id, soon.id} <= seen:
            seen |= {job.id for job in (await take(store, 100)).jobs}
    assert len(seen) < 15_000, "before the backlog was worked off"


async def pages_read(store: PostgresStore, place: ReadPosition) -> int:
    """Count the pages that a claim from a place on would read."""
    query = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + store._sql["claim_plain"]

    async def explain(connection: Connection) -> str:
        transaction = connection.transaction()
        await transaction.start()
        given = ("default", 1_000, "ada", LEASE, *place.columns, False, True)
        plan = await connection.fetchval(query, *given)
        await transaction.rollback()
        return str(plan)

    plan = json.loads(await store._database.run(explain, desk=Purpose.CLAIM))[0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


async def test_an_old_transaction_does_not_make_claims_read_all_that_was_claimed(
    store: PostgresStore, postgres_database: str
) -> None:
    holder = await asyncpg.connect(postgres_database)
    await holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class")
    for _ in range(10):
        await store.insert([NewJob(task="greet")] * 1_000)
        batch = await take(store, 1_000)
        settlements = [Settlement(job.id, job.lease, keep=False) for job in batch.jobs]
        await store.settle(settlements, closed=[batch.lease])
    await store.insert([NewJob(task="greet")])
    place = store._places._queues["default"].place
    pages = [await pages_read(store, where) for where in (START, place)]
    await holder.close()
    assert pages[1] * 5 < pages[0], "from the beginning the dead are in the way"
