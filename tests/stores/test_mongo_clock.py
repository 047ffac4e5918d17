"""The server's clock decides, and nobody waits for it to be measured anew."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from cadenza.engine.stores.mongo.ground import MEASURED, Ground
from cadenza.engine.stores.mongo.papers import Paper
from cadenza.engine.testing.clock import VirtualClock

PATIENCE = 30.0


class Slow(Ground):
    """Says hello only once it may."""

    def __init__(self, address: str, clock: VirtualClock) -> None:
        super().__init__(address, prefix=None, clock=clock)
        self.may = asyncio.Event()
        self.may.set()
        self.greeted = 0

    async def greet(self) -> Paper:
        self.greeted += 1
        await self.may.wait()
        return await super().greet()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def ground(mongo_database: str, clock: VirtualClock) -> AsyncIterator[Slow]:
    ground = Slow(mongo_database, clock)
    yield ground
    await ground.close()


async def test_a_call_does_not_wait_while_the_clock_is_measured_anew(
    ground: Slow, clock: VirtualClock
) -> None:
    first, greeted = await ground.now(), ground.greeted
    ground.may.clear()
    clock.shift(timedelta(seconds=MEASURED + 1))
    async with asyncio.timeout(PATIENCE):
        assert await ground.now() == first + timedelta(seconds=MEASURED + 1), "carried on so far"
        assert await ground.now() >= first
        await asyncio.sleep(0)
        assert ground.greeted == greeted + 1, "once for all who ask meanwhile"
        ground.may.set()
        while await ground.now() > first + timedelta(seconds=MEASURED):
            await asyncio.sleep(0.01)  # the server's own clock was not set on


async def test_what_was_measured_too_long_ago_is_not_carried_on(
    ground: Slow, clock: VirtualClock
) -> None:
    first = await ground.now()
    clock.shift(timedelta(hours=1))
    assert await ground.now() < first + timedelta(minutes=30)
