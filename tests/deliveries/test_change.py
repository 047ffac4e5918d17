from collections.abc import Callable
from datetime import timedelta

import pytest

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import change
from cadenza.deliveries.change import ChangedDelivery, NoSuchDelivery, NotNow
from cadenza.deliveries.permit import Permitted
from cadenza.deliveries.reconcile import resolve, unconfirmed_attempts
from cadenza.providers.outcome import CannotTell, Found, Rejected, Sent, Unconfirmed
from tests.deliveries.conftest import HOME, Road

HOUR = timedelta(hours=1)


async def ask(road: Road, what: Callable[..., object], id_: str, **more: object) -> object:
    return await road.operations.run(
        lambda tx, now: what(tx, now, workspace_id=HOME, id=id_, **more)
    )


async def test_a_waiting_delivery_is_canceled_and_never_claimed(road: Road) -> None:
    id_ = await road.post()
    assert await ask(road, change.cancel, id_, reason="changed my mind") == ChangedDelivery(
        State.CANCELED
    )
    assert await road.claim() == []


async def test_a_delivery_in_a_workers_hands_cannot_be_called_back(road: Road) -> None:
    id_ = await road.post()
    await road.claim()
    answer = await ask(road, change.cancel, id_, reason="too late")
    assert isinstance(answer, NotNow)
    assert answer.state is State.SCHEDULED


async def test_another_workspaces_delivery_is_not_known(road: Road) -> None:
    id_ = await road.post()
    answer = await road.operations.run(
        lambda tx, now: change.cancel(tx, now, workspace_id="cys", id=id_, reason="")
    )
    assert answer == NoSuchDelivery()
    assert (await road.row("delivery", id_))["state"] == "scheduled"


async def test_what_failed_can_be_retried_by_hand(road: Road) -> None:
    id_ = await road.post()
    (ticket,) = await road.claim()
    (permit,) = await road.permit(ticket)
    assert isinstance(permit, Permitted)
    await road.settle(ticket, Rejected("too long"), permit.attempt_id)

    assert await ask(road, change.retry, id_) == ChangedDelivery(State.SCHEDULED)
    assert [t.id for t in await road.claim()] == [id_]
    assert len(await road.rows("attempt")) == 1


async def test_publish_now_makes_the_same_delivery_due_before_others(road: Road) -> None:
    await road.post()
    later = await road.post(due=HOUR)
    assert await ask(road, change.publish_now, later) == ChangedDelivery(State.SCHEDULED)
    assert [t.id for t in await road.claim()] == [later]
    second = await ask(road, change.publish_now, later)
    assert isinstance(second, ChangedDelivery)
    assert "on its way" in (second.warning or "")


async def doubtful(road: Road) -> str:
    id_ = await road.post()
    (ticket,) = await road.claim()
    (permit,) = await road.permit(ticket)
    assert isinstance(permit, Permitted)
    await road.settle(ticket, Unconfirmed("no answer"), permit.attempt_id)
    return id_


async def let_the_call_end(road: Road) -> None:
    """Bring deadlines forward: nothing can still arrive."""
    await road.operations.run(
        lambda tx, now: tx.run("UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2))
    )


async def decide(road: Road, id_: str, fence: int, **choice: object) -> object:
    return await ask(road, change.decide_unconfirmed, id_, fence=fence, **choice)


async def test_a_person_may_say_that_it_is_there(road: Road) -> None:
    id_ = await doubtful(road)
    fence = (await road.row("delivery", id_))["lease"]
    assert await decide(road, id_, fence, is_there=True) == ChangedDelivery(State.SENT)
    row = await road.row("delivery", id_)
    assert row["state"] == "sent"
    assert "a person" in row["reason"]


@pytest.mark.parametrize("who", ["a person", "the network"])
async def test_what_is_confirmed_keeps_the_time_of_its_call(road: Road, who: str) -> None:
    id_ = await doubtful(road)
    called = await road.operations.read(lambda _, now: now - timedelta(hours=9))
    await road.operations.run(
        lambda tx, _: tx.run(
            "UPDATE attempt SET began_at = :at, deadline_at = :at WHERE delivery_id = :id",
            at=called,
            id=id_,
        )
    )
    due = (await road.row("delivery", id_))["due_at"]
    (unconfirmed,) = await road.operations.read(unconfirmed_attempts)
    await road.operations.run(lambda tx, now: resolve(tx, now, unconfirmed, CannotTell("no list")))
    row = await road.row("delivery", id_)
    assert (row["state"], row["due_at"]) == ("unconfirmed", due), "a look is no other due time"
    assert row["look_at"] > called + timedelta(hours=9)

    if who == "a person":
        assert await decide(road, id_, row["lease"], is_there=True) == ChangedDelivery(State.SENT)
    else:
        await road.operations.run(lambda tx, now: resolve(tx, now, unconfirmed, Found("r1")))
    row = await road.row("delivery", id_)
    assert (row["state"], row["sent_at"], row["due_at"]) == ("sent", called, due)
    assert row["look_at"] is None


async def test_a_person_may_say_that_it_is_not_and_it_is_sent_again(road: Road) -> None:
    id_ = await doubtful(road)
    assert await road.claim() == []
    await let_the_call_end(road)
    fence = (await road.row("delivery", id_))["lease"]
    assert await decide(road, id_, fence, is_there=False) == ChangedDelivery(State.SCHEDULED)
    (ticket,) = await road.claim()
    (permit,) = await road.permit(ticket)
    assert isinstance(permit, Permitted)
    assert await road.settle(ticket, Sent("r"), permit.attempt_id)
    assert [row["state"] for row in await road.rows("activity")].count("refunded") == 1


async def test_nobody_says_that_it_is_not_there_while_the_call_may_still_arrive(road: Road) -> None:
    id_ = await doubtful(road)
    fence = (await road.row("delivery", id_))["lease"]
    answer = await decide(road, id_, fence, is_there=False)
    assert isinstance(answer, NotNow)
    assert "may still arrive until" in answer.says
    assert (await road.row("delivery", id_))["state"] == "unconfirmed"


@pytest.mark.parametrize("is_there", [True, False])
async def test_what_was_seen_of_one_try_says_nothing_of_the_next(
    road: Road, *, is_there: bool
) -> None:
    id_ = await doubtful(road)
    seen = (await road.row("delivery", id_))["lease"]
    await let_the_call_end(road)
    assert await decide(road, id_, seen, is_there=False) == ChangedDelivery(State.SCHEDULED)
    (ticket,) = await road.claim()
    (permit,) = await road.permit(ticket)
    assert isinstance(permit, Permitted)
    await road.settle(ticket, Unconfirmed("again no answer"), permit.attempt_id)
    await let_the_call_end(road)

    assert await decide(road, id_, seen, is_there=is_there) == NotNow(
        State.UNCONFIRMED, change.TRIED_SINCE
    )
    assert (await road.row("delivery", id_))["state"] == "unconfirmed"
    now = (await road.row("delivery", id_))["lease"]
    assert isinstance(await decide(road, id_, now, is_there=is_there), ChangedDelivery)
