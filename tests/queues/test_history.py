"""Whatever gives a planned post another time says so in the post's history: who, from when to when, and why."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest

from cadenza.queues.add import To
from cadenza.queues.missed import rescue_missed
from cadenza.queues.pause import pause
from cadenza.queues.reorder import reverse
from cadenza.queues.resume import ResumeChoice, resume
from cadenza.queues.skip import skip
from tests.queues.conftest import ADA, DAILY, Desk

Act = Callable[[Desk], Awaitable[object]]


async def turn_round(desk: Desk) -> None:
    await desk.run(reverse, account_id="ada", by=ADA)


async def put_first(desk: Desk) -> None:
    await desk.add(to=To.NEXT)


async def leave_out(desk: Desk) -> None:
    (first, *_) = await due(desk)
    await desk.run(skip, account_id="ada", by=ADA, instants=[first])


async def come_due_in_a_pause(desk: Desk) -> None:
    await desk.run(pause, account_id="ada", by=ADA, reason="lunch")
    desk.now += timedelta(hours=6)


async def shift(desk: Desk) -> None:
    await come_due_in_a_pause(desk)
    await desk.run(resume, account_id="ada", by=ADA, choice=ResumeChoice.SHIFT)


async def send(desk: Desk) -> None:
    await come_due_in_a_pause(desk)
    await desk.run(resume, account_id="ada", by=ADA, choice=ResumeChoice.SEND)


async def rescue(desk: Desk) -> None:
    await desk.operations.run(lambda tx, _: tx.run("UPDATE delivery SET state = 'missed'"))
    desk.now += timedelta(days=3)
    await desk.run(rescue_missed, account_id="ada", by=ADA, choice=ResumeChoice.SHIFT)


async def due(desk: Desk) -> list[datetime]:
    rows = await desk.rows(
        "SELECT due_at FROM delivery WHERE post_id IN ('p0001', 'p0002') ORDER BY post_id"
    )
    return [row["due_at"] for row in rows]


async def told(desk: Desk, action: str) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for row in await desk.rows(
        "SELECT * FROM audit WHERE action = :action ORDER BY subject_id", action=action
    ):
        assert row["actor"] == ADA
        entry = {"was": json.loads(row["before"])["at"], **json.loads(row["after"])}
        found.setdefault(row["subject_id"], []).append(entry)
    return found


@pytest.mark.parametrize("act", [turn_round, put_first, leave_out, shift, send, rescue])
async def test_a_post_that_moved_tells_from_when_to_when_and_why(desk: Desk, act: Act) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    before = await due(desk)
    await act(desk)
    after = await due(desk)
    moved = [n for n, (was, now) in enumerate(zip(before, after, strict=True)) if was != now]
    history = await told(desk, "queue.move")
    assert moved
    for n in moved:
        (entry,) = history[f"p000{n + 1}"]
        assert (entry["was"], entry["at"]) == (before[n].isoformat(), after[n].isoformat())
        assert entry["why"]


async def test_a_post_that_was_taken_back_tells_it(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(1)
    (at,) = await due(desk)
    await come_due_in_a_pause(desk)
    await desk.run(resume, account_id="ada", by=ADA, choice=ResumeChoice.DRAFT)
    ((entry,),) = (await told(desk, "queue.take_back")).values()
    assert (entry["was"], entry["why"]) == (at.isoformat(), "it came due while nothing was sent")
