"""kill -9 of workers, again and again: every job done, none lost, none buried for its neighbour."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cadenza.engine import Engine, State
from cadenza.engine.job import Filter
from tests.crash.crew import Crew
from tests.crash.program import build

JOBS = 5000
KILLS = 50

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.sqlite3"
    return request.getfixturevalue("postgres_database")


@pytest.fixture
async def engine(address: str) -> AsyncIterator[Engine]:
    async with build(address) as opened:
        yield opened


async def count(engine: Engine, *states: State) -> int:
    return sum(tally.count for tally in await engine.store.tally() if tally.state in states)


async def settled(engine: Engine, crew: Crew, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while await count(engine, State.WAITING, State.RUNNING):
            crew.replace_dead()
            await asyncio.sleep(0.2)


async def test_every_job_is_done_however_often_workers_are_killed(
    engine: Engine, address: str, tmp_path: Path
) -> None:
    dice = random.Random(7)
    payloads = [{"number": n, "milliseconds": dice.randint(5, 50)} for n in range(JOBS)]
    await engine.enqueue_many("nap", payloads)
    marks = tmp_path / "marks"

    with Crew(address, marks, size=3, seed=11) as crew:
        while crew.kills < KILLS:
            await asyncio.sleep(dice.uniform(0.1, 0.5))
            crew.kill_one()
        left = await count(engine, State.WAITING, State.RUNNING)
        await settled(engine, crew, 180)

    assert await count(engine, State.DONE) == JOBS
    assert await count(engine, State.FAILED, State.CANCELED) == 0
    ended = {line.split()[1] for line in marks.read_text().splitlines() if line.startswith("end")}
    assert len(ended) == JOBS
    assert left > 0, "all was done before the last kill: the test killed nobody at work"


async def test_a_poison_job_ends_in_the_dead_letter_alone(
    engine: Engine, address: str, tmp_path: Path
) -> None:
    await engine.enqueue_many("nap", [{"number": n, "milliseconds": 20} for n in range(200)])
    poison = await engine.enqueue("poison", {"number": 1000}, priority=-1)
    await engine.enqueue_many("nap", [{"number": n, "milliseconds": 20} for n in range(200, 400)])

    with Crew(address, tmp_path / "marks", size=2, seed=3) as crew:
        await settled(engine, crew, 90)

    failed = await engine.store.find(Filter(states=(State.FAILED,)))
    assert [job.id for job in failed] == [poison.id]
    assert "died 5 times" in json.loads(failed[0].errors[-1])["message"]
    assert await count(engine, State.DONE) == 400
