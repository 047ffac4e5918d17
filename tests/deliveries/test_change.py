from collections.abc import Callable
from datetime import timedelta

import pytest

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import change
from cadenza.deliveries.change import ChangedDelivery, NoSuchDelivery, NotNow
from cadenza.deliveries.permit import Permitted
from cadenza.deliveries.reconcile import resolve, unconfirmed_attempts
from cadenza.providers.outcome import CannotTell, Found, Rejected, Sent, Unconfirmed
from tests.deliveries.conftest import HOME, Pipeline

HOUR = timedelta(hours=1)


async def ask(pipeline: Pipeline, what: Callable[..., object], id_: str, **more: object) -> object:
    return await pipeline.operations.run(
        lambda tx, now: what(tx, now, workspace_id=HOME, id=id_, **more)
    )


async def test_a_waiting_delivery_is_canceled_and_never_claimed(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    assert await ask(pipeline, change.cancel, id_, reason="changed my mind") == ChangedDelivery(
        State.CANCELED
    )
    assert await pipeline.claim() == []


async def test_a_delivery_in_a_workers_hands_cannot_be_called_back(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    await pipeline.claim()
    answer = await ask(pipeline, change.cancel, id_, reason="too late")
    assert isinstance(answer, NotNow)
    assert answer.state is State.SCHEDULED


async def test_another_workspaces_delivery_is_not_known(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    answer = await pipeline.operations.run(
        lambda tx, now: change.cancel(tx, now, workspace_id="cys", id=id_, reason="")
    )
    assert answer == NoSuchDelivery()
    assert (await pipeline.row("delivery", id_))["state"] == "scheduled"


async def test_what_failed_can_be_retried_by_hand(pipeline: Pipeline) -> None:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Rejected("too long"), permit.attempt_id)

    assert await ask(pipeline, change.retry, id_) == ChangedDelivery(State.SCHEDULED)
    assert [t.id for t in await pipeline.claim()] == [id_]
    assert len(await pipeline.rows("attempt")) == 1


async def test_publish_now_makes_the_same_delivery_due_before_others(pipeline: Pipeline) -> None:
    await pipeline.post()
    later = await pipeline.post(due=HOUR)
    assert await ask(pipeline, change.publish_now, later) == ChangedDelivery(State.SCHEDULED)
    assert [t.id for t in await pipeline.claim()] == [later]
    second = await ask(pipeline, change.publish_now, later)
    assert isinstance(second, ChangedDelivery)
    assert "on its way" in (second.warning or "")


async def uncertain(pipeline: Pipeline) -> str:
    id_ = await pipeline.post()
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Unconfirmed("no answer"), permit.attempt_id)
    return id_


async def let_the_call_end(pipeline: Pipeline) -> None:
    """Bring deadlines forward: nothing can still arrive."""
    await pipeline.operations.run(
        lambda tx, now: tx.run("UPDATE attempt SET deadline_at = :t", t=now - timedelta(minutes=2))
    )


async def decide(pipeline: Pipeline, id_: str, fence: int, **choice: object) -> object:
    return await ask(pipeline, change.decide_unconfirmed, id_, fence=fence, **choice)


async def test_a_person_may_say_that_it_is_there(pipeline: Pipeline) -> None:
    id_ = await uncertain(pipeline)
    fence = (await pipeline.row("delivery", id_))["lease"]
    assert await decide(pipeline, id_, fence, is_there=True) == ChangedDelivery(State.SENT)
    row = await pipeline.row("delivery", id_)
    assert row["state"] == "sent"
    assert "a person" in row["reason"]


@pytest.mark.parametrize("who", ["a person", "the network"])
async def test_what_is_confirmed_keeps_the_time_of_its_call(pipeline: Pipeline, who: str) -> None:
    id_ = await uncertain(pipeline)
    called = await pipeline.operations.read(lambda _, now: now - timedelta(hours=9))
    await pipeline.operations.run(
        lambda tx, _: tx.run(
            "UPDATE attempt SET began_at = :at, deadline_at = :at WHERE delivery_id = :id",
            at=called,
            id=id_,
        )
    )
    due = (await pipeline.row("delivery", id_))["due_at"]
    (unconfirmed,) = await pipeline.operations.read(unconfirmed_attempts)
    await pipeline.operations.run(
        lambda tx, now: resolve(tx, now, unconfirmed, CannotTell("no list"))
    )
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["due_at"]) == ("unconfirmed", due), "a look is no other due time"
    assert row["look_at"] > called + timedelta(hours=9)

    if who == "a person":
        assert await decide(pipeline, id_, row["lease"], is_there=True) == ChangedDelivery(
            State.SENT
        )
    else:
        await pipeline.operations.run(lambda tx, now: resolve(tx, now, unconfirmed, Found("r1")))
    row = await pipeline.row("delivery", id_)
    assert (row["state"], row["sent_at"], row["due_at"]) == ("sent", called, due)
    assert row["look_at"] is None


async def test_a_person_may_say_that_it_is_not_and_it_is_sent_again(pipeline: Pipeline) -> None:
    id_ = await uncertain(pipeline)
    assert await pipeline.claim() == []
    await let_the_call_end(pipeline)
    fence = (await pipeline.row("delivery", id_))["lease"]
    assert await decide(pipeline, id_, fence, is_there=False) == ChangedDelivery(State.SCHEDULED)
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    assert await pipeline.settle(ticket, Sent("r"), permit.attempt_id)
    assert [row["state"] for row in await pipeline.rows("activity")].count("refunded") == 1


async def test_nobody_says_that_it_is_not_there_while_the_call_may_still_arrive(
    pipeline: Pipeline,
) -> None:
    id_ = await uncertain(pipeline)
    fence = (await pipeline.row("delivery", id_))["lease"]
    answer = await decide(pipeline, id_, fence, is_there=False)
    assert isinstance(answer, NotNow)
    assert "may still arrive until" in answer.message
    assert (await pipeline.row("delivery", id_))["state"] == "unconfirmed"


@pytest.mark.parametrize("is_there", [True, False])
async def test_what_was_seen_of_one_try_says_nothing_of_the_next(
    pipeline: Pipeline, *, is_there: bool
) -> None:
    id_ = await uncertain(pipeline)
    seen = (await pipeline.row("delivery", id_))["lease"]
    await let_the_call_end(pipeline)
    assert await decide(pipeline, id_, seen, is_there=False) == ChangedDelivery(State.SCHEDULED)
    (ticket,) = await pipeline.claim()
    (permit,) = await pipeline.permit(ticket)
    assert isinstance(permit, Permitted)
    await pipeline.settle(ticket, Unconfirmed("again no answer"), permit.attempt_id)
    await let_the_call_end(pipeline)

    assert await decide(pipeline, id_, seen, is_there=is_there) == NotNow(
        State.UNCONFIRMED, change.TRIED_SINCE
    )
    assert (await pipeline.row("delivery", id_))["state"] == "unconfirmed"
    now = (await pipeline.row("delivery", id_))["lease"]
    assert isinstance(await decide(pipeline, id_, now, is_there=is_there), ChangedDelivery)
