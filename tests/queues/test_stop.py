"""The whole workspace stops and starts with a reason, and starting is no flood."""

from datetime import timedelta

import pytest

from cadenza.deliveries.permit import Refusal
from cadenza.queues.pause import pause
from cadenza.queues.resume import ResumeChoice
from cadenza.queues.stop import NoWorkspace, Started, Stopped, all_accounts, start, stop
from tests.queues.conftest import ADA, BEN, DAILY, MONDAY, Desk


async def test_a_stopped_workspace_sends_nothing_and_says_why(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first = (await desk.fill(1))[0]
    answer = await desk.run(stop, reason="a death in the family", by=ADA)
    assert answer == Stopped("a death in the family", MONDAY, 0, fresh=True)
    desk.now = first.at
    (ticket,) = await desk.claim()
    refused = await desk.permit(ticket)
    assert isinstance(refused, Refusal)
    assert "a death in the family" in refused.message
    again = await desk.run(stop, reason="other", by=BEN)
    assert isinstance(again, Stopped)
    assert (again.reason, again.fresh) == ("a death in the family", False)


async def test_starting_plans_what_came_due_and_leaves_paused_queues_paused(desk: Desk) -> None:
    await desk.week("ada", slots=DAILY)
    await desk.week("ben", slots=DAILY)
    await desk.fill(3, "ada")
    await desk.fill(2, "ben")
    await desk.run(pause, account_id="ben", reason="x", by=ADA)
    await desk.run(stop, reason="recall", by=ADA)
    desk.now = MONDAY + timedelta(hours=6)  # both of today are over
    accounts = await desk.run(all_accounts)
    assert accounts == ["ada", "ben"]
    answer = await desk.run(start, *accounts, by=ADA)
    assert isinstance(answer, Started)
    assert list(answer.resumed) == ["ada"]
    assert [wall for _, wall in await desk.order()] == [
        "2026-05-05T09:00",
        "2026-05-05T12:00",
        "2026-05-05T15:00",
    ]
    assert (await desk.queue("ben")).paused
    assert await desk.claim() == []


@pytest.mark.parametrize(
    ("choice", "state", "hours"),
    [
        (ResumeChoice.DRAFT, "draft", [1, 2, 3]),
        (ResumeChoice.SEND, "scheduled", [6, 6 + 1 / 12, 6 + 2 / 12]),
        (
            ResumeChoice.SHIFT,
            "scheduled",
            [6, 6 + 1 / 12, 6 + 2 / 12],
        ),  # there is no slot to shift to
    ],
)
async def test_starting_plans_accounts_that_have_no_weekly_slots(
    desk: Desk, choice: ResumeChoice, state: str, hours: list[float]
) -> None:
    ids = [await desk.by_hand(MONDAY + timedelta(hours=n)) for n in (1, 2, 3)]
    await desk.run(stop, reason="recall", by=ADA)
    desk.now = MONDAY + timedelta(hours=6)
    answer = await desk.run(start, *await desk.run(all_accounts), by=ADA, choice=choice)
    assert isinstance(answer, Started)
    assert answer.resumed["ada"].held == answer.resumed["ada"].by_hand == tuple(ids)
    rows = [await desk.row("delivery", id_) for id_ in ids]
    assert [row["state"] for row in rows] == [state] * 3
    assert [row["due_at"] for row in rows] == [MONDAY + timedelta(hours=n) for n in hours]
    assert len(await desk.claim()) == (0 if choice is ResumeChoice.DRAFT else 1)


async def test_starting_what_runs_changes_nothing(desk: Desk) -> None:
    assert await desk.run(start, by=ADA) == Started({}, {}, fresh=False)


async def test_there_is_no_such_workspace(desk: Desk) -> None:
    answer = await desk.operations.run(
        lambda tx, now: stop(tx, now, workspace_id="cys", reason="x", by=ADA)
    )
    assert answer == NoWorkspace()
