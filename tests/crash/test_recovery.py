"""What a kill -9 costs: its jobs are done a lease later, and fresh jobs do not wait for them."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path

import pytest

from cadenza.engine import Engine, State
from cadenza.engine.job import Filter
from tests.crash.crew import Crew
from tests.crash.long_program import CONCURRENCY, LEASE, build

PROGRAM = "tests.crash.long_program"
SECONDS = 6.0  # that a job takes
IDEAL = LEASE.total_seconds() + SECONDS

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "postgres", "mongo", "redis"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.sqlite3"
    return request.getfixturevalue(f"{request.param}_database")


async def test_a_crash_costs_a_lease_and_holds_up_nobody(address: str, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    async with build(address) as engine:
        jobs = [{"number": n, "seconds": SECONDS} for n in range(CONCURRENCY)]
        with Crew(address, marks, size=2, seed=1, program=PROGRAM) as crew:
            while len(_lines(marks, "ready")) < 2:
                await asyncio.sleep(0.02)
            victim, other = (int(line[3]) for line in _lines(marks, "ready"))
            os.kill(other, signal.SIGSTOP)  # so that one worker has them all
            await engine.enqueue_many("long", jobs)
            while len(_lines(marks, "begin")) < CONCURRENCY:
                await asyncio.sleep(0.02)
            os.kill(other, signal.SIGCONT)
            os.kill(victim, signal.SIGKILL)
            killed = time.time()
            sent = await _send_fresh(engine, marks, crew)
            done = max(float(line[2]) for line in _lines(marks, "end")) - killed

    ran = {int(n): float(at) for _, n, at, _ in _lines(marks, "fresh")}
    waited = sorted(ran[n] - at for n, at in sent.items())
    p99 = waited[len(waited) * 99 // 100]
    print(
        f"\nrecovered in {done:.1f} s (ideal {IDEAL:.0f}); fresh p99 {p99:.3f}, max {waited[-1]:.3f}"
    )
    assert done < 1.5 * IDEAL
    assert p99 < 1.0


async def test_a_poison_job_takes_no_neighbour_to_the_dead_letter(
    address: str, tmp_path: Path
) -> None:
    async with build(address) as engine:
        await engine.enqueue_many("long", [{"number": n, "seconds": 1.0} for n in range(60)])
        poison = await engine.enqueue("poison", {"number": 1000}, priority=-1)
        with Crew(address, tmp_path / "marks", size=2, seed=3, program=PROGRAM) as crew:
            async with asyncio.timeout(150):
                while await _left(engine):
                    crew.replace_dead()
                    await asyncio.sleep(0.2)
        failed = await engine.store.find(Filter(states=(State.FAILED,)))
        done = await engine.store.find(Filter(states=(State.DONE,), limit=100))

    assert [job.id for job in failed] == [poison.id]
    assert "died 5 times" in json.loads(failed[0].errors[-1])["message"]
    assert len(done) == 60
    assert max(job.crashes for job in done) < 5


async def _send_fresh(engine: Engine, marks: Path, crew: Crew) -> dict[int, float]:
    """Send fresh jobs, twenty a second, until the recovered ones are done."""
    sent: dict[int, float] = {}
    async with asyncio.timeout(200):
        while len(_lines(marks, "end")) < CONCURRENCY:
            crew.replace_dead()
            sent[len(sent)] = time.time()
            await engine.enqueue("fresh", {"number": len(sent) - 1})
            await asyncio.sleep(0.05)
    async with asyncio.timeout(100):
        while len({line[1] for line in _lines(marks, "fresh")}) < len(sent):
            await asyncio.sleep(0.05)
    return sent


async def _left(engine: Engine) -> int:
    live = (State.WAITING, State.RUNNING)
    return sum(tally.count for tally in await engine.store.tally() if tally.state in live)


def _lines(marks: Path, kind: str) -> list[list[str]]:
    lines = [line.split() for line in marks.read_text().splitlines()] if marks.exists() else []
    return [line for line in lines if line[0] == kind]
