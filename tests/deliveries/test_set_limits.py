"""Limits as a person sets them: what was sent before counts, whatever rule or zone was there then."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from cadenza.core.clock import SystemClock
from cadenza.core.zones import get_zone, local_day
from cadenza.deliveries.audit_limits import Audit, audit_limits
from cadenza.deliveries.lease_rate import set_provider_rate
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.deliveries.set_limit import (
    Limit,
    NotALimit,
    list_limits,
    locks_of,
    recount,
    set_limits,
)
from cadenza.providers.outcome import Sent
from cadenza.queues.schedule import set_zone
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline


async def put(pipeline: Pipeline, *limits: tuple[str, int]) -> object:
    wanted = [
        Limit(scope="account:ada", action="post", kind=kind, amount=amount)
        for kind, amount in limits
    ]
    return await pipeline.operations.run(
        lambda tx, now: set_limits(
            tx, now, workspace_id=HOME, account_id="ada", limits=wanted, by="member:ada"
        ),
        locks=locks_of(HOME, "account:ada"),
    )


async def send(pipeline: Pipeline, times: int) -> list[type]:
    """Send as often as it is allowed; say what came of each."""
    answers: list[type] = []
    for _ in range(times):
        await pipeline.post()
        tickets = await pipeline.claim()
        if not tickets:
            answers.append(Refusal)  # the lane rests
            continue
        (answer,) = await pipeline.permit(tickets[0])
        answers.append(type(answer))
        if isinstance(answer, Permitted):
            await pipeline.settle(tickets[0], Sent("r"), answer.attempt_id)
    return answers


async def audit(pipeline: Pipeline) -> Audit:
    return await pipeline.operations.read(audit_limits)


async def test_what_was_sent_before_a_cap_counts_under_it(pipeline: Pipeline) -> None:
    assert await send(pipeline, 3) == [Permitted] * 3
    await put(pipeline, ("day", 3))
    assert await send(pipeline, 1) == [Refusal]
    assert (await audit(pipeline)).clean


async def test_a_cap_that_was_taken_away_and_set_again_counts_what_was_sent_between(
    pipeline: Pipeline,
) -> None:
    await put(pipeline, ("day", 3))
    await send(pipeline, 1)
    await put(pipeline, ("hour", 100))
    await send(pipeline, 1)
    await put(pipeline, ("day", 3))
    assert await send(pipeline, 2) == [Permitted, Refusal]
    assert (await audit(pipeline)).clean


async def rules(pipeline: Pipeline) -> list[tuple[str, int]]:
    rows = await pipeline.operations.read(lambda tx, _: list_limits(tx, HOME, "account:ada"))
    return [(row["kind"], row["amount"]) for row in rows]


async def test_limits_are_replaced_as_a_whole_or_not_at_all(pipeline: Pipeline) -> None:
    await put(pipeline, ("day", 3), ("gap", 60))
    await put(pipeline, ("week", 9))
    assert await rules(pipeline) == [("week", 9)]
    assert isinstance(await put(pipeline, ("day", 1), ("rate", 0)), NotALimit)
    assert await rules(pipeline) == [("week", 9)]


def other_zone(now: datetime) -> str:
    """Name a zone in which it is another day than in Berlin."""
    here = local_day(now, get_zone("Europe/Berlin"))
    zones: Sequence[str] = ("Pacific/Kiritimati", "Pacific/Niue", "Pacific/Auckland")
    return next(zone for zone in zones if local_day(now, get_zone(zone)) != here)


@pytest.mark.parametrize("by", ["settings", "queue"])
async def test_an_account_that_moves_to_another_zone_takes_its_count_along(
    pipeline: Pipeline, by: str
) -> None:
    await put(pipeline, ("day", 2))
    assert await send(pipeline, 2) == [Permitted] * 2
    zone = other_zone(SystemClock().now().astimezone(UTC))

    def move(tx: Tx, now: datetime) -> None:
        if by == "queue":
            set_zone(tx, now, workspace_id=HOME, account_id="ada", zone=zone)
            return
        tx.run("UPDATE account SET zone = :zone WHERE id = 'ada'", zone=zone)
        recount(tx, now, workspace_id=HOME, account_id="ada")

    await pipeline.operations.run(move, locks=locks_of(HOME, "account:ada"))
    assert await send(pipeline, 1) == [Refusal]
    assert (await audit(pipeline)).clean


async def test_a_counter_that_is_lost_is_drift(pipeline: Pipeline) -> None:
    await put(pipeline, ("day", 5))
    await send(pipeline, 2)
    await pipeline.operations.run(lambda tx, _: tx.run("DELETE FROM bucket"))
    found = await audit(pipeline)
    assert [(each.counter, each.ledger) for each in found.drift] == [(0, 2)]
    assert not found.clean


async def test_a_providers_rate_is_audited_from_when_it_was_set(pipeline: Pipeline) -> None:
    await send(pipeline, 4)

    def set_rate(tx: Tx, now: datetime) -> None:
        set_provider_rate(tx, now, provider="simulated", amount=1, per_seconds=3600)

    await pipeline.operations.run(set_rate)
    assert (await audit(pipeline)).clean  # what was sent before it is no breach

    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE provider_rate SET set_at = :at", at=now - timedelta(hours=1))
    )
    found = await audit(pipeline)
    assert [(each.scope, each.reached, each.broken) for each in found.worst] == [
        ("provider:simulated", 4, True)
    ]
