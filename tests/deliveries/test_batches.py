"""Many at once: as if one after the other, at the price of one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from cadenza.deliveries.claim import claim, release, renew
from cadenza.deliveries.model import ClaimedDelivery
from cadenza.deliveries.permit import Answer, PermitRequest, Permitted, Refusal, locks_of, permit
from cadenza.deliveries.settle import Result, settle
from cadenza.providers.outcome import Rejected, Sent, Transient
from cadenza.sql.tx import Row, Tx
from tests.deliveries.conftest import LEASE, Pipeline


def counting(tx: Tx, statements: list[str]) -> Tx:
    def execute(sql: str, params: Mapping[str, Any]) -> tuple[list[Row], int]:
        statements.append(sql)
        return tx._execute(sql, params)

    return Tx(tx.dialect, execute, tx._ids)


async def widen(pipeline: Pipeline, limit: int) -> None:
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE lane SET in_flight_limit = :limit, width = :limit", limit=limit
        )
    )


async def claim_all(pipeline: Pipeline, count: int) -> list[ClaimedDelivery]:
    tickets: list[ClaimedDelivery] = []
    while len(tickets) < count:
        tickets += await pipeline.claim()
    return tickets


async def test_wishes_of_one_account_see_what_the_ones_before_them_took(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "day", 2)
    await widen(pipeline, 9)
    for _ in range(3):
        await pipeline.post()
    other = await pipeline.post("ben")
    answers = await pipeline.permit(*await claim_all(pipeline, 4))

    refused = [answer for answer in answers if isinstance(answer, Refusal)]
    assert len(refused) == 1
    assert "2 of 2 this day" in refused[0].message
    assert (await pipeline.row("delivery", other))["state"] == "sending"
    (bucket,) = await pipeline.rows("bucket")
    assert bucket["taken"] == 2


async def test_a_gap_taken_in_a_batch_holds_for_the_rest_of_it(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "gap", 60)
    await widen(pipeline, 9)
    await pipeline.post()
    await pipeline.post()
    first, second = await pipeline.permit(*await claim_all(pipeline, 2))

    assert isinstance(first, Permitted)
    assert isinstance(second, Refusal)
    assert second.until is not None
    assert second.until >= first.deadline_at


async def test_one_delivery_asked_for_twice_in_a_batch_has_one_intent(pipeline: Pipeline) -> None:
    await pipeline.post()
    (ticket,) = await pipeline.claim()
    request = PermitRequest(ticket, "a1")
    again = PermitRequest(ticket, "a1")
    first, second = await pipeline.operations.run(
        lambda tx, now: permit(tx, now, [request, again]), locks=locks_of([request])
    )
    assert first == second
    assert len(await pipeline.rows("attempt")) == 1


async def test_results_of_one_batch_go_each_their_own_way(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "day", 9)
    await widen(pipeline, 9)
    ids = [await pipeline.post() for _ in range(3)]
    tickets = {ticket.id: ticket for ticket in await claim_all(pipeline, 3)}
    answers = await pipeline.permit(*(tickets[id_] for id_ in ids))
    outcomes = [Sent("r1"), Rejected("too long"), Transient("no route")]
    results = [
        Result(tickets[id_], outcome, answer.attempt_id)
        for id_, outcome, answer in zip(ids, outcomes, answers, strict=True)
        if isinstance(answer, Permitted)
    ]
    won = await pipeline.operations.run(lambda tx, now: settle(tx, now, results))

    assert won == [True, True, True]
    states = [(await pipeline.row("delivery", id_))["state"] for id_ in ids]
    assert states == ["sent", "failed", "scheduled"]
    (bucket,) = await pipeline.rows("bucket")
    assert bucket["taken"] == 1
    assert (await pipeline.row("lane", "account:ada"))["in_flight"] == 0
    kinds = sorted(row["kind"] for row in await pipeline.rows("outbox"))
    assert kinds == ["delivery.failed", "delivery.sent"]


async def test_only_what_is_still_held_is_renewed_or_given_back(pipeline: Pipeline) -> None:
    await pipeline.post()
    await pipeline.post("ben")
    mine, lost = sorted(await pipeline.claim(), key=lambda ticket: ticket.id)
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET lease = lease + 1 WHERE id = :id", id=lost.id)
    )
    both = [mine, lost]
    assert await pipeline.operations.run(lambda tx, now: renew(tx, now, both, lease=LEASE)) == [
        lost
    ]
    assert await pipeline.operations.run(lambda tx, now: release(tx, now, both)) == 1
    assert (await pipeline.row("lane", "account:ada"))["in_flight"] == 0
    assert (await pipeline.row("lane", "account:ben"))["in_flight"] == 1


@pytest.mark.parametrize("step", ["claim", "permit", "settle"])
async def test_a_batch_of_thirty_costs_the_statements_of_two(pipeline: Pipeline, step: str) -> None:
    counts: list[int] = []
    for size in (2, 30):
        accounts = [f"{step}-{size}-{n}" for n in range(size)]
        for account in accounts:
            await pipeline.connect(account)
            await pipeline.post(account)
        statements: dict[str, list[str]] = {"claim": [], "permit": [], "settle": []}

        def walk(tx: Tx, now: datetime, log: Mapping[str, list[str]] = statements) -> list[Answer]:
            tickets = claim(counting(tx, log["claim"]), now, limit=100, worker="w", lease=LEASE)
            requests = [PermitRequest(t, tx.new_id()) for t in tickets]
            answers = permit(counting(tx, log["permit"]), now, requests)
            results = [
                Result(ticket, Sent("r"), answer.attempt_id)
                for ticket, answer in zip(tickets, answers, strict=True)
                if isinstance(answer, Permitted)
            ]
            settle(counting(tx, log["settle"]), now, results)
            return answers

        assert len(await pipeline.operations.run(walk)) == size
        counts.append(len(statements[step]))
    assert counts[0] == counts[1] > 0
