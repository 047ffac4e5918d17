"""Moving or forgetting a schedule takes more than one step here: what others do in between is not lost."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from cadenza.engine.job import Schedule
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAILY = Schedule(name="daily", task="greet", recurrence="{}", queue="mail", next_at=NOON)
MOVED = replace(DAILY, queue="posts")
Pair = tuple[RedisStore, RedisStore]


@pytest.fixture
async def pair(valkey: PrivateValkey, request: pytest.FixtureRequest) -> AsyncIterator[Pair]:
    prefix = f"moves-{request.node.name}"
    first, second = RedisStore(valkey.url, prefix=prefix), RedisStore(valkey.url, prefix=prefix)
    await first.open()
    await second.open()
    await first.put_schedule(DAILY)
    yield first, second
    await first.close()
    await second.close()


def before(
    store: RedisStore,
    script: str,
    other: RedisStore,
    monkeypatch: pytest.MonkeyPatch,
    *message: bool,
) -> None:
    """Let another pause or open the schedule right before one of our steps."""
    run, left = store._run, list(message)

    async def meet(name: str, *args: Any, **options: Any) -> Any:
        while name == script and left:
            assert await other.set_schedule("daily", paused=left.pop(0))
        return await run(name, *args, **options)

    monkeypatch.setattr(store, "_run", meet)


@pytest.mark.parametrize("step", ["put_plan", "drop_plan", "set_plan"])
async def test_a_pause_follows_a_schedule_that_moves(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    mover, other = pair
    before(mover, step, other, monkeypatch, True)
    if step == "set_plan":  # the other finds it where it went, after the pause of before
        before(mover, "put_plan", other, monkeypatch, True)
    await mover.put_schedule(MOVED, keep_paused=True)
    (kept,) = await other.schedules()
    assert (kept.queue, kept.paused) == ("posts", True)


async def test_what_was_said_last_stands(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    mover, other = pair
    before(mover, "set_plan", other, monkeypatch, True, False)
    before(mover, "put_plan", other, monkeypatch, True)
    await mover.put_schedule(MOVED, keep_paused=True)
    (kept,) = await other.schedules()
    assert (kept.queue, kept.paused) == ("posts", False)


async def test_a_pause_finds_a_schedule_that_moved_meanwhile(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    mover, other = pair
    run = other._run
    left = [MOVED]

    async def meet(name: str, *args: Any, **options: Any) -> Any:
        while left:
            await mover.put_schedule(left.pop(), keep_paused=True)
        return await run(name, *args, **options)

    monkeypatch.setattr(other, "_run", meet)
    paused = await other.set_schedule("daily", paused=True)
    assert paused is not None
    assert (paused.queue, paused.paused) == ("posts", True)
    assert await mover.schedules() == [paused]


async def fires(store: RedisStore, plan: Schedule) -> bool:
    answers = await store.fire(
        plan.name, revision=plan.revision, expected=NOON, next_at=None, note=None, jobs=[]
    )
    return answers is not None


@pytest.mark.parametrize("early", [True, False], ids=["before its first step", "after it"])
@pytest.mark.parametrize("declared", [DAILY, MOVED], ids=["where it was", "elsewhere"])
async def test_what_is_declared_beside_an_unschedule_fires_if_it_is_listed(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, declared: Schedule, *, early: bool
) -> None:
    dropper, other = pair
    for queue in ("mail", "posts"):
        await other.put_schedule(replace(DAILY, name=f"{queue} too", queue=queue))
    run, left = dropper._run, [declared]

    async def meet(name: str, *args: Any, **options: Any) -> Any:
        meets = name == "drop_plan" and left
        if meets and early:
            await other.put_schedule(left.pop())
        answer = await run(name, *args, **options)
        if meets and not early:
            await other.put_schedule(left.pop())
        return answer

    monkeypatch.setattr(dropper, "_run", meet)
    assert await dropper.drop_schedule("daily")
    listed = await other.schedules()
    names = {"mail too", "posts too"} | (set() if early else {"daily"})
    assert {plan.name for plan in listed} == names, "what was declared last stands"
    assert all([await fires(other, plan) for plan in listed])


async def test_only_what_the_directory_names_is_listed(pair: Pair) -> None:
    store, _ = pair
    await store.put_schedule(replace(DAILY, name="weekly"))
    await store._wire.ask("HDEL", store._key("plans"), "daily", write=True)  # a torn unschedule
    assert [plan.name for plan in await store.schedules()] == ["weekly"]
    await store.put_schedule(DAILY)
    assert [plan.name for plan in await store.schedules()] == ["daily", "weekly"]
