"""A schedule that moves to another queue takes more than one step here; a pause is not lost between them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from cadenza.engine.job import Schedule
from cadenza.engine.stores.redis import RedisStore
from tests.servers.valkey import PrivateValkey

DAILY = Schedule(name="daily", task="greet", recurrence="{}", queue="mail")
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
    store: RedisStore, script: str, other: RedisStore, monkeypatch: pytest.MonkeyPatch, *says: bool
) -> None:
    """Let another pause or open the schedule right before one of our steps."""
    run, left = store._run, list(says)

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
