"""Waits that networks ask for hold what they are about, and nothing else."""

from datetime import datetime, timedelta

from cadenza.deliveries import lanes
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.gates import NETWORK
from cadenza.deliveries.lift_suspension import lift_suspension
from cadenza.deliveries.model import Action, ClaimedDelivery
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.deliveries.resume_plan import HeldDeliveries, reopen
from cadenza.providers.outcome import Disconnected, Outcome, Sent, TryLater, WaitScope
from cadenza.queues.resume import ResumeChoice, resume
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline

CAMPAIGN = "campaign:7"
HOURS = timedelta(hours=3)


async def open_campaign(pipeline: Pipeline) -> None:
    def add(tx: Tx, _now: datetime) -> None:
        lanes.open_lane(tx, workspace_id=HOME, scope=CAMPAIGN, in_flight_limit=9)

    await pipeline.operations.run(add)


async def end_with(pipeline: Pipeline, id_: str, outcome: Outcome) -> None:
    """Claim this one, which is the next, and let its call end so."""
    (ticket,) = await pipeline.claim(1)
    assert ticket.id == id_
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    assert await pipeline.settle(ticket, outcome, permit.attempt_id)


async def claimed(pipeline: Pipeline) -> list[str]:
    """Claim again and again, as a worker does, until nothing comes; say what came."""
    found: list[ClaimedDelivery] = []
    for _ in range(6):
        found += await pipeline.claim()
    return sorted(ticket.id for ticket in found)


async def test_a_lost_account_holds_its_own_rows_of_a_shared_lane_alone(pipeline: Pipeline) -> None:
    await open_campaign(pipeline)
    lost = await pipeline.post("ben", lane_id=CAMPAIGN)
    await end_with(pipeline, lost, Disconnected("signed out"))
    waits = await pipeline.post("ben", lane_id=CAMPAIGN)
    goes = await pipeline.post("ada", lane_id=CAMPAIGN)

    assert await claimed(pipeline) == [goes]

    def connect(tx: Tx, now: datetime) -> object:
        tx.run("UPDATE account SET state = 'connected' WHERE id = 'ben'")
        return reopen(tx, now, workspace_id=HOME, account_id="ben")

    offered = await pipeline.operations.run(connect)
    assert isinstance(offered, HeldDeliveries)
    assert sorted(offered.held) == sorted([lost, waits])
    assert await claimed(pipeline) == []  # until a person chooses

    def choose(tx: Tx, now: datetime) -> object:
        return resume(
            tx,
            now,
            workspace_id=HOME,
            account_id="ben",
            by="member:ada",
            choice=ResumeChoice.SEND,
            spacing=timedelta(),
        )

    await pipeline.operations.run(choose)
    assert await claimed(pipeline) == sorted([lost, waits])


async def test_a_suspension_that_is_lifted_lets_everything_go_on(pipeline: Pipeline) -> None:
    await open_campaign(pipeline)

    def suspend(tx: Tx, _now: datetime) -> None:
        tx.run("UPDATE account SET state = 'suspended' WHERE id = 'ben'")

    own, shared = await pipeline.post("ben"), await pipeline.post("ben", lane_id=CAMPAIGN)
    await pipeline.operations.run(suspend)
    for ticket in await pipeline.claim():
        await pipeline.settle(ticket, Disconnected("suspended"), None)
    assert await claimed(pipeline) == []

    await pipeline.operations.run(
        lambda tx, now: lift_suspension(
            tx, now, workspace_id=HOME, account_id="ben", by="member:ada"
        )
    )
    assert await claimed(pipeline) == sorted([own, shared])


