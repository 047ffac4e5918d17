"""kill -9 of real product workers before, during and after the provider's call, over all adapters.

Each round one worker process is killed with a delivery of several networks in its hands. In the end
every network that can be asked shows each post exactly once; the others show none twice, and what
nobody can know stands there as `unconfirmed`. Only what five workers were killed with, by the test's own
count, may be set aside unsent, and a person is told. CADENZA_TEST_CRASH_ROUNDS sets the number of rounds of
both databases together (16, or what a busy machine manages); `make crash` runs 200.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from cadenza.bootstrap import open_runtime
from cadenza.demo.cast import Role, assemble
from cadenza.demo.simulator.faults import Fault, Kind
from cadenza.providers.registry import provider
from cadenza.sql.tx import Row
from tests.crash.nursery import Nursery
from tests.crash.runtime import Stage, WorkerProcess, settings_for

ASKED = os.environ.get("CADENZA_TEST_CRASH_ROUNDS")
ROUNDS = int(ASKED or "16") // 2  # of each database
BUDGET = None if ASKED else 8.0  # seconds: on a busy machine the short run kills less often
A_ROUND = 5  # networks at once
PROVES_PRESENCE_ONLY = "unipile"  # its lists lag, so that what is not in them may be there
CRASH_LIMIT = 5
PATIENCE = 20.0  # seconds until a kill point must be reached

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    opened = Nursery.open("cadenza.cli:main", "cadenza.cli.worker", "cadenza.bootstrap")
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/data/cadenza.sqlite3"
    return request.getfixturevalue("postgres_database")


@pytest.fixture
async def stage(database: str, tmp_path: Path) -> AsyncIterator[Stage]:
    cast = await assemble()
    (tmp_path / "data").mkdir()
    try:
        async with open_runtime(settings_for(cast, database, tmp_path / "data")) as runtime:
            opened = Stage(cast, runtime)
            await opened.furnish()
            yield opened
    finally:
        await cast.simulator.close()


async def reached(stage: Stage, point: str, faults: list[Fault], ids: list[str]) -> bool:
    """Wait until the worker stands where it is to die."""
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                if faults and all(fault.met for fault in faults):
                    return True
                if point == "after" and any(stage.visible(*stage.sent[id_]) for id_ in ids):
                    return True
                if point == "claimed":
                    rows = await stage.rows()
                    if any(rows[id_]["lease"] for id_ in ids):
                        return True
                await asyncio.sleep(0.005)
    except TimeoutError:
        return False


POINTS = {
    "claimed": None,  # leased; the permit is being asked for
    "before": Kind.SILENCE_BEFORE,  # the request is out, nothing was done over there
    "during": Kind.SILENCE_AFTER,  # it was done, the answer is not back
    "after": None,  # it was done and answered, the outcome is being written
}


Held = dict[str, set[int]]  # by delivery: the leases that workers were killed with


async def kill_rounds(
    stage: Stage, nursery: Nursery, log: Path, rounds: int
) -> tuple[Counter[str], Held]:
    dice = random.Random(rounds)
    roles = itertools.cycle(stage.cast.roles.values())
    points = itertools.cycle(POINTS)
    kills: Counter[str] = Counter()
    held: Held = {}
    hire = partial(WorkerProcess.hire, nursery, stage.cast, stage.runtime.settings, log)
    began = time.monotonic()
    for number in range(rounds):
        if BUDGET is not None and number >= len(POINTS) and time.monotonic() - began > BUDGET:
            break
        point = next(points)
        crew: list[Role] = [next(roles) for _ in range(A_ROUND)]
        ids = [await stage.post(role, f"Round {number} to {role.provider}") for role in crew]
        kind = POINTS[point]
        faults = [role.simulated.faults.plan(kind, role.publishes) for role in crew] if kind else []
        worker = hire()
        there = await reached(stage, point, faults, ids)
        if point in {"claimed", "after"}:
            await asyncio.sleep(dice.uniform(0, 0.05))
        worker.kill()
        for id_, row in (await stage.rows()).items():
            if row["leased_until"] is not None:
                held.setdefault(id_, set()).add(row["lease"])
        kills[point if there else f"{point}, elsewhere"] += 1
        for role in crew:
            role.simulated.faults.clear()
    await settle_all(stage, hire())
    return kills, held


async def settle_all(stage: Stage, worker: WorkerProcess) -> None:
    """Let one worker that nobody kills bring everything to an end."""
    try:
        async with asyncio.timeout(40 + ROUNDS):
            while await unsettled(stage):
                await stage.let_time_pass()
                await asyncio.sleep(0.3)
    except TimeoutError:
        rows = [(r["account_id"], r["state"], r["reason"]) for r in await unsettled(stage)]
        pytest.fail(f"not settled: {rows}")
    finally:
        assert await worker.stop() == 0


async def unsettled(stage: Stage) -> list[Row]:
    return [
        row
        for row in (await stage.rows()).values()
        if row["state"] in ("scheduled", "sending")
        or (row["state"] == "unconfirmed" and must_know(stage, row["id"]))
    ]


def must_know(stage: Stage, id_: str) -> bool:
    """Say whether the network can tell what became of it: all that list, what is there and what is not."""
    name, text = stage.sent[id_]
    findable = provider(name).capabilities(stage.cast.roles[name].channel).findable
    return findable and (name != PROVES_PRESENCE_ONLY or bool(stage.visible(name, text)))


async def set_aside(stage: Stage, row: Row, held: Held) -> bool:
    """Say whether it was given up rightly: five workers were killed with it, and a person is told."""
    deaths = len(held.get(row["id"], ()))
    told = await stage.runtime.operations.read(
        lambda tx, _: tx.value(
            "SELECT count(*) FROM outbox WHERE subject_id = :id AND kind = 'delivery.failed'",
            id=row["id"],
        )
    )
    message = f"its worker process died {row['crashes']} times with it"
    return row["reason"] == message and CRASH_LIMIT <= row["crashes"] <= deaths and told == 1


async def test_nothing_is_sent_twice_and_nothing_is_lost_however_workers_are_killed(
    stage: Stage, nursery: Nursery, tmp_path: Path
) -> None:
    log = tmp_path / "worker.log"
    kills, held = await kill_rounds(stage, nursery, log, ROUNDS)
    rows = await stage.rows()
    seen: Counter[str] = Counter()
    for id_, (name, text) in stage.sent.items():
        shown, state = len(stage.visible(name, text)), rows[id_]["state"]
        known = must_know(stage, id_)
        seen[f"{'told by the network' if known else 'no answer'}: {state}, shown {shown}"] += 1
        assert shown <= 1, f"{name} shows {text!r} {shown} times"
        if state == "failed" and shown == 0 and await set_aside(stage, rows[id_], held):
            continue
        assert state == "sent" or not known, (name, rows[id_]["reason"])
        assert state in {"sent", "unconfirmed"}, (name, state, rows[id_]["reason"])
        assert shown == 1 or state == "unconfirmed", f"{name} lost {text!r}"
    print(f"\nkills: {dict(kills)}\nends: {dict(seen)}")
    assert BUDGET or sum(kills.values()) == ROUNDS
    landed = sum(count for point, count in kills.items() if point in POINTS)
    assert landed > sum(kills.values()) / 2, f"most kills missed their place: {kills}"
