"""A network that is out of order is waited for: nobody's attempts are burnt, others go on."""

from datetime import datetime, timedelta

import pytest

from cadenza.deliveries.circuit_breaker import ENOUGH, MOST, CallResult, update_breaker
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.gates import NETWORK
from cadenza.deliveries.model import NetworkWait
from cadenza.deliveries.permit import Permitted
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.providers.outcome import (
    Outcome,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline

AWAY = Transient("no connection", out_of_order=True)


async def call(pipeline: Pipeline, id_: str, outcome: Outcome) -> None:
    """Claim this one, once all waits are over, and let its call end so."""
    await pipeline.operations.run(
        lambda tx, now: tx.run(
            "UPDATE delivery SET due_at = :first WHERE id = :id",
            first=now - timedelta(seconds=30),
            id=id_,
        )
    )
    await pipeline.wait_out()
    (ticket,) = await pipeline.claim(1)
    assert ticket.id == id_
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    assert await pipeline.settle(ticket, outcome, permit.attempt_id)


async def test_an_outage_longer_than_all_tries_fails_nothing(pipeline: Pipeline) -> None:
    post = await pipeline.post("ada", retry_limit=3)
    for _ in range(12):
        await call(pipeline, post, AWAY)
    row = await pipeline.row("delivery", post)
    assert (row["state"], row["attempts"]) == ("scheduled", ENOUGH - 1)
    assert "12 calls in a row" in row["reason"]
    await call(pipeline, post, Sent("remote"))
    assert (await pipeline.row("delivery", post))["state"] == "sent"
    assert (await pipeline.row("account", "ada"))["faults"] == 0


async def test_the_whole_account_rests_for_longer_and_longer_and_says_why(
    pipeline: Pipeline,
) -> None:
    post = await pipeline.post("ada")
    rests: list[timedelta] = []
    for _ in range(ENOUGH + 6):
        await call(pipeline, post, AWAY)
        now = await pipeline.operations.read(lambda _tx, now: now)
        until = (await pipeline.row("lane", "account:ada"))["parked_until"]
        rests.append(timedelta() if until is None else until - now)
    assert rests[: ENOUGH - 1] == [timedelta()] * (ENOUGH - 1)
    assert timedelta(seconds=40) < rests[ENOUGH - 1] <= timedelta(minutes=1)
    assert timedelta(minutes=10) < rests[-1] <= timedelta(minutes=15)

    other, elsewhere = await pipeline.post("ada"), await pipeline.post("ben")
    assert [ticket.id for ticket in await pipeline.claim()] == [elsewhere]
    told = await pipeline.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=other)
    )
    assert isinstance(told, Explanation)
    assert "out of order" in told.blocked[NETWORK].message


@pytest.mark.parametrize("answer", [Sent("remote"), Rejected("too long"), Transient("odd answer")])
async def test_any_answer_ends_the_row(pipeline: Pipeline, answer: Outcome) -> None:
    away, other = await pipeline.post("ada"), await pipeline.post("ada")
    for _ in range(ENOUGH - 1):
        await call(pipeline, away, AWAY)
    await call(pipeline, other, answer)
    await call(pipeline, away, AWAY)
    assert (await pipeline.row("account", "ada"))["faults"] == 1
    assert (await pipeline.row("lane", "account:ada"))["parked_until"] is None
    assert (await pipeline.row("delivery", away))["attempts"] == ENOUGH


async def test_calls_without_an_answer_leave_no_more_unconfirmed(pipeline: Pipeline) -> None:
    for _ in range(ENOUGH):
        await call(pipeline, await pipeline.post("ada"), Unconfirmed("no answer"))
    await pipeline.post("ada")
    assert await pipeline.claim() == []
    states = sorted(row["state"] for row in await pipeline.rows("delivery"))
    assert states == ["scheduled", *["unconfirmed"] * ENOUGH], "an unconfirmed send is no refusal"


async def test_nothing_is_tried_for_ever(pipeline: Pipeline) -> None:
    post = await pipeline.post("ada", retry_limit=3)
    for tries in range(MOST + 10):
        if (await pipeline.row("delivery", post))["state"] == "failed":
            assert MOST < tries <= MOST + 3
            return
        await call(pipeline, post, AWAY)
    pytest.fail("it is still tried")


async def heed(
    pipeline: Pipeline, outcome: Outcome, *, was_made: bool = True
) -> tuple[Outcome, list[NetworkWait]]:
    """Let one call of Ada's account end so; return what it comes to, and who rests."""
    ended = CallResult((HOME, "ada"), outcome, was_made)
    (told,), rests = await pipeline.operations.run(
        lambda tx, now: update_breaker(tx, now, [ended], fraction=0)
    )
    return told, rests


async def test_the_third_fault_in_a_row_makes_an_account_rest(pipeline: Pipeline) -> None:
    assert await heed(pipeline, AWAY) == (AWAY, [])
    assert await heed(pipeline, AWAY) == (AWAY, [])
    told, rests = await heed(pipeline, AWAY)
    assert isinstance(told, TryLater)
    assert [rest.scope for rest in rests] == [(HOME, "account:ada")]


async def test_what_never_came_to_its_call_is_no_answer(pipeline: Pipeline) -> None:
    for _ in range(ENOUGH - 1):
        await heed(pipeline, AWAY)
    assert await heed(pipeline, Rejected("too long"), was_made=False) == (Rejected("too long"), [])
    assert (await heed(pipeline, AWAY))[1]


async def test_an_unconfirmed_send_stays_unconfirmed_while_its_account_rests(
    pipeline: Pipeline,
) -> None:
    for _ in range(ENOUGH - 1):
        await heed(pipeline, Unconfirmed("no answer"))
    told, rests = await heed(pipeline, Unconfirmed("no answer"))
    assert told == Unconfirmed("no answer"), "it is never sent again blindly"
    assert rests


async def test_attempts_count_again_after_hours_and_the_account_rests_all_the_same(
    pipeline: Pipeline,
) -> None:
    for _ in range(MOST - 1):
        await heed(pipeline, AWAY)
    told, _ = await heed(pipeline, AWAY)
    assert isinstance(told, TryLater)
    told, rests = await heed(pipeline, AWAY)
    assert told == AWAY
    assert rests


async def test_an_account_of_the_same_name_elsewhere_is_another_one(pipeline: Pipeline) -> None:
    def move_in(tx: Tx, now: datetime) -> None:
        new = NewWorkspace(id="elsewhere", name="Elsewhere", zone="UTC")
        create_workspace(tx, now, new=new, by="system")
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, sealed, created_at)
            VALUES ('elsewhere', 'ada', 'mastodon', 'cy', '@cy', 'UTC', 'sealed', :now)
            """,
            now=now,
        )

    async def count() -> dict[str, int]:
        rows = await pipeline.rows("account")
        return {row["workspace_id"]: row["faults"] for row in rows if row["id"] == "ada"}

    await pipeline.operations.run(move_in)
    await heed(pipeline, AWAY)
    assert await count() == {HOME: 1, "elsewhere": 0}
    await pipeline.operations.run(lambda tx, _: tx.run("UPDATE account SET faults = 2"))
    await heed(pipeline, Sent("remote"))
    assert await count() == {HOME: 0, "elsewhere": 2}
