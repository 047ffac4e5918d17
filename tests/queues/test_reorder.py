"""Reorder: the instants stay, the posts change places, and nobody's change is lost."""

import pytest

from cadenza.core.channels import Channel
from cadenza.queues.reorder import (
    Reordered,
    Stale,
    Unknown,
    move,
    reorder,
    reverse,
    shuffle,
    swap,
    to_top,
)
from tests.queues.conftest import ADA, DAILY, MONDAY, Desk, only


async def line(desk: Desk, count: int = 4) -> int:
    await desk.week(slots=DAILY)
    return (await desk.fill(count))[-1].revision


async def test_the_order_changes_and_the_instants_stay(desk: Desk) -> None:
    revision = await line(desk)
    before = [wall for _, wall in await desk.order()]
    answer = await desk.run(
        reorder,
        account_id="ada",
        ids=["p0003", "p0001", "p0004", "p0002"],
        revision=revision,
        by=ADA,
    )
    assert isinstance(answer, Reordered)
    assert answer.revision == revision + 1
    after = await desk.order()
    assert [post for post, _ in after] == ["p0003", "p0001", "p0004", "p0002"]
    assert [wall for _, wall in after] == before


async def test_deliveries_may_be_named_as_well_as_posts(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first, second = await desk.fill(2)
    ids = [second.ids[0], first.ids[0]]
    await desk.run(reorder, account_id="ada", ids=ids, revision=second.revision, by=ADA)
    assert await desk.posts() == ["p0002", "p0001"]


async def test_a_gap_stays_a_gap(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(3)
    await desk.operations.run(
        lambda tx, _: tx.run("DELETE FROM delivery WHERE id = :id", id=posts[1].ids[0])
    )
    await desk.run(
        reorder, account_id="ada", ids=["p0003", "p0001"], revision=posts[2].revision, by=ADA
    )
    assert await desk.order() == [("p0003", "2026-05-04T12:00"), ("p0001", "2026-05-05T09:00")]


async def test_an_older_revision_changes_nothing_and_gets_the_present_order(desk: Desk) -> None:
    revision = await line(desk)
    await desk.run(reverse, account_id="ada", by=ADA)
    answer = await desk.run(
        reorder, account_id="ada", ids=["p0001", "p0002"], revision=revision, by=ADA
    )
    assert isinstance(answer, Stale)
    assert answer.revision == revision + 1
    assert [entry.post_id for entry in answer.order] == ["p0004", "p0003", "p0002", "p0001"]
    assert await desk.posts() == ["p0004", "p0003", "p0002", "p0001"]


async def test_what_is_on_its_way_stays_and_is_reported(desk: Desk) -> None:
    revision = await line(desk)
    first = (await desk.rows("SELECT id, due_at FROM delivery ORDER BY due_at LIMIT 1"))[0]
    desk.now = first["due_at"]
    (ticket,) = await desk.claim()
    answer = await desk.run(
        reorder,
        account_id="ada",
        ids=["p0004", "p0003", "p0002", "p0001"],
        revision=revision,
        by=ADA,
    )
    assert isinstance(answer, Reordered)
    assert [(s.id, s.why) for s in answer.stays] == [("p0001", "it is on its way")]
    assert await desk.posts() == ["p0001", "p0004", "p0003", "p0002"]
    assert (await desk.row("delivery", ticket.id))["due_at"] == first["due_at"]


async def test_what_was_timed_by_hand_does_not_move(desk: Desk) -> None:
    revision = await line(desk)
    by_hand = await desk.by_hand(MONDAY.replace(hour=20))
    answer = await desk.run(
        reorder, account_id="ada", ids=["p0002", by_hand, "p0001"], revision=revision, by=ADA
    )
    assert isinstance(answer, Reordered)
    assert [(s.id, s.why) for s in answer.stays] == [(by_hand, "it is timed by hand")]
    assert (await desk.row("delivery", by_hand))["due_at"] == MONDAY.replace(hour=20)
    assert (await desk.posts())[:2] == ["p0002", "p0001"]


@pytest.mark.parametrize("stranger", ["nobody", "q"])
async def test_a_strangers_id_refuses_the_whole(desk: Desk, stranger: str) -> None:
    revision = await line(desk)
    await desk.week("ben", slots=DAILY)
    await desk.add("ben", post="q")
    answer = await desk.run(
        reorder, account_id="ada", ids=["p0002", "p0001", stranger], revision=revision, by=ADA
    )
    assert isinstance(answer, Unknown)
    assert answer.ids == (stranger,)
    assert await desk.posts() == ["p0001", "p0002", "p0003", "p0004"]


async def test_a_post_named_twice_is_refused(desk: Desk) -> None:
    revision = await line(desk)
    answer = await desk.run(
        reorder, account_id="ada", ids=["p0002", "p0002"], revision=revision, by=ADA
    )
    assert isinstance(answer, Unknown)


async def test_followers_go_along(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    both = (Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY)
    two = only(await desk.add(post="two", channels=both))
    one = only(await desk.add(post="one"))
    await desk.run(swap, account_id="ada", ids=("two", "one"), by=ADA)
    rows = [await desk.row("delivery", id_) for id_ in two.ids]
    assert [(row["due_at"], row["slot_at"]) for row in rows] == [(one.at, one.at), (one.at, None)]


async def test_move_top_swap_and_reverse(desk: Desk) -> None:
    await line(desk)
    await desk.run(move, account_id="ada", id="p0004", before="p0002", by=ADA)
    assert await desk.posts() == ["p0001", "p0004", "p0002", "p0003"]
    await desk.run(move, account_id="ada", id="p0001", after="p0002", by=ADA)
    assert await desk.posts() == ["p0004", "p0002", "p0001", "p0003"]
    await desk.run(to_top, account_id="ada", id="p0003", by=ADA)
    assert await desk.posts() == ["p0003", "p0004", "p0002", "p0001"]
    await desk.run(swap, account_id="ada", ids=("p0003", "p0001"), by=ADA)
    assert await desk.posts() == ["p0001", "p0004", "p0002", "p0003"]
    await desk.run(reverse, account_id="ada", by=ADA)
    assert await desk.posts() == ["p0003", "p0002", "p0004", "p0001"]


async def test_a_shuffle_is_the_same_for_the_same_seed(desk: Desk) -> None:
    await line(desk, 6)
    start = await desk.posts()
    await desk.run(shuffle, account_id="ada", seed=7, by=ADA)
    mixed = await desk.posts()
    assert mixed != start
    assert sorted(mixed) == start
    await desk.run(
        reorder, account_id="ada", ids=start, revision=(await desk.queue()).revision, by=ADA
    )
    await desk.run(shuffle, account_id="ada", seed=7, by=ADA)
    assert await desk.posts() == mixed


async def test_the_lane_wakes_for_the_new_first(desk: Desk) -> None:
    await line(desk, 3)
    await desk.operations.run(lambda tx, _: tx.run("UPDATE lane SET runnable_at = NULL"))
    await desk.run(reverse, account_id="ada", by=ADA)
    first = (await desk.rows("SELECT min(due_at) AS first_at FROM delivery"))[0]["first_at"]
    assert (await desk.row("lane", "account:ada"))["runnable_at"] == first
