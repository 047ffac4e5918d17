"""An account that its network slows down sends at half its pace, and wins it back."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.core.budgets import Rate
from cadenza.deliveries.model import Action
from cadenza.deliveries.pace import PACE, AccountPace, read_paces
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.providers.outcome import TryLater, WaitScope
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_error_table import end, send

FLOOD = TryLater(timedelta(seconds=30), WaitScope.ACCOUNT, "FLOOD_WAIT_30")


async def pace(pipeline: Pipeline, account: str = "ada") -> AccountPace:
    found = await pipeline.operations.read(lambda tx, _: read_paces(tx, [(HOME, account)]))
    return found[HOME, account]


async def end_wait(pipeline: Pipeline) -> None:
    """Let the wait be over a moment ago."""
    await pipeline.wait_out()
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE account_pace SET until_at = :now", now=now)
    )
    await pipeline.operations.run(lambda tx, _: tx.run("UPDATE bucket SET free_at = NULL"))


async def test_each_flood_halves_what_the_limit_allows(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "*", "rate", 30, 1)  # 108,000 an hour
    await send(pipeline, FLOOD)
    assert ((await pace(pipeline)).per_hour, (await pace(pipeline)).most_per_hour) == (
        54_000,
        108_000,
    )
    await end_wait(pipeline)
    await end(pipeline, FLOOD)
    assert (await pace(pipeline)).per_hour == 27_000


async def test_calls_under_way_belong_to_the_same_flood(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "*", "rate", 600, 1)
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE lane SET in_flight_limit = 9, width = 9 WHERE id = 'account:ada'"
        )
    )
    for n in range(3):
        await pipeline.post("ada", id=f"d{n}", action=Action.BROADCAST, recipient=f"@{n}")
    calls: list[tuple[Any, str]] = []
    while len(calls) < 3:
        for ticket in await pipeline.claim():
            (permit,) = await pipeline.permit(ticket)
            if isinstance(permit, Permitted):
                calls.append((ticket, permit.attempt_id))
            else:
                await pipeline.wait_out()
    for ticket, attempt in calls:
        await pipeline.settle(ticket, FLOOD, attempt)
    assert (await pace(pipeline)).per_hour == 600 * 3600 // 2


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [(0, 54_000), (9, 54_000), (10, 64_800), (49, 97_200), (50, None), (500, None)],
)
def test_a_tenth_of_the_best_comes_back_with_ten_clean_minutes(
    minutes: int, expected: int | None
) -> None:
    end_at = datetime.fromisoformat("2026-03-08T07:00:00+00:00")
    slowed = AccountPace(HOME, "ada", 0, end_at, 54_000, 108_000)
    now = end_at + timedelta(minutes=minutes)
    assert slowed.at(now) == expected  # never above its own limit: from there on that one holds
    budget = slowed.budget(now, None)
    assert budget == (None if expected is None else Rate(PACE, timedelta(hours=1) / expected))


async def test_the_permit_keeps_the_pace_and_lets_posts_alone(pipeline: Pipeline) -> None:
    await send(pipeline, FLOOD)
    await end_wait(pipeline)
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE account_pace SET per_hour = 60, most_per_hour = 1000")
    )
    (ticket,) = await pipeline.claim()
    (first,) = await pipeline.permit(ticket)
    assert isinstance(first, Permitted)
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE lane SET in_flight_limit = 9, width = 9 WHERE id = 'account:ada'"
        )
    )
    await pipeline.post("ada", id="next", action=Action.BROADCAST, recipient="@ben")
    (second,) = await pipeline.claim()
    (refused,) = await pipeline.permit(second)
    assert isinstance(refused, Refusal)
    assert (refused.gate, refused.message) == ("budgets", "*:pace: one every 1 min")
    await pipeline.wait_out()
    await pipeline.operations.run(lambda tx, _: tx.run("DELETE FROM delivery WHERE id = 'next'"))
    await pipeline.post("ada", id="post")
    (post,) = await pipeline.claim()
    (granted,) = await pipeline.permit(post)
    assert isinstance(granted, Permitted)
