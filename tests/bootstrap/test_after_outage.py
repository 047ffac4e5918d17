"""A house that stood still: what is a little late goes out spaced, what is very late is missed and told."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from cadenza.bootstrap import Runtime
from cadenza.deliveries.resume_plan import SPACING
from cadenza.queues.schedule import Written, write
from cadenza.sql.tx import Row, Tx
from tests.bootstrap.conftest import HOME, Town
from tests.bootstrap.test_work import working

POSTS = 5


async def stand_still(
    town: Town, runtime: Runtime, minutes: int, *, queue: bool = False, paused: bool = False
) -> None:
    """Let the last sign of life be that old, and posts have come due ever since."""
    await runtime.guard.run_once()
    ids = [await town.post(runtime, f"Post {n}") for n in range(POSTS)]

    def age(tx: Tx, now: datetime) -> None:
        went = now - timedelta(minutes=minutes)
        tx.run("UPDATE installation SET beat_at = :went", went=went)
        for n, id_ in enumerate(ids):
            due = went + timedelta(minutes=minutes / 10) * (n + 1)
            tx.run("UPDATE delivery SET due_at = :due WHERE id = :id", due=due, id=id_)
        tx.run("UPDATE lane SET runnable_at = :went, paused = :paused", went=went, paused=paused)
        if queue:
            slots = {"1": ["10:00"]}
            by = "member:ada"
            made = write(tx, now, workspace_id=HOME, account_id="ada", slots=slots, by=by)
            assert isinstance(made, Written)

    await runtime.operations.run(age)


async def rows(runtime: Runtime) -> list[Row]:
    return await runtime.operations.read(lambda tx, _: tx.all("SELECT * FROM delivery ORDER BY id"))


async def work_until(runtime: Runtime, state: str, count: int) -> list[Row]:
    async with working(runtime), asyncio.timeout(60):
        while sum(row["state"] == state for row in await rows(runtime)) < count:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)  # whatever more would leave has time for it
    return await rows(runtime)


@pytest.mark.parametrize("queue", [True, False], ids=["a queue", "by hand"])
async def test_half_an_hour_late_goes_out_spaced(town: Town, runtime: Runtime, queue: bool) -> None:
    await stand_still(town, runtime, 30, queue=queue)
    found = await work_until(runtime, "sent", 1)
    assert [row["state"] for row in found] == ["sent", *["scheduled"] * (POSTS - 1)]
    assert town.visible() == ["Post 0"]
    first = found[0]["due_at"]
    assert [row["due_at"] - first for row in found] == [SPACING * n for n in range(POSTS)]
    assert {row["reason"] for row in found[1:]} == {"sent late: it came due while nothing was sent"}


async def test_three_hours_late_is_missed_and_told(town: Town, runtime: Runtime) -> None:
    await stand_still(town, runtime, 180)
    found = await work_until(runtime, "missed", POSTS)
    assert {row["state"] for row in found} == {"missed"}
    assert town.visible() == []
    told = await runtime.operations.read(
        lambda tx, _: tx.all("SELECT subject_id FROM outbox WHERE kind = 'delivery.missed'")
    )
    assert {row["subject_id"] for row in told} == {row["id"] for row in found}


async def test_a_short_restart_is_no_outage(town: Town, runtime: Runtime) -> None:
    await stand_still(town, runtime, 1)
    found = await work_until(runtime, "sent", POSTS)
    assert len(found) == POSTS
    assert sorted(town.visible()) == [f"Post {n}" for n in range(POSTS)]


async def test_a_paused_lane_is_not_judged_late(town: Town, runtime: Runtime) -> None:
    await stand_still(town, runtime, 30, paused=True)
    async with working(runtime):
        await asyncio.sleep(0.3)
    assert {(row["state"], row["deferrals"]) for row in await rows(runtime)} == {("scheduled", 0)}
    assert town.visible() == []
