"""The server's clock decides, and nobody waits for it to be measured again."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from cadenza.engine.stores.mongo.connection import MEASURED, MongoConnection
from cadenza.engine.stores.mongo.documents import Paper
from cadenza.engine.testing.clock import VirtualClock

PATIENCE = 30.0


class Slow(MongoConnection):
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
async def connection(mongo_database: str, clock: VirtualClock) -> AsyncIterator[Slow]:
    connection = Slow(mongo_database, clock)
    yield connection
    await connection.close()


async def test_a_call_does_not_wait_while_the_clock_is_measured_again(
    connection: Slow, clock: VirtualClock
) -> None:
    first, greeted = await connection.now(), connection.greeted
    connection.may.clear()
    clock.shift(timedelta(seconds=MEASURED + 1))
    async with asyncio.timeout(PATIENCE):
        assert await connection.now() == first + timedelta(seconds=MEASURED + 1), (
            "carried on so far"
        )
        assert await connection.now() >= first
        await asyncio.sleep(0)
        assert connection.greeted == greeted + 1, "once for all who ask meanwhile"
        connection.may.set()
        while await connection.now() > first + timedelta(seconds=MEASURED):
            await asyncio.sleep(0.01)  # the server's own clock was not set on


async def test_what_was_measured_too_long_ago_is_not_carried_on(
    connection: Slow, clock: VirtualClock
) -> None:
    first = await connection.now()
    clock.shift(timedelta(hours=1))
    assert await connection.now() < first + timedelta(minutes=30)
