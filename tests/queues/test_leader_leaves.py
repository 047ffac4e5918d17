"""One channel of a post leaves the queue by itself: the slot passes to another that stays at its instant."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries import change as one
from cadenza.posts.cancel import cancel
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.posts.publish_now import PublishingNow, publish_now
from cadenza.posts.schedule_at import ScheduledAt, When, schedule_at
from cadenza.queues.add import Added, Queued, add
from cadenza.queues.change import ChangedSchedule, change
from cadenza.queues.clear import Cleared, clear
from cadenza.queues.reorder import Reordered, reverse
from cadenza.sql.tx import Tx
from tests.queues.conftest import ADA, DAILY, HOME, Desk

FEED, STORY = ("ada", Channel.INSTAGRAM_FEED), ("ada", Channel.INSTAGRAM_STORY)


def sends(tx: Tx, now: datetime, post: str, leader: str) -> None:
    answer = publish_now(tx, now, workspace_id=HOME, post_id=post, by=ADA, targets=[FEED])
    assert isinstance(answer, PublishingNow)


def times(tx: Tx, now: datetime, post: str, leader: str) -> None:
    when = When(now + timedelta(days=9))
    answer = schedule_at(
        tx, now, workspace_id=HOME, post_id=post, when=when, by=ADA, targets=[FEED]
    )
    assert isinstance(answer, ScheduledAt)


def cancels(tx: Tx, now: datetime, post: str, leader: str) -> None:
    cancel(tx, now, workspace_id=HOME, post_id=post, by=ADA, only=[leader])


def cancels_one(tx: Tx, now: datetime, post: str, leader: str) -> None:
    one.cancel(tx, now, workspace_id=HOME, id=leader, reason="by hand")


def sends_one(tx: Tx, now: datetime, post: str, leader: str) -> None:
    one.publish_now(tx, now, workspace_id=HOME, id=leader)


Leaves = Callable[[Tx, datetime, str, str], None]
each_way = pytest.mark.parametrize("leaves", [sends, times, cancels, cancels_one, sends_one])


async def queue_both(desk: Desk) -> tuple[str, Queued]:
    """A post on two channels of one account, in its first slot."""
    await desk.week(slots=DAILY)

    def make(tx: Tx, now: datetime, **_: Any) -> tuple[str, Added]:
        new = NewPost(workspace_id=HOME, text="hello")
        made = create(tx, now, new, by="key:robot", approve=True)
        assert isinstance(made, Created)
        added = add(tx, now, workspace_id=HOME, post_id=made.id, by=ADA, targets=[FEED, STORY])
        assert isinstance(added, Added)
        return made.id, added

    post, added = await desk.run(make)
    (queued,) = added.answers
    assert isinstance(queued, Queued)
    return post, queued


async def leave(desk: Desk, leaves: Leaves, post: str, leader: str) -> None:
    await desk.run(lambda tx, now, **_: leaves(tx, now, post, leader))


@each_way
async def test_the_slot_passes_to_the_channel_that_stays(desk: Desk, leaves: Leaves) -> None:
    post, queued = await queue_both(desk)
    leader, follower = queued.ids
    await leave(desk, leaves, post, leader)
    stays = await desk.row("delivery", follower)
    assert (stays["slot_at"], stays["due_at"], stays["state"]) == (
        queued.at,
        queued.at,
        "scheduled",
    )
    assert (await desk.row("delivery", leader))["slot_at"] in (None, queued.at)
    assert await desk.posts() == [post]
    (added,) = (await desk.add()).answers  # the slot is still held
    assert isinstance(added, Queued)
    assert added.at > queued.at


@each_way
async def test_what_stays_is_cleared_with_the_queue(desk: Desk, leaves: Leaves) -> None:
    post, queued = await queue_both(desk)
    leader, follower = queued.ids
    await leave(desk, leaves, post, leader)
    answer = await desk.run(clear, account_id="ada", by=ADA)
    assert isinstance(answer, Cleared)
    assert answer.canceled == (follower,)


async def test_what_stays_moves_with_the_queue(desk: Desk) -> None:
    post, queued = await queue_both(desk)
    leader, follower = queued.ids
    await leave(desk, sends, post, leader)
    (other,) = await desk.fill(1)
    turned = await desk.run(reverse, account_id="ada", by=ADA)
    assert isinstance(turned, Reordered)
    assert {moved.id for moved in turned.moved} == {follower, *other.ids}
    moved = await desk.run(change, account_id="ada", by=ADA, zone="America/New_York")
    assert isinstance(moved, ChangedSchedule)
    assert follower in {each.id for each in moved.moves}


async def test_when_all_leave_the_slot_is_free(desk: Desk) -> None:
    post, queued = await queue_both(desk)
    await desk.run(
        lambda tx, now, **_: publish_now(tx, now, workspace_id=HOME, post_id=post, by=ADA)
    )
    (added,) = (await desk.add()).answers
    assert isinstance(added, Queued)
    assert added.at == queued.at


async def test_a_post_of_another_name_at_the_instant_does_not_get_the_slot(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    (queued,) = await desk.fill(1)
    other = await desk.by_hand(queued.at)
    await desk.operations.run(
        lambda tx, _: one.cancel(tx, desk.now, workspace_id=HOME, id=queued.ids[0], reason="x")
    )
    assert (await desk.row("delivery", other))["slot_at"] is None
