"""A day that turned out to be full: the application moves the post to the next free slot, visibly."""

from __future__ import annotations

import asyncio
from datetime import datetime

from cadenza.bootstrap import Runtime
from cadenza.bootstrap.move_over_daily_max import DailyMaxDuty
from cadenza.core.zones import day_bounds, get_zone, local_day
from cadenza.queues.schedule import Written, write
from cadenza.sql.tx import Row, Tx
from tests.bootstrap.conftest import HOME, Town
from tests.bootstrap.test_work import until, working

SLOTS = {str(day): ["10:00"] for day in range(7)}
NO_SLOTS: dict[str, list[str]] = {}


async def week(runtime: Runtime, slots: dict[str, list[str]]) -> None:
    def make(tx: Tx, now: datetime) -> object:
        return write(
            tx,
            now,
            workspace_id=HOME,
            account_id="ada",
            slots=slots,
            max_per_day=1,
            by="member:ada",
        )

    assert isinstance(await runtime.operations.run(make), Written)


async def refused(town: Town, runtime: Runtime, slots: dict[str, list[str]]) -> tuple[str, str]:
    """Send one and let the pipeline refuse the second."""
    await week(runtime, slots)
    first, second = await town.post(runtime, "First"), await town.post(runtime, "Second")
    async with working(runtime):
        await until(town, runtime, first, "sent")
        async with asyncio.timeout(60):
            while not (await town.row(runtime, second))["deferrals"]:
                await asyncio.sleep(0.02)
    return first, second


async def lane(runtime: Runtime) -> Row:
    row = await runtime.operations.read(lambda tx, _: tx.one("SELECT * FROM lane"))
    assert row is not None
    return row


async def test_one_post_too_many_goes_to_the_next_free_slot(town: Town, runtime: Runtime) -> None:
    _, second = await refused(town, runtime, SLOTS)
    await DailyMaxDuty(runtime.operations).run_once()
    row = await town.row(runtime, second)
    zone = get_zone("Europe/Berlin")
    assert row["state"] == "scheduled"
    assert (
        row["due_at"] == row["slot_at"] >= day_bounds(local_day(row["created_at"], zone), zone)[1]
    )
    assert row["wall_time"].endswith("10:00")
    assert row["reason"].startswith("moved to the next free slot: the day has its 1 posts")
    found = await lane(runtime)
    assert found["parked_by"] is None
    assert found["runnable_at"] == row["due_at"]
    assert town.visible() == ["First"]
    said = await runtime.operations.read(
        lambda tx, _: tx.all("SELECT actor FROM audit WHERE action = 'queue.defer'")
    )
    assert said == [{"actor": "system"}]


async def test_without_a_free_slot_it_waits_for_the_next_day_and_says_so(
    town: Town, runtime: Runtime
) -> None:
    _, second = await refused(town, runtime, NO_SLOTS)
    await DailyMaxDuty(runtime.operations).run_once()
    row = await town.row(runtime, second)
    assert row["state"] == "scheduled"
    assert "it waits for the next day" in row["reason"]
    assert (await lane(runtime))["runnable_at"] == row["due_at"]
