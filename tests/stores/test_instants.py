"""Occurrences at instants that a store cannot keep as they are: none is lost by rounding."""

import asyncio
from pathlib import Path

import pytest

from cadenza.engine import Engine
from cadenza.engine.loops.recur import Recurrer
from cadenza.engine.meters import Meters

AMPLE = 60.0


@pytest.fixture(params=["sqlite", "postgres_database", "redis_database", "mongo_database"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.sqlite3"
    return request.getfixturevalue(request.param)


async def test_an_occurrence_between_two_milliseconds_fires(address: str) -> None:
    async with Engine(address) as engine:
        begin = (await engine.store.now()).replace(microsecond=123_457)
        await engine.schedule("often", "greet", every=1, anchor=begin)
        recurrer = Recurrer(engine.store, meters=Meters())
        async with asyncio.timeout(AMPLE):
            while not await engine.find(schedule="often"):
                await asyncio.sleep(min(await recurrer.run_once(), 0.1))
