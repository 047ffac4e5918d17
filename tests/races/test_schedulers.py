"""Many schedulers, one occurrence: one of them fires it."""

import asyncio
from datetime import datetime, timedelta

from cadenza.engine.job import Enqueued, NewJob, Schedule
from cadenza.engine.store import Store
from cadenza.engine.stores.postgres import PostgresStore
from tests.races.conftest import Shared
from tests.races.hold import Holder

STEP = timedelta(seconds=60)


async def _put(store: Store, *, ago: timedelta) -> Schedule:
    at = await store.now() - ago
    return await store.put_schedule(
        Schedule(name="hourly", task="greet", recurrence="{}", next_at=at.replace(microsecond=0))
    )


async def test_eight_schedulers_fire_each_occurrence_once(shared: Shared) -> None:
    schedule = await _put(shared.store, ago=40 * STEP)
    assert schedule.next_at is not None
    hands = shared.crew.all_do("fire", rounds=100, step=STEP.total_seconds())
    fired = [(datetime.fromisoformat(at), id_) for hand in hands for at, id_ in hand]
    times = sorted(at for at, _ in fired)
    assert times == [schedule.next_at + number * STEP for number in range(len(times))]
    assert len(times) >= 40
    assert len({id_ for _, id_ in fired}) == len(fired)
    assert sum(tally.count for tally in await shared.store.tally()) == len(fired)


async def test_the_second_scheduler_waits_and_finds_it_done(
    pair: tuple[PostgresStore, PostgresStore], holder: Holder
) -> None:
    schedule = await _put(pair[0], ago=STEP)
    at = schedule.next_at
    assert at is not None

    async def fire(store: PostgresStore) -> list[Enqueued] | None:
        return await store.fire(
            "hourly",
            revision=schedule.revision,
            expected=at,
            next_at=at + STEP,
            note=None,
            jobs=[NewJob(task="greet")],
        )

    async with holder.hold("SELECT * FROM cadenza.schedule WHERE name = 'hourly'"):
        winner = asyncio.create_task(fire(pair[0]))
        await holder.prove_waiting(1)
        loser = asyncio.create_task(fire(pair[1]))
        await holder.prove_waiting(2)
    assert await winner is not None
    assert await loser is None
    assert sum(tally.count for tally in await pair[0].tally()) == 1


async def test_a_changed_schedule_beats_the_scheduler_that_read_the_old_one(
    pair: tuple[PostgresStore, PostgresStore], holder: Holder
) -> None:
    schedule = await _put(pair[0], ago=STEP)
    at = schedule.next_at
    assert at is not None
    async with holder.hold("SELECT * FROM cadenza.schedule WHERE name = 'hourly'"):
        winner = asyncio.create_task(pair[0].put_schedule(schedule))
        await holder.prove_waiting(1)
        loser = asyncio.create_task(
            pair[1].fire(
                "hourly",
                revision=schedule.revision,
                expected=at,
                next_at=at + STEP,
                note=None,
                jobs=[NewJob(task="greet")],
            )
        )
        await holder.prove_waiting(2)
    assert (await winner).revision == schedule.revision + 1
    assert await loser is None
    assert await pair[0].tally() == []