async def test_a_wait_of_the_app_holds_all_accounts_of_the_provider(pipeline: Pipeline) -> None:
    await pipeline.connect("cy")
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE account SET provider = 'another' WHERE id = 'cy'")
    )
    first = await pipeline.post("ada")
    await end_with(pipeline, first, TryLater(HOURS, WaitScope.APP, "the app's calls are used up"))
    held = await pipeline.post("ben")
    goes = await pipeline.post("cy")

    assert await claimed(pipeline) == [goes]
    lane = await pipeline.row("lane", "account:ben")
    assert lane["parked_until"] > (await pipeline.row("delivery", held))["due_at"] + HOURS / 2
    said = await pipeline.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=held)
    )
    assert isinstance(said, Explanation)
    assert "the app's calls are used up" in said.blocked[NETWORK].message


async def test_a_wait_of_the_app_is_asked_by_the_permit_too(pipeline: Pipeline) -> None:
    await pipeline.post("ada")
    await pipeline.post("ben")
    first, second = await pipeline.claim()
    (permit,) = await pipeline.permit(first)
    assert isinstance(permit, Permitted)
    await pipeline.settle(first, TryLater(HOURS, WaitScope.APP, "slow down"), permit.attempt_id)
    (refused,) = await pipeline.permit(second)

    assert isinstance(refused, Refusal)
    assert refused.gate == NETWORK
    assert await claimed(pipeline) == []


async def test_a_wait_is_heeded_though_a_worker_brings_it_that_lost_its_lease(
    pipeline: Pipeline,
) -> None:
    await pipeline.post("ada")
    await pipeline.post("ben")
    first, _ = await pipeline.claim()
    (permit,) = await pipeline.permit(first)
    assert isinstance(permit, Permitted)
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE delivery SET state = 'unconfirmed', lease = lease + 1, leased_until = NULL"
            " WHERE id = :id",
            id=first.id,
        )
    )
    kept: list[object] = []
    for _ in range(2):  # the second time nothing new is heard
        assert not await pipeline.settle(
            first, TryLater(HOURS, WaitScope.APP, "slow"), permit.attempt_id
        )
        kept += await pipeline.operations.read(lambda tx, _: tx.all("SELECT * FROM network_wait"))
    assert len(kept) == 2
    assert kept[0] == kept[1]


async def test_a_wait_of_an_account_is_its_own_in_every_lane(pipeline: Pipeline) -> None:
    await open_campaign(pipeline)
    first = await pipeline.post("ben", lane_id=CAMPAIGN)
    await end_with(pipeline, first, TryLater(HOURS, WaitScope.ACCOUNT, "slow down"))
    await pipeline.post("ben")
    behind = await pipeline.post("ben", lane_id=CAMPAIGN)
    goes = await pipeline.post("ada", lane_id=CAMPAIGN)

    assert await claimed(pipeline) == [goes]
    put_off = await pipeline.row("delivery", behind)
    assert put_off["due_at"] - put_off["was_due_at"] > HOURS / 2


async def test_a_wait_of_a_recipient_holds_what_is_for_it(pipeline: Pipeline) -> None:
    first = await pipeline.post("ada", action=Action.BROADCAST, recipient="@Cy")
    await end_with(pipeline, first, TryLater(HOURS, WaitScope.RECIPIENT, "the chat is slow"))
    await pipeline.post("ada", action=Action.BROADCAST, recipient="@cy ")
    theirs = await pipeline.post("ben", action=Action.BROADCAST, recipient="@cy")
    other = await pipeline.post("ada", action=Action.BROADCAST, recipient="@ben")

    assert await claimed(pipeline) == sorted([other, theirs])  # slow mode is each sender's own


async def test_a_wait_that_is_over_holds_nothing(pipeline: Pipeline) -> None:
    first = await pipeline.post("ada")
    await end_with(pipeline, first, TryLater(timedelta(), WaitScope.APP, "a moment"))
    await end_with(pipeline, first, Sent("r"))
    second = await pipeline.post("ben")
    await end_with(pipeline, second, TryLater(HOURS, WaitScope.RECIPIENT, "slow"))

    assert [row["scope"][:9] for row in await pipeline.rows("network_wait")] == ["recipient"]
