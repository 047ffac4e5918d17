"""Cost follows what is runnable, not what is stored: counted in steps of SQLite's own machine."""

import re
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from importlib.resources import files
from typing import Any

import pytest

from cadenza.engine.job import Limit, NewJob, Scope
from cadenza.engine.outcomes import Settlement
from cadenza.engine.stores.sqlite import SqliteStore
from cadenza.engine.testing.clock import VirtualClock

LEASE = timedelta(seconds=30)
DAY = timedelta(days=1)
MANY = 3_000


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(":memory:", clock=VirtualClock())
    await store.open()
    yield store
    await store.close()


async def steps_of_a_claim(store: SqliteStore) -> int:
    """Insert ten jobs, claim and settle them; return the steps that the claim and settle took."""
    await store.insert([NewJob(task="greet", payload="{}")] * 10)
    connection = store.database._inline
    assert connection is not None
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection.set_progress_handler(count, 1)
    batch = await store.claim("default", limit=10, worker="ada", lease=LEASE)
    settlements = [Settlement(job.id, batch.lease) for job in batch.jobs]
    assert await store.settle(settlements, closed=[batch.lease]) == []
    empty = await store.claim("default", limit=10, worker="ada", lease=LEASE)
    connection.set_progress_handler(None, 0)
    assert (len(batch.jobs), empty.jobs) == (10, [])
    return steps


async def defer(store: SqliteStore) -> None:
    await store.insert([NewJob(task="greet", delay=DAY, priority=-1) for _ in range(MANY)])


async def finish(store: SqliteStore) -> None:
    await store.insert([NewJob(task="greet") for _ in range(MANY)])
    batch = await store.claim("default", limit=MANY, worker="ada", lease=LEASE)
    await store.settle(
        [Settlement(job.id, batch.lease) for job in batch.jobs], closed=[batch.lease]
    )


async def pause_lanes(store: SqliteStore) -> None:
    await store.insert(
        [NewJob(task="greet", lane=f"lane {number % 300}") for number in range(MANY)]
    )
    for number in range(300):
        await store.set_gate(Scope("default", f"lane {number}"), paused=True)


async def fill_lanes(store: SqliteStore) -> None:
    one = Limit(concurrency=1)
    await store.insert(
        [NewJob(task="greet", lane=f"lane {number % 300}", limit=one) for number in range(MANY)]
    )
    await store.claim("default", limit=MANY, worker="ben", lease=DAY)


async def park_lanes(store: SqliteStore) -> None:
    await store.insert(
        [NewJob(task="greet", lane=f"lane {number % 300}") for number in range(MANY)]
    )
    for number in range(300):
        await store.set_gate(Scope("default", f"lane {number}"), park=DAY)


async def run_elsewhere(store: SqliteStore) -> None:
    await store.insert([NewJob(task="greet", queue="mail") for _ in range(MANY)])


@pytest.mark.parametrize(
    "burden", [defer, finish, pause_lanes, fill_lanes, park_lanes, run_elsewhere]
)
async def test_a_claim_is_no_dearer_with_thousands_that_may_not_run(
    store: SqliteStore, burden: Any
) -> None:
    before = await steps_of_a_claim(store)
    await burden(store)
    after = await steps_of_a_claim(store)
    # Gates at all, and asking the nearest of them when it opens, cost some steps.
    assert after < before + 1_000


def test_no_statement_walks_through_all_jobs_or_gates() -> None:
    home = files("cadenza.engine.stores.sqlite")
    connection = sqlite3.connect(":memory:")
    for migration in sorted((home / "migrations").iterdir(), key=lambda path: path.name):
        if migration.name.endswith(".sql"):
            connection.executescript(migration.read_text())
    walks: dict[str, list[str]] = {}
    for entry in (home / "queries").iterdir():
        if not entry.name.endswith(".sql") or entry.name.startswith("show_"):
            continue
        sql = entry.read_text()
        numbered = [int(number) for number in re.findall(r"\?(\d)", sql)]
        values = [None] * (max(numbered) if numbered else sql.count("?"))
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        walks[entry.name] = [line for line in plan if re.match(r"SCAN (job|gate)\b", line)]
    connection.close()
    assert {name: lines for name, lines in walks.items() if lines} == {}
    assert len(walks) > 25
