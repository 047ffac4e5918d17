"""Preparing that fails: each failure is a try, tries are bounded, and the end is told."""

from datetime import datetime, timedelta

from cadenza.deliveries.change import retry
from cadenza.providers.outcome import Transient
from tests.deliveries.conftest import HOME, Road


async def fail_to_prepare(road: Road) -> None:
    """Claim what waits and let its preparing fail; it never comes to a call."""
    await road.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET due_at = :now WHERE state = 'scheduled' AND due_at > :now", now=now
        )
    )
    await road.operations.run(lambda tx, now: tx.run("UPDATE lane SET runnable_at = :now", now=now))
    (ticket,) = await road.claim()
    assert await road.settle(ticket, Transient("the upload broke off"), None)


async def wait_of(road: Road, id_: str) -> timedelta:
    due: datetime = (await road.row("delivery", id_))["due_at"]
    return due - await road.operations.read(lambda _, now: now)


async def test_preparing_that_keeps_failing_ends_and_is_told(road: Road) -> None:
    id_ = await road.post(retry_limit=3)
    waits: list[timedelta] = []
    for _ in range(3):
        await fail_to_prepare(road)
        waits.append(await wait_of(road, id_))
    assert (await road.row("delivery", id_))["state"] == "scheduled"
    assert waits == sorted(waits)
    assert waits[-1] > timedelta(seconds=15)

    await fail_to_prepare(road)
    row = await road.row("delivery", id_)
    assert (row["state"], row["attempts"], row["failures"]) == ("failed", 0, 4)
    assert [told["kind"] for told in await road.rows("outbox")] == ["delivery.failed"]


async def test_a_retry_by_hand_begins_anew(road: Road) -> None:
    id_ = await road.post(retry_limit=0)
    await fail_to_prepare(road)
    assert (await road.row("delivery", id_))["state"] == "failed"
    await road.operations.run(lambda tx, now: retry(tx, now, workspace_id=HOME, id=id_))
    assert (await road.row("delivery", id_))["failures"] == 0
