"""What nobody can tell after a day: an account may ask a person, or take it as sent, marked as assumed."""

from datetime import datetime, timedelta

import pytest

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.reconcile import ASK_AGAIN, SELDOM, resolve, unconfirmed_attempts
from cadenza.providers.outcome import CannotTell
from cadenza.sql.tx import Tx
from tests.deliveries.conftest import Road
from tests.deliveries.test_find_out import in_doubt

DAY = timedelta(days=1)


async def cannot_tell(road: Road) -> State:
    def operation(tx: Tx, now: datetime) -> State:
        (unconfirmed,) = unconfirmed_attempts(tx, now)
        return resolve(tx, now, unconfirmed, CannotTell("the network shows nobody its posts"))

    return await road.operations.run(operation)


async def choose(road: Road, policy: str) -> None:
    await road.operations.run(
        lambda tx, _: tx.run("UPDATE account SET unconfirmed_policy = :policy", policy=policy)
    )


async def test_by_default_a_person_is_asked_however_long_it_takes(road: Road) -> None:
    id_ = await in_doubt(road, ago=30 * DAY)
    assert await cannot_tell(road) is State.UNCONFIRMED
    assert (await road.row("delivery", id_))["state"] == "unconfirmed"


@pytest.mark.parametrize("ago", [timedelta(hours=23), timedelta(minutes=5)])
async def test_within_a_day_nothing_is_assumed(road: Road, ago: timedelta) -> None:
    await in_doubt(road, ago=ago)
    await choose(road, "assume_sent")
    assert await cannot_tell(road) is State.UNCONFIRMED


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
    road: Road, ago: timedelta, wait: timedelta
) -> None:
    id_ = await in_doubt(road, ago=ago)
    before = await road.operations.read(lambda _, now: now)
    await cannot_tell(road)
    waits = (await road.row("delivery", id_))["look_at"] - before
    assert abs(waits - wait) < timedelta(minutes=1)


async def test_after_a_day_it_is_assumed_marked_counted_and_not_reported_as_sent(
    road: Road,
) -> None:
    await road.limit("ada", "post", "day", 5)
    id_ = await in_doubt(road, ago=1.01 * DAY)
    await choose(road, "assume_sent")
    assert await cannot_tell(road) is State.SENT
    row = await road.row("delivery", id_)
    assert row["state"] == "sent"
    assert row["reason"] == "assumed sent: the network shows nobody its posts"
    assert [told["kind"] for told in await road.rows("outbox")] == ["delivery.unconfirmed"]
    assert [(each["state"], each["counts"]) for each in await road.rows("activity")] == [
        ("unconfirmed", True)
    ]


async def test_in_the_middle_of_a_thread_nothing_is_assumed(road: Road) -> None:
    """The rest would need the id of a part that nobody has seen."""
    id_ = await in_doubt(road, ago=2 * DAY)
    await choose(road, "assume_sent")
    await road.operations.run(
        lambda tx, _: tx.run(
            "UPDATE delivery SET content = :content", content='{"text":"one","parts":["two"]}'
        )
    )
    assert await cannot_tell(road) is State.UNCONFIRMED
    assert (await road.row("delivery", id_))["state"] == "unconfirmed"
