"""A limit holds for any number of workers, and the ledger can prove it."""

import asyncio
from datetime import datetime, timedelta

import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.deliveries.lanes import open_lane
from cadenza.deliveries.model import Action, lane_of
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.deliveries.rescue import rescue
from cadenza.providers.outcome import (
    Forbidden,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    Unconfirmed,
)
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline

LANES = 16
CAP = 20


async def work(
    pipeline: Pipeline, worker: str, outcomes: list[Outcome], permits: list[str]
) -> None:
    """Claim, ask, call and settle until nothing is handed out."""
    while tickets := await pipeline.claim(4, worker=worker):
        for ticket in tickets:
            (answer,) = await pipeline.permit(ticket)
            if isinstance(answer, Permitted):
                permits.append(ticket.id)
                outcome = outcomes[len(permits) % len(outcomes)]
                await pipeline.settle(ticket, outcome, answer.attempt_id)


@pytest.mark.parametrize(
    "outcomes", [[Sent("r")], [Sent("r"), Unconfirmed("?")], [Sent("r"), Transient("no")]]
)
async def test_sixteen_workers_never_exceed_a_cap(
    pipeline: Pipeline, outcomes: list[Outcome]
) -> None:
    def many_lanes(tx: Tx, now: datetime) -> None:
        # One account, sixteen campaigns' lanes: the lanes alone would let them all through.
        for n in range(LANES):
            tx.run(
                "INSERT INTO lane (workspace_id, id, account_id) VALUES (:home, :id, 'ada')",
                home=HOME,
                id=f"campaign:{n}",
            )

    await pipeline.operations.run(many_lanes)
    await pipeline.limit("ada", "post", "day", CAP)
    for n in range(3 * LANES):
        await pipeline.post(lane_id=f"campaign:{n % LANES}", retry_limit=0)
    permits: list[str] = []
    seen = -1
    while len(permits) > seen:  # what a refund gives back is there for the next who asks
        seen = len(permits)
        await pipeline.wait_out()  # three calls without an answer, and the account rests
        await asyncio.gather(*(work(pipeline, f"w{n}", outcomes, permits) for n in range(16)))

    counted = [row for row in await pipeline.rows("activity") if row["counts"]]
    assert len(counted) == CAP
    audit = await pipeline.operations.read(audit_limits)
    assert audit.clean, audit
    (worst,) = [w for w in audit.worst if w.kind == "day"]
    assert (worst.reached, worst.limit) == (CAP, CAP)


async def test_a_gap_is_counted_from_the_end_of_the_call(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "gap", 3600)
    await pipeline.post()
    await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Sent("r"), permit.attempt_id)
    ended = (await pipeline.rows("attempt"))[0]["ended_at"]
    (second,) = await pipeline.claim()
    (refusal,) = await pipeline.permit(second)

    assert isinstance(refusal, Refusal)
    assert refusal.until == ended + timedelta(hours=1)


async def test_what_is_given_back_opens_the_lanes_that_waited_for_it(pipeline: Pipeline) -> None:
    for scope in ("campaign:1", "campaign:2"):
        await pipeline.operations.run(
            lambda tx, _, scope=scope: open_lane(
                tx, workspace_id=HOME, scope=scope, account_id="ada"
            )
        )
        await pipeline.post(lane_id=lane_of(scope, "ada"))
    await pipeline.limit("ada", "post", "day", 1)
    await pipeline.operations.run(lambda tx, _: tx.run("UPDATE lane SET width = 2"))
    first, second = await pipeline.claim(2)
    (permit,) = await pipeline.permit(first)
    assert isinstance(permit, Permitted)
    (refusal,) = await pipeline.permit(second)
    assert isinstance(refusal, Refusal)
    assert await pipeline.claim(2) == []  # the day is full: its lane rests until tomorrow

    await pipeline.settle(first, Rejected("too long"), permit.attempt_id)

    (again,) = await pipeline.claim(2)
    assert again.id == second.id
    assert isinstance((await pipeline.permit(again))[0], Permitted)


async def test_a_crash_after_the_permit_is_unconfirmed_that_keeps_its_place_in_the_limit(
    pipeline: Pipeline,
) -> None:
    await pipeline.limit("ada", "post", "day", 1)
    id_ = await pipeline.post()
    await pipeline.post()
    (ticket,) = await pipeline.claim(lease=timedelta(milliseconds=1))
    assert isinstance((await pipeline.permit(ticket))[0], Permitted)
    await asyncio.sleep(0.01)
    back, gone = await pipeline.operations.run(lambda tx, now: rescue(tx, now, crash_limit=5))

    assert (back, gone) == ([id_], [])
    assert (await pipeline.row("delivery", id_))["state"] == "unconfirmed"
    (second,) = await pipeline.claim()
    (refusal,) = await pipeline.permit(second)
    assert isinstance(refusal, Refusal)
    assert refusal.gate == "budgets"


async def test_a_crash_before_the_permit_is_claimed_again(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    await pipeline.claim(lease=timedelta(milliseconds=1))
    await asyncio.sleep(0.01)
    await pipeline.operations.run(lambda tx, now: rescue(tx, now, crash_limit=5))

    (ticket,) = await pipeline.claim()
    assert (ticket.id, ticket.delivery.crashes) == (id_, 1)


async def test_a_counter_that_lies_is_drift(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "day", 5)
    await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Sent("r"), permit.attempt_id)
    assert (await pipeline.operations.read(audit_limits)).clean

    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE bucket SET taken = 3 WHERE kind = 'day'")
    )
    audit = await pipeline.operations.read(audit_limits)
    assert [(d.counter, d.ledger) for d in audit.drift] == [(3, 1)]


@pytest.mark.parametrize(
    ("action", "taken"), [(Action.CONNECTION_REQUEST, 1), (Action.MESSAGE, 0)], ids=str
)
@pytest.mark.parametrize("outcome", [RecipientGone("unknown"), Rejected("no"), Forbidden("no")])
async def test_what_a_network_refuses_counts_for_invitations_alone(
    pipeline: Pipeline, outcome: Outcome, action: Action, taken: int
) -> None:
    """Networks count invitations that they refuse; of a message that they refuse nothing is used up."""
    await pipeline.limit("ada", action.value, "day", 5)
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE account SET settings = :settings",
            settings='{"hours":{"connection_request":null,"message":null}}',
        )
    )
    await pipeline.post(action=action, channel=Channel.LINKEDIN_MESSAGE, recipient="cy")
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, outcome, permit.attempt_id)
    (ledger,) = await pipeline.rows("activity")
    assert (ledger["state"], bool(ledger["counts"])) == ("rejected", bool(taken))
    assert [row["taken"] for row in await pipeline.rows("bucket") if row["kind"] == "day"] == [
        taken
    ]
    assert (await pipeline.operations.read(audit_limits)).clean
