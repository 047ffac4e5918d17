"""A network that is out of order is waited for: nobody's attempts are burnt, others go on."""

from datetime import timedelta

import pytest

from cadenza.deliveries.explain import explain
from cadenza.deliveries.gates import NETWORK
from cadenza.deliveries.heed_outages import ENOUGH, MOST
from cadenza.deliveries.permit import Permitted
from cadenza.providers.outcome import Outcome, Rejected, Sent, Transient, Unconfirmed
from tests.deliveries.conftest import HOME, Road

AWAY = Transient("no connection", out_of_order=True)


async def call(road: Road, id_: str, outcome: Outcome) -> None:
    """Claim this one, once all waits are over, and let its call end so."""
    await road.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET due_at = :first WHERE id = :id",
            first=now - timedelta(seconds=30),
            id=id_,
        )
    )
    await road.wait_out()
    (ticket,) = await road.claim(1)
    assert ticket.id == id_
    (permit,) = await road.permit(ticket)
    assert isinstance(permit, Permitted)
    assert await road.settle(ticket, outcome, permit.attempt_id)


async def test_an_outage_longer_than_all_tries_fails_nothing(road: Road) -> None:
    post = await road.post("ada", retry_limit=3)
    for _ in range(12):
        await call(road, post, AWAY)
    row = await road.row("delivery", post)
    assert (row["state"], row["attempts"]) == ("scheduled", ENOUGH - 1)
    assert "12 calls in a row" in row["reason"]
    await call(road, post, Sent("remote"))
    assert (await road.row("delivery", post))["state"] == "sent"
    assert (await road.row("account", "ada"))["faults"] == 0


async def test_the_whole_account_rests_for_longer_and_longer_and_says_why(road: Road) -> None:
    post = await road.post("ada")
    rests: list[timedelta] = []
    for _ in range(ENOUGH + 6):
        await call(road, post, AWAY)
        now = await road.operations.read(lambda _tx, now: now)
        until = (await road.row("lane", "account:ada"))["parked_until"]
        rests.append(timedelta() if until is None else until - now)
    assert rests[: ENOUGH - 1] == [timedelta()] * (ENOUGH - 1)
    assert timedelta(seconds=40) < rests[ENOUGH - 1] <= timedelta(minutes=1)
    assert timedelta(minutes=10) < rests[-1] <= timedelta(minutes=15)

    other, elsewhere = await road.post("ada"), await road.post("ben")
    assert [ticket.id for ticket in await road.claim()] == [elsewhere]
    told = await road.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=other)
    )
    assert told is not None
    assert "out of order" in told.blocked[NETWORK].says


@pytest.mark.parametrize("answer", [Sent("remote"), Rejected("too long"), Transient("odd answer")])
async def test_any_answer_ends_the_row(road: Road, answer: Outcome) -> None:
    away, other = await road.post("ada"), await road.post("ada")
    for _ in range(ENOUGH - 1):
        await call(road, away, AWAY)
    await call(road, other, answer)
    await call(road, away, AWAY)
    assert (await road.row("account", "ada"))["faults"] == 1
    assert (await road.row("lane", "account:ada"))["parked_until"] is None
    assert (await road.row("delivery", away))["attempts"] == ENOUGH


async def test_calls_without_an_answer_leave_no_more_in_doubt(road: Road) -> None:
    for _ in range(ENOUGH):
        await call(road, await road.post("ada"), Unconfirmed("no answer"))
    await road.post("ada")
    assert await road.claim() == []
    assert {row["state"] for row in await road.rows("delivery")} == {"unconfirmed", "scheduled"}


async def test_nothing_is_tried_for_ever(road: Road) -> None:
    post = await road.post("ada", retry_limit=3)
    for tries in range(MOST + 10):
        if (await road.row("delivery", post))["state"] == "failed":
            assert MOST < tries <= MOST + 3
            return
        await call(road, post, AWAY)
    pytest.fail("it is still tried")
