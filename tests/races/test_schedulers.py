"""Many schedulers, one occurrence: one of them fires it. Many changes, one schedule: none undoes another."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from cadenza.engine import Engine
from cadenza.engine.errors import UnknownName
from cadenza.engine.job import Enqueued, NewJob, Schedule
from cadenza.engine.store import Store
from cadenza.engine.stores.postgres import PostgresStore
from tests.races.conftest import Shared
from tests.races.hold import Holder

STEP = timedelta(seconds=60)
HELD = "SELECT * FROM cadenza.schedule WHERE name = 'hourly'"
Engines = tuple[Engine, Engine]


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

    async with holder.hold(HELD):
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
    async with holder.hold(HELD):
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


@pytest.fixture
def engines(pair: tuple[PostgresStore, PostgresStore]) -> Engines:
    return Engine(pair[0]), Engine(pair[1])


async def _declare(engine: Engine, cron: str) -> Schedule:
    """Say it as a program does at its start: nothing of whether it is paused."""
    return await engine.schedule("hourly", "greet", cron=cron)


async def test_a_deploy_that_read_before_a_pause_and_writes_after_it_leaves_the_pause(
    engines: Engines, holder: Holder
) -> None:
    await _declare(engines[0], "0 * * * *")
    async with holder.hold(HELD):
        first = asyncio.create_task(engines[0].pause_schedule("hourly"))
        await holder.prove_waiting(1)
        second = asyncio.create_task(_declare(engines[1], "30 * * * *"))
        await holder.prove_waiting(2)
    assert (await first).paused
    deployed = await second
    assert deployed.paused
    assert "30 * * * *" in deployed.recurrence
    assert await engines[0].schedules() == [deployed]


async def test_a_pause_that_comes_behind_a_deploy_leaves_the_new_times(
    engines: Engines, holder: Holder
) -> None:
    old = await _declare(engines[0], "0 * * * *")
    async with holder.hold(HELD):
        first = asyncio.create_task(_declare(engines[0], "30 * * * *"))
        await holder.prove_waiting(1)
        second = asyncio.create_task(engines[1].pause_schedule("hourly"))
        await holder.prove_waiting(2)
    deployed, paused = await first, await second
    assert paused == replace(deployed, paused=True, revision=old.revision + 2)
    assert "30 * * * *" in paused.recurrence
    assert await engines[0].schedules() == [paused]


@pytest.mark.parametrize("act", [Engine.pause_schedule, Engine.resume_schedule])
async def test_an_unschedule_wins_against_the_pause_behind_it(
    engines: Engines, holder: Holder, act: Callable[[Engine, str], Awaitable[Schedule]]
) -> None:
    await _declare(engines[0], "0 * * * *")
    async with holder.hold(HELD):
        winner = asyncio.create_task(engines[0].unschedule("hourly"))
        await holder.prove_waiting(1)
        loser = asyncio.ensure_future(act(engines[1], "hourly"))
        await holder.prove_waiting(2)
    await winner
    with pytest.raises(UnknownName, match="hourly"):
        await loser
    assert await engines[0].schedules() == []


async def test_a_deploy_behind_an_unschedule_makes_a_new_schedule(
    engines: Engines, holder: Holder
) -> None:
    await _declare(engines[0], "0 * * * *")
    await engines[0].pause_schedule("hourly")
    async with holder.hold(HELD):
        first = asyncio.create_task(engines[0].unschedule("hourly"))
        await holder.prove_waiting(1)
        second = asyncio.create_task(_declare(engines[1], "30 * * * *"))
        await holder.prove_waiting(2)
    await first
    assert not (await second).paused
