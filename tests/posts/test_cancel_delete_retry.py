"""Canceling a post, deleting it, and trying once more what failed."""

from datetime import timedelta
from typing import Any

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.cancel_post import CanceledPost
from cadenza.deliveries.permit import Permitted
from cadenza.posts.cancel import cancel
from cadenza.posts.delete import Deleted, Sending, delete
from cadenza.posts.find import find
from cadenza.posts.model import NoSuchPost, PostMedia
from cadenza.posts.publish_now import NotApproved
from cadenza.posts.retry import Retrying, retry
from cadenza.providers.outcome import Rejected, Sent
from tests.posts.conftest import ADA, BLUESKY, HOME, INSTAGRAM, MASTODON, Desk


async def begin(desk: Desk, delivery: str) -> Any:
    """Let a worker stand in the middle of a call."""
    tickets = {ticket.id: ticket for ticket in await desk.claim()}
    (permitted,) = await desk.permit(tickets[delivery])
    assert isinstance(permitted, Permitted)
    return tickets[delivery], permitted.attempt_id


async def throw_away(desk: Desk, id_: str) -> Any:
    return await desk.run(lambda tx, now: delete(tx, now, workspace_id=HOME, post_id=id_, by=ADA))


async def try_again(desk: Desk, id_: str, **more: Any) -> Any:
    return await desk.run(
        lambda tx, now: retry(tx, now, workspace_id=HOME, post_id=id_, by=ADA, **more)
    )


async def test_a_canceled_post_keeps_its_approval_and_can_go_again(desk: Desk) -> None:
    id_ = await desk.write()
    await desk.plan(id_, [MASTODON, BLUESKY])
    answer = await desk.run(lambda tx, now: cancel(tx, now, workspace_id=HOME, post_id=id_, by=ADA))
    assert isinstance(answer, CanceledPost)
    assert len(answer.canceled) == 2
    assert (await desk.post(id_)).approved
    assert len(await desk.plan(id_, [MASTODON])) == 1
    states = sorted(row["state"] for row in await desk.rows("delivery"))
    assert states == ["canceled", "canceled", "scheduled"]


async def test_what_is_being_sent_is_not_called_back(desk: Desk) -> None:
    id_ = await desk.write()
    toot, sky = await desk.plan(id_, [MASTODON, BLUESKY], due=timedelta())
    await begin(desk, toot)
    answer = await desk.run(lambda tx, now: cancel(tx, now, workspace_id=HOME, post_id=id_, by=ADA))
    assert isinstance(answer, CanceledPost)
    assert (answer.canceled, [each.id for each in answer.sending]) == ((sky,), [toot])


async def test_a_post_is_not_deleted_while_it_is_being_sent(desk: Desk) -> None:
    id_ = await desk.write()
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta())
    ticket, attempt = await begin(desk, toot)
    assert isinstance(await throw_away(desk, id_), Sending)
    await desk.settle(ticket, Sent("1"), attempt)
    answer = await throw_away(desk, id_)
    assert isinstance(answer, Deleted)
    assert "stay there" in (answer.message or "")


async def test_deleting_cancels_what_waits_and_lets_files_go(desk: Desk) -> None:
    await desk.file("cat")
    id_ = await desk.write(media=(PostMedia("cat"),))
    (toot,) = await desk.plan(id_, [MASTODON], due=timedelta())
    (ticket,) = await desk.claim()
    answer = await throw_away(desk, id_)
    assert isinstance(answer, Deleted)
    assert answer.canceled == (toot,)
    assert not isinstance((await desk.permit(ticket))[0], Permitted)
    row = await desk.delivery(toot)
    assert (row["state"], row["reason"]) == ("canceled", "its post was deleted")
    assert not await desk.rows("media_use")
    gone = await desk.run(lambda tx, _: find(tx, HOME, id_))
    assert isinstance(gone, NoSuchPost)
    assert isinstance(await throw_away(desk, id_), NoSuchPost)


async def test_a_retry_touches_only_what_failed(desk: Desk) -> None:
    """Case 24: channels end each on their own, and no channel that succeeded is sent to again."""
    id_ = await desk.write()
    toot, sky, pic = await desk.plan(id_, [MASTODON, BLUESKY, INSTAGRAM], due=timedelta())
    for ticket in await desk.claim():
        (permitted,) = await desk.permit(ticket)
        assert isinstance(permitted, Permitted)
        outcome = Sent("1") if ticket.id == toot else Rejected("no")
        await desk.settle(ticket, outcome, permitted.attempt_id)
    answer = await try_again(desk, id_, only=[toot, sky])
    assert isinstance(answer, Retrying)
    assert answer.deliveries == (sky,)
    assert answer.left == ((toot, State.SENT),)
    assert (await desk.delivery(pic))["state"] == "failed"
    assert [ticket.id for ticket in await desk.claim()] == [sky]
    attempts = [row["message"] for row in await desk.rows("attempt") if row["delivery_id"] == sky]
    assert attempts == ["no"]


async def test_unapproved_content_is_not_retried(desk: Desk) -> None:
    id_ = await desk.write()
    await desk.sql("UPDATE post SET approved_by = NULL, approved_at = NULL, approved_hash = NULL")
    assert isinstance(await try_again(desk, id_), NotApproved)
