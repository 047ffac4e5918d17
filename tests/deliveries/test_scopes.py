"""Limits of campaigns' lanes and of providers, beside the account's own."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from cadenza.deliveries import lanes
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.deliveries.explain import Explanation, explain
from cadenza.deliveries.lease_rate import Block, lease_block, locks_of, set_provider_rate
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import LATEST, Answer, PermitRequest, Permitted, Refusal, permit
from cadenza.deliveries.permit import locks_of as permit_locks
from cadenza.deliveries.set_limit import Limit, NotALimit, set_limit
from cadenza.providers.outcome import Sent, Transient
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline

CAMPAIGN = "campaign:7"


async def open_campaign(pipeline: Pipeline, in_flight: int = 9) -> None:
    def add(tx: Tx, _now: datetime) -> None:
        lanes.open_lane(tx, workspace_id=HOME, scope=CAMPAIGN, in_flight_limit=in_flight)

    await pipeline.operations.run(add)


async def limit(
    pipeline: Pipeline, scope: str, kind: str, amount: int, per: int | None = None
) -> object:
    wanted = Limit(scope=scope, action="post", kind=kind, amount=amount, per_seconds=per)
    return await pipeline.operations.run(
        lambda tx, now: set_limit(tx, now, workspace_id=HOME, limit=wanted, by="member:ada")
    )


async def one(pipeline: Pipeline) -> tuple[ClaimedDelivery, Answer]:
    (ticket,) = await pipeline.claim(1)
    (answer,) = await pipeline.permit(ticket)
    return ticket, answer


async def test_a_campaigns_day_holds_over_all_its_accounts(pipeline: Pipeline) -> None:
    await open_campaign(pipeline)
    await limit(pipeline, CAMPAIGN, "day", 2)
    for account in ("ada", "ben", "ada"):
        await pipeline.post(account, lane_id=CAMPAIGN)
    answers = [(await one(pipeline))[1] for _ in range(3)]

    assert [type(answer) for answer in answers] == [Permitted, Permitted, Refusal]
    assert isinstance(answers[2], Refusal)
    assert "campaign:7 post:day: 2 of 2" in answers[2].message
    assert await pipeline.claim() == []
    assert (await pipeline.operations.read(audit_limits)).clean


async def test_a_campaigns_rate_rests_its_lane_alone(pipeline: Pipeline) -> None:
    await open_campaign(pipeline)
    await limit(pipeline, CAMPAIGN, "rate", 1, per=3600)
    first = await pipeline.post("ada", lane_id=CAMPAIGN)
    second = await pipeline.post("ada", lane_id=CAMPAIGN)
    own = await pipeline.post("ada")
    answers = {
        ticket.id: type(answer) for ticket, answer in [await one(pipeline) for _ in range(3)]
    }

    assert answers == {first: Permitted, second: Refusal, own: Permitted}
    assert (await pipeline.row("lane", CAMPAIGN))["parked_by"] == "budgets"


async def test_an_account_that_is_full_does_not_stop_the_campaigns_others(
    pipeline: Pipeline,
) -> None:
    await open_campaign(pipeline)
    await limit(pipeline, "account:ada", "day", 1)
    first = await pipeline.post("ada", lane_id=CAMPAIGN)
    full = await pipeline.post("ada", lane_id=CAMPAIGN)
    other = await pipeline.post("ben", lane_id=CAMPAIGN)
    answers = {ticket.id: answer for ticket, answer in [await one(pipeline) for _ in range(3)]}

    assert isinstance(answers[first], Permitted)
    assert isinstance(answers[other], Permitted)
    refused = answers[full]
    assert isinstance(refused, Refusal)
    assert (await pipeline.row("delivery", full))["due_at"] == refused.until


async def test_what_a_call_did_not_use_comes_back_to_every_scope(pipeline: Pipeline) -> None:
    await open_campaign(pipeline)
    for scope in (CAMPAIGN, "account:ada"):
        await limit(pipeline, scope, "day", 5)
    await pipeline.post("ada", lane_id=CAMPAIGN)
    ticket, answer = await one(pipeline)
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, Transient("no route"), answer.attempt_id)

    assert {row["scope"]: row["taken"] for row in await pipeline.rows("bucket")} == {
        CAMPAIGN: 0,
        "account:ada": 0,
    }


async def test_a_replaced_rate_leaves_no_wait_of_the_old_one(pipeline: Pipeline) -> None:
    await limit(pipeline, "account:ada", "rate", 1, per=36_000)
    await pipeline.post()
    await pipeline.post()
    ticket, answer = await one(pipeline)
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, Sent("r"), answer.attempt_id)
    _, refused = await one(pipeline)
    assert isinstance(refused, Refusal)

    await limit(pipeline, "account:ada", "rate", 1_000_000, per=1)
    _, answer = await one(pipeline)
    assert isinstance(answer, Permitted)


async def test_a_replaced_gap_counts_from_the_same_call(pipeline: Pipeline) -> None:
    await limit(pipeline, "account:ada", "gap", 7200)
    await pipeline.post()
    await pipeline.post()
    ticket, answer = await one(pipeline)
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, Sent("r"), answer.attempt_id)
    ended = (await pipeline.rows("attempt"))[0]["ended_at"]
    await limit(pipeline, "account:ada", "gap", 60)
    _, refused = await one(pipeline)

    assert isinstance(refused, Refusal)
    assert refused.until == ended + timedelta(minutes=1)


async def test_a_new_cap_counts_what_was_sent_before_it(pipeline: Pipeline) -> None:
    for _ in range(2):
        await pipeline.post()
    ticket, answer = await one(pipeline)
    assert isinstance(answer, Permitted)
    await pipeline.settle(ticket, Sent("r"), answer.attempt_id)
    await limit(pipeline, "account:ada", "day", 1)
    _, refused = await one(pipeline)

    assert isinstance(refused, Refusal)
    assert "1 of 1 this day" in refused.message
    assert (await pipeline.operations.read(audit_limits)).clean


@pytest.mark.parametrize(
    ("scope", "kind", "amount"),
    [("account:ada", "month", 1), ("account:ada", "rate", 0), (CAMPAIGN, "rolling_day", 5)],
)
async def test_what_cannot_be_counted_is_no_limit(
    pipeline: Pipeline, scope: str, kind: str, amount: int
) -> None:
    assert isinstance(await limit(pipeline, scope, kind, amount), NotALimit)


async def rate(pipeline: Pipeline, amount: int, per: int) -> None:
    await pipeline.operations.run(
        lambda tx, now: set_provider_rate(
            tx, now, provider="simulated", amount=amount, per_seconds=per
        )
    )


async def lease(pipeline: Pipeline, wanted: int) -> Block:
    block = await pipeline.operations.run(
        lambda tx, now: lease_block(tx, now, provider="simulated", wanted=wanted),
        locks=locks_of("simulated"),
    )
    assert block is not None
    return block


async def test_starts_of_a_providers_rate_are_leased_once_each(pipeline: Pipeline) -> None:
    await rate(pipeline, 4, 1)
    first, second = await lease(pipeline, 3), await lease(pipeline, 99)

    every = timedelta(seconds=0.25)
    starts = first.starts + second.starts
    assert [after - before for before, after in pairwise(starts)] == [every] * 6
    assert len(second.starts) == 4  # a second's worth, whatever is wanted
    assert (await lease(pipeline, 1)).starts == ()


async def test_without_a_start_nothing_is_permitted(pipeline: Pipeline) -> None:
    await rate(pipeline, 4, 1)
    id_ = await pipeline.post()
    _, answer = await one(pipeline)
    assert isinstance(answer, Refusal)
    assert answer.gate == "provider rate"
    (start,) = (await lease(pipeline, 1)).starts
    slow = timedelta(minutes=1)  # of the machine that runs this
    assert isinstance(await permit_with(pipeline, start + slow), Permitted)
    assert (await pipeline.row("delivery", id_))["attempts"] == 1


async def test_a_start_that_was_kept_too_long_permits_nothing(pipeline: Pipeline) -> None:
    """A worker that stalled would else begin all at once what it may begin one by one."""
    await rate(pipeline, 4, 1)
    await pipeline.post()
    (start,) = (await lease(pipeline, 1)).starts
    answer = await permit_with(pipeline, start - LATEST - timedelta(seconds=1))
    assert isinstance(answer, Refusal)
    assert answer.gate == "provider rate"


async def permit_with(pipeline: Pipeline, start: datetime) -> object:
    (ticket,) = await pipeline.claim()
    request = PermitRequest(ticket, "a1", start=start)
    (answer,) = await pipeline.operations.run(
        lambda tx, now: permit(tx, now, [request]), locks=permit_locks([request])
    )
    return answer


async def test_a_far_start_rests_the_lane_and_is_explained(pipeline: Pipeline) -> None:
    await rate(pipeline, 1, 3600)
    (start,) = (await lease(pipeline, 1)).starts
    id_ = await pipeline.post()
    _, answer = await one(pipeline)

    assert isinstance(answer, Refusal)
    assert answer.until is not None
    assert answer.until > start + timedelta(minutes=59)
    assert await pipeline.claim() == []
    said = await pipeline.operations.read(
        lambda tx, now: explain(tx, now, workspace_id=HOME, delivery_id=id_)
    )
    assert isinstance(said, Explanation)
    assert "1 in 3600 s" in said.blocked["provider rate"].message


async def test_a_replaced_provider_rate_leaves_no_wait_of_the_old_one(pipeline: Pipeline) -> None:
    await rate(pipeline, 1, 3600)
    await lease(pipeline, 1)
    await rate(pipeline, 10, 1)
    assert len((await lease(pipeline, 1)).starts) == 1
