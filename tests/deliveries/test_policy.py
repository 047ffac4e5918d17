"""What nobody can tell after a day: an account may ask a person, or take it as sent, marked as assumed."""

from datetime import datetime, timedelta

import pytest

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.reconcile import ASK_AGAIN, SELDOM, resolve, unconfirmed_attempts
from cadenza.providers.outcome import CannotTell
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import Pipeline
from tests.deliveries.test_find_out import unconfirmed_send

DAY = timedelta(days=1)


async def cannot_tell(pipeline: Pipeline) -> State:
    def operation(tx: Tx, now: datetime) -> State:
        (unconfirmed,) = unconfirmed_attempts(tx, now)
        return resolve(tx, now, unconfirmed, CannotTell("the network shows nobody its posts"))

    return await pipeline.operations.run(operation)


async def choose(pipeline: Pipeline, policy: str) -> None:
    await pipeline.operations.run(
        lambda tx, _: tx.run("UPDATE account SET unconfirmed_policy = :policy", policy=policy)
    )


async def test_by_default_a_person_is_asked_however_long_it_takes(pipeline: Pipeline) -> None:
    id_ = await unconfirmed_send(pipeline, ago=30 * DAY)
    assert await cannot_tell(pipeline) is State.UNCONFIRMED
    assert (await pipeline.row("delivery", id_))["state"] == "unconfirmed"


@pytest.mark.parametrize("ago", [timedelta(hours=23), timedelta(minutes=5)])
async def test_within_a_day_nothing_is_assumed(pipeline: Pipeline, ago: timedelta) -> None:
    await unconfirmed_send(pipeline, ago=ago)
    await choose(pipeline, "assume_sent")
    assert await cannot_tell(pipeline) is State.UNCONFIRMED


@pytest.mark.parametrize(
    ("ago", "wait"),
    [
        (timedelta(minutes=5), ASK_AGAIN),
        (timedelta(hours=8), timedelta(hours=1)),
        (timedelta(hours=23), timedelta(hours=1)),  # when the policy may decide
        (30 * DAY, SELDOM),
    ],
)
async def test_what_nobody_can_tell_is_looked_at_ever_more_seldom(
    pipeline: Pipeline, ago: timedelta, wait: timedelta
) -> None:
    id_ = await unconfirmed_send(pipeline, ago=ago)
    before = await pipeline.operations.read(lambda _, now: now)
    await cannot_tell(pipeline)
    waits = (await pipeline.row("delivery", id_))["look_at"] - before
    assert abs(waits - wait) < timedelta(minutes=1)


async def test_after_a_day_it_is_assumed_marked_counted_and_not_reported_as_sent(
    pipeline: Pipeline,
) -> None:
    await pipeline.limit("ada", "post", "day", 5)
    id_ = await unconfirmed_send(pipeline, ago=1.01 * DAY)
    await choose(pipeline, "assume_sent")
    assert await cannot_tell(pipeline) is State.SENT
    row = await pipeline.row("delivery", id_)
    assert row["state"] == "sent"
    assert row["reason"] == "assumed sent: the network shows nobody its posts"
    assert [told["kind"] for told in await pipeline.rows("outbox")] == ["delivery.unconfirmed"]
    assert [(each["state"], each["counts"]) for each in await pipeline.rows("activity")] == [
        ("unconfirmed", True)
    ]


async def test_in_the_middle_of_a_thread_nothing_is_assumed(pipeline: Pipeline) -> None:
    """The rest would need the id of a part that nobody has seen."""
    id_ = await unconfirmed_send(pipeline, ago=2 * DAY)
    await choose(pipeline, "assume_sent")
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE delivery SET content = :content", content='{"text":"one","parts":["two"]}'
        )
    )
    assert await cannot_tell(pipeline) is State.UNCONFIRMED
    assert (await pipeline.row("delivery", id_))["state"] == "unconfirmed"
