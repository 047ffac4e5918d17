"""An account is a scope: what it stops, waits for or has at once holds for all its lanes, whoever planned into them."""

from collections import Counter
from datetime import datetime, timedelta

import pytest

from cadenza.deliveries import lanes
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, lane_of
from cadenza.deliveries.permit import Permitted
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.settle import locks_of as settle_locks
from cadenza.providers.outcome import Sent, TryLater, WaitScope
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline
from tests.deliveries.test_batches import counting

HOUR = timedelta(hours=1)


async def open_campaigns(pipeline: Pipeline, count: int, *, account: str = "ada") -> list[str]:
    """Open lanes of as many campaigns; return their names."""

    def add(tx: Tx, _now: datetime) -> None:
        for n in range(count):
            lanes.open_lane(
                tx, workspace_id=HOME, scope=f"campaign:{n}", account_id=account, in_flight_limit=32
            )

    await pipeline.operations.run(add)
    return [lane_of(f"campaign:{n}", account) for n in range(count)]


async def widen(pipeline: Pipeline, width: int) -> None:
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE lane SET width = :width WHERE scope_id IS NULL", width=width)
    )


async def send_one(pipeline: Pipeline) -> str | None:
    """Send the next; return its lane, or None if nothing is claimed."""
    tickets = await pipeline.claim()
    for ticket in tickets:
        (permit,) = await pipeline.permit(ticket)
        assert isinstance(permit, Permitted), f"claimed only to be refused: {permit}"
        await pipeline.settle(ticket, Sent("r"), permit.attempt_id)
    return tickets[0].delivery.lane_id if tickets else None


async def test_a_paused_account_sends_from_no_lane_and_a_campaigns_own_pause_stays(
    pipeline: Pipeline,
) -> None:
    own = await pipeline.post()
    first, second = await open_campaigns(pipeline, 2)
    for lane_id in (first, second):
        await pipeline.post(lane_id=lane_id)
    await widen(pipeline, 9)
    await pipeline.operations.run(
        lambda tx, _: lanes.pause(tx, workspace_id=HOME, scope="account:ada", reason="a fair")
    )
    assert await pipeline.claim() == []
    await pipeline.operations.run(
        lambda tx, _: lanes.pause(tx, workspace_id=HOME, scope="campaign:1", reason="a typo")
    )
    await pipeline.operations.run(
        lambda tx, _: lanes.resume(tx, workspace_id=HOME, scope="account:ada")
    )
    claimed = {ticket.delivery.lane_id for ticket in await pipeline.claim()}
    assert claimed == {(await pipeline.row("delivery", own))["lane_id"], first}


async def test_what_was_claimed_before_its_account_was_paused_gets_no_permit(
    pipeline: Pipeline,
) -> None:
    (lane_id,) = await open_campaigns(pipeline, 1)
    await pipeline.post(lane_id=lane_id)
    (ticket,) = await pipeline.claim()

    def stop_and_go(tx: Tx, _now: datetime) -> None:
        lanes.pause(tx, workspace_id=HOME, scope="account:ada", reason="a fair")
        lanes.resume(tx, workspace_id=HOME, scope="account:ada")

    await pipeline.operations.run(stop_and_go)
    (answer,) = await pipeline.permit(ticket)
    assert not isinstance(answer, Permitted)


async def test_a_lane_that_is_opened_while_its_account_is_paused_waits_too(
    pipeline: Pipeline,
) -> None:
    await pipeline.operations.run(
        lambda tx, _: lanes.pause(tx, workspace_id=HOME, scope="account:ada", reason="a fair")
    )
    (lane_id,) = await open_campaigns(pipeline, 1)
    await pipeline.post(lane_id=lane_id)
    assert await pipeline.claim() == []


async def test_a_pause_takes_the_same_statements_for_any_number_of_lanes(
    pipeline: Pipeline,
) -> None:
    counts: list[int] = []
    for number in (1, 40):
        await open_campaigns(pipeline, number)
        statements: list[str] = []

        def pause(tx: Tx, _now: datetime, said: list[str] = statements) -> object:
            return lanes.pause(
                counting(tx, said), workspace_id=HOME, scope="account:ada", reason="a fair"
            )

        await pipeline.operations.run(pause)
        counts.append(len(statements))
        await pipeline.operations.run(
            lambda tx, _: lanes.resume(tx, workspace_id=HOME, scope="account:ada")
        )
    assert counts == [3, 3]


