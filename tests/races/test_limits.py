"""A limit holds against many claimers, and what it counts is right when they are done."""

import asyncio
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from cadenza.engine.job import Limit, NewJob, Scope
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.stores.postgres import PostgresStore
from tests.races.conftest import Shared
from tests.races.hold import Holder

LEASE = timedelta(minutes=5)


async def _see_all_places_free(shared: Shared) -> None:
    assert [gate for gate in await shared.store.gates() if gate.in_flight] == []


def _most_at_once(intervals: list[tuple[float, float, int]]) -> int:
    """Return the most that were surely in hand at one instant."""
    changes = [(begun, count) for begun, _, count in intervals]
    changes += [(ended, -count) for _, ended, count in intervals]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


@pytest.mark.parametrize("lane", ["ada", None], ids=["lane", "queue"])
async def test_eight_claimers_never_exceed_a_limit(shared: Shared, lane: str | None) -> None:
    scope = Scope("default", lane)
    await shared.store.set_gate(scope, limit=Limit(concurrency=3))
    await shared.store.insert([NewJob(task="greet", lane=lane) for _ in range(150)])
    intervals = [tuple(one) for hand in shared.crew.all_do("work", limit=2) for one in hand]
    assert sum(count for _, _, count in intervals) == 150
    assert 1 <= _most_at_once(intervals) <= 3
    await _see_all_places_free(shared)


async def test_many_lanes_are_worked_off_within_their_limits(shared: Shared) -> None:
    jobs = [
        NewJob(task="greet", lane=f"lane-{number % 5}", limit=Limit(concurrency=1))
        for number in range(100)
    ]
    await shared.store.insert(jobs)
    intervals = [tuple(one) for hand in shared.crew.all_do("work", limit=4) for one in hand]
    assert sum(count for _, _, count in intervals) == 100
    assert _most_at_once(intervals) <= 5
    await _see_all_places_free(shared)


@pytest.mark.parametrize(
    "outcome", [{}, {"keep": False}, {"verdict": Verdict.RETRY}], ids=["done", "removed", "retry"]
)
async def test_a_settlement_that_waits_for_a_gate_still_gives_its_place_back(
    postgres_database: str,
    pair: tuple[PostgresStore, PostgresStore],
    holder: Holder,
    outcome: dict[str, Any],
) -> None:
    """A claimer holds the gate and writes it; the settler waits, then counts from the new value."""
    worker, claimer = pair
    await worker.insert([NewJob(task="greet", lane="ada", limit=Limit(concurrency=9))] * 4)
    batch = await worker.claim("default", limit=2, worker="ada", lease=LEASE)
    connection = await asyncpg.connect(postgres_database)
    async with connection.transaction():
        await connection.execute("UPDATE cadenza.gate SET reason = 'held' WHERE lane = 'ada'")
        settlement = Settlement(batch.jobs[0].id, batch.lease, **outcome)
        settle = asyncio.create_task(worker.settle([settlement]))
        await holder.prove_waiting(1)
    await connection.close()
    assert await settle == []
    (gate,) = await claimer.gates()
    assert gate.in_flight == 1
