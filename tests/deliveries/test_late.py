"""How late is late: what waited behind a hold of its lane counts from when the lane was let go."""

from datetime import datetime, timedelta

import pytest

from cadenza.deliveries import lanes
from cadenza.deliveries.permit import Permitted, Refusal
from cadenza.deliveries.settle import Result, settle
from cadenza.providers.outcome import Sent, Transient, TryLater, WaitScope
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import HOME, Pipeline

HOUR = timedelta(hours=1)


async def pass_time(pipeline: Pipeline, span: timedelta) -> None:
    """Let time pass: all that is written was so long ago."""
    columns = {
        "delivery": ("due_at",),
        "lane": ("parked_until", "held_at", "opened_at", "runnable_at"),
        "network_wait": ("until_at",),
        "bucket": ("free_at",),
    }
    keys = {"network_wait": "scope", "bucket": "kind"}

    def shift(tx: Tx, _now: datetime) -> None:
        for table, names in columns.items():
            key = keys.get(table, "id")
            for row in tx.all(f"SELECT * FROM {table}"):
                for name in names:
                    if row[name] is not None:
                        tx.run(
                            f"UPDATE {table} SET {name} = :at WHERE {key} = :key",
                            at=row[name] - span,
                            key=row[key],
                        )

    await pipeline.operations.run(shift)


async def states(pipeline: Pipeline, *ids: str) -> list[str]:
    """Send whatever goes, and say where these stand."""
    for _ in range(len(ids) + 2):
        for ticket in await pipeline.claim():
            (answer,) = await pipeline.permit(ticket)
            if isinstance(answer, Permitted):
                await pipeline.settle(ticket, Sent("r"), answer.attempt_id)
    return [(await pipeline.row("delivery", id_))["state"] for id_ in ids]


async def ask_to_wait(pipeline: Pipeline, wait: timedelta) -> None:
    (ticket,) = await pipeline.claim(1)
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, TryLater(wait, WaitScope.ACCOUNT, "slow down"), permit.attempt_id)


async def hold_lane(pipeline: Pipeline, wait: timedelta) -> None:
    await pipeline.operations.run(
        lambda tx, now: lanes.park(
            tx,
            now,
            workspace_id=HOME,
            lane_id="account:ada",
            until=now + wait,
            reason="the network wants a rest",
        )
    )


async def test_what_waited_while_the_network_wanted_a_rest_is_not_missed(
    pipeline: Pipeline,
) -> None:
    first = await pipeline.post()
    second, third = await pipeline.post(due=HOUR), await pipeline.post(due=1.5 * HOUR)
    await ask_to_wait(pipeline, 3 * HOUR)
    await pass_time(pipeline, 3.01 * HOUR)
    assert await states(pipeline, first, second, third) == ["sent"] * 3


async def test_what_waited_for_a_budget_is_not_missed(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "gap", 3 * 3600)
    first, second, third = (
        await pipeline.post(),
        await pipeline.post(due=HOUR),
        await pipeline.post(due=HOUR),
    )
    assert await states(pipeline, first) == ["sent"]
    await pass_time(pipeline, HOUR)
    (ticket,) = await pipeline.claim()
    (refused,) = await pipeline.permit(ticket)
    assert isinstance(refused, Refusal)
    await pass_time(pipeline, 2.01 * HOUR)
    assert await states(pipeline, second) == ["sent"]
    await pass_time(pipeline, 3.01 * HOUR)  # its gap is a hold that follows the one before
    assert await states(pipeline, third) == ["sent"]


async def test_what_was_late_before_the_hold_stays_late(pipeline: Pipeline) -> None:
    """Nothing ran for three hours; then the lane was held for half an hour."""
    first, second = await pipeline.post(), await pipeline.post()
    await pass_time(pipeline, 3 * HOUR)
    await hold_lane(pipeline, HOUR / 2)
    await pass_time(pipeline, 0.51 * HOUR)
    assert await states(pipeline, first, second) == ["missed"] * 2


async def test_what_nobody_sent_after_the_hold_is_late_from_then_on(pipeline: Pipeline) -> None:
    first, second = await pipeline.post(), await pipeline.post(due=HOUR)
    await ask_to_wait(pipeline, 3 * HOUR)
    await pass_time(pipeline, 5 * HOUR)
    assert await states(pipeline, first, second) == ["missed"] * 2


async def test_what_was_put_off_is_late_when_nothing_ran_since(pipeline: Pipeline) -> None:
    await pipeline.limit("ada", "post", "gap", 600)
    first, second = await pipeline.post(), await pipeline.post()
    for _ in range(2):
        for ticket in await pipeline.claim(1):
            (answer,) = await pipeline.permit(ticket)
            if isinstance(answer, Permitted):
                await pipeline.settle(ticket, Sent("r"), answer.attempt_id)
    assert (await pipeline.row("delivery", second))["deferrals"] == 1
    await pass_time(pipeline, timedelta(days=3))
    assert await states(pipeline, first, second) == ["sent", "missed"]


async def test_what_failed_once_is_late_when_nothing_ran_since(pipeline: Pipeline) -> None:
    first = await pipeline.post()
    (ticket,) = await pipeline.claim(1)
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Transient("a hiccup"), permit.attempt_id)
    await pass_time(pipeline, timedelta(days=3))
    assert await states(pipeline, first) == ["missed"]


async def test_a_try_is_made_again_within_the_grace(pipeline: Pipeline) -> None:
    first = await pipeline.post()
    (ticket,) = await pipeline.claim(1)
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Transient("a hiccup", wait=3 * HOUR), permit.attempt_id)
    await pass_time(pipeline, 3.9 * HOUR)
    assert await states(pipeline, first) == ["sent"]


async def test_the_rest_of_a_thread_is_never_too_late(pipeline: Pipeline) -> None:
    first = await pipeline.post(content='{"text":"one","parts":["two"]}')
    (ticket,) = await pipeline.claim(1)
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    part = Result(ticket, Sent("one"), permit.attempt_id, last_part=False, parts=("one",))
    await pipeline.operations.run(lambda tx, now: settle(tx, now, [part]))
    await pipeline.settle(ticket, Transient("a hiccup"), None)
    await pass_time(pipeline, timedelta(days=3))
    assert await states(pipeline, first) == ["sent"]


@pytest.mark.parametrize("held", ["paused", "parked", "stopped"])
async def test_what_is_held_now_is_not_judged_late(pipeline: Pipeline, held: str) -> None:
    first = await pipeline.post()
    (ticket,) = await pipeline.claim(1)
    if held == "parked":
        await hold_lane(pipeline, 9 * HOUR)
    elif held == "stopped":
        await pipeline.operations.run(
            lambda tx, now: tx.run("UPDATE workspace SET stopped_at = :now", now=now)
        )
    else:
        await pipeline.operations.run(
            lambda tx, _: lanes.pause(
                tx, workspace_id=HOME, scope=ticket.delivery.lane_id, reason="a break"
            )
        )
    await pass_time(pipeline, 3 * HOUR)
    (answer,) = await pipeline.permit(ticket)
    assert isinstance(answer, Refusal)
    assert (await pipeline.row("delivery", first))["state"] == "scheduled"