async def test_lanes_of_an_account_with_a_gap_are_not_claimed_only_to_be_refused(
    pipeline: Pipeline,
) -> None:
    await pipeline.limit("ada", "email", "gap", 3600)
    await pipeline.limit("ada", "email", "day", 1000)
    for lane_id in await open_campaigns(pipeline, 30):
        for _ in range(2):
            await pipeline.post(lane_id=lane_id, action=Action.EMAIL)
    sent = Counter[str | None]()
    for _ in range(60):
        sent[await send_one(pipeline)] += 1
        assert await pipeline.claim() == [], "the gap holds all of its lanes"
        await pipeline.operations.run(lambda tx, _: tx.run("UPDATE bucket SET free_at = NULL"))
        await pipeline.wait_out()
    assert set(sent.values()) == {2}
    post = await pipeline.post()
    (ticket,) = await pipeline.claim()
    assert ticket.id == post, "a gap of mail holds no post"


async def test_a_campaign_and_the_accounts_own_posts_take_turns(pipeline: Pipeline) -> None:
    (lane_id,) = await open_campaigns(pipeline, 1)
    for _ in range(3):
        await pipeline.post(lane_id=lane_id)
        await pipeline.post()
    sent = [await send_one(pipeline) for _ in range(6)]
    assert sent == [lane_id, "account:ada"] * 3


@pytest.mark.parametrize("width", [1, 8])
async def test_campaigns_share_an_account_evenly(pipeline: Pipeline, width: int) -> None:
    await widen(pipeline, width)
    first, second = await open_campaigns(pipeline, 2)
    for lane_id in (first, second):
        for _ in range(24):
            await pipeline.post(lane_id=lane_id)
    sent = Counter[str]()
    while sent.total() < 24:
        tickets = await pipeline.claim()
        assert len(tickets) == width
        sent.update(ticket.delivery.lane_id for ticket in tickets)
        results: list[Result] = []
        for ticket in tickets:
            (permit,) = await pipeline.permit(ticket)
            assert isinstance(permit, Permitted)
            results.append(Result(ticket, Sent("r"), permit.attempt_id))
        await pipeline.operations.run(
            lambda tx, now, all_=results: settle(tx, now, all_), locks=settle_locks(results)
        )
    assert sent == {first: 12, second: 12}


async def test_a_wait_of_the_account_rests_all_its_lanes_until_it_is_over(
    pipeline: Pipeline,
) -> None:
    (lane_id,) = await open_campaigns(pipeline, 1)
    await pipeline.post(lane_id=lane_id)
    await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    wait = TryLater(HOUR, WaitScope.ACCOUNT, "slow down")
    await pipeline.settle(ticket, wait, permit.attempt_id)
    assert await pipeline.claim() == []
    rows = {row["id"]: row["parked_by"] for row in await pipeline.rows("lane")}
    assert (rows["account:ada"], rows[lane_id]) == ("network", "network")


@pytest.mark.parametrize(
    ("provider", "settings", "width"),
    [("simulated", "{}", 1), ("webhook", "{}", 32), ("smtp", '{"bulk":true}', 32)],
)
async def test_an_account_made_for_many_has_many_calls_at_once(
    pipeline: Pipeline, provider: str, settings: str, width: int
) -> None:
    await pipeline.connect("cy", settings=settings)

    def again(tx: Tx, now: datetime) -> None:
        tx.run("UPDATE account SET provider = :provider WHERE id = 'cy'", provider=provider)
        init_account(tx, now, workspace_id=HOME, account_id="cy")

    await pipeline.operations.run(again)
    assert (await pipeline.row("lane", "account:cy"))["width"] == width
    (lane_id,) = await open_campaigns(pipeline, 1, account="cy")
    for _ in range(40):
        await pipeline.post("cy", lane_id=lane_id)
    assert len(await pipeline.claim()) == width
