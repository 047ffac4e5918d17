"""Clear: row by row, never what is on its way; undo brings back what is still free."""

from datetime import timedelta

from cadenza.core.channels import Channel
from cadenza.queues.change import change
from cadenza.queues.clear import Cleared, clear, clear_post
from cadenza.queues.skip import skip_next
from cadenza.queues.undo import TooLate, Undone, undo
from tests.queues.conftest import ADA, BEN, DAILY, MONDAY, Desk, only


async def cleared(desk: Desk, **words: bool) -> Cleared:
    answer = await desk.run(clear, account_id="ada", by=ADA, **words)
    assert isinstance(answer, Cleared)
    return answer


async def test_a_cleared_queue_is_empty_and_its_posts_are_drafts_again(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.week("ben", slots=DAILY)
    await desk.fill(2)
    await desk.add("ada", "ben", post="both")
    answer = await cleared(desk)
    assert len(answer.canceled) == 3
    assert answer.drafts == ("p0001", "p0002")
    assert await desk.posts() == []
    assert await desk.posts("ben") == ["both"]


async def test_clearing_twice_is_clearing_once(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    await cleared(desk)
    revision = (await desk.queue()).revision
    again = await cleared(desk)
    assert (again.clear_id, again.canceled) == (None, ())
    assert (await desk.queue()).revision == revision


async def test_what_is_on_its_way_is_reported_and_stays(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(3)
    desk.now = posts[0].at
    (ticket,) = await desk.claim()
    answer = await cleared(desk)
    assert answer.on_their_way == (ticket.id,)
    assert len(answer.canceled) == 2
    assert await desk.posts() == ["p0001"]


async def test_hand_timed_posts_stay_unless_asked_for(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(1)
    by_hand = await desk.by_hand(MONDAY + timedelta(hours=9))
    assert by_hand not in (await cleared(desk)).canceled
    assert by_hand in (await cleared(desk, by_hand=True)).canceled


async def test_followers_and_drafts_go_too(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    both = (Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY)
    two = only(await desk.add(channels=both))
    draft = only(await desk.add(approved=False))
    assert set((await cleared(desk)).canceled) == {*two.ids, *draft.ids}


async def test_a_cleared_post_can_be_added_again(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first = (await desk.fill(1))[0]
    await cleared(desk)
    assert only(await desk.add(post="p0001")).at == first.at


async def test_one_post_is_cleared_on_all_its_accounts(desk: Desk) -> None:
    await desk.week("ada", slots=DAILY)
    await desk.week("ben", slots=DAILY)
    await desk.add("ada", "ben", post="both")
    await desk.add("ada", post="other")
    answer = await desk.run(clear_post, "ada", "ben", post_id="both", by=ADA)
    assert len(answer.canceled) == 2
    assert answer.drafts == ("both",)
    assert (await desk.posts("ada"), await desk.posts("ben")) == (["other"], [])


async def test_undo_restores_the_instants(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(3)
    await desk.add(approved=False)
    before = await desk.order()
    answer = await cleared(desk)
    desk.now += timedelta(minutes=10)
    undone = await desk.run(undo, clear_id=answer.clear_id, by=BEN)
    assert isinstance(undone, Undone)
    assert (len(undone.restored), undone.lost) == (4, ())
    assert await desk.order() == before
    states = [r["state"] for r in await desk.rows("SELECT state FROM delivery ORDER BY due_at")]
    assert states == ["scheduled"] * 3 + ["draft"]
    first = (await desk.rows("SELECT min(due_at) AS first_at FROM delivery"))[0]["first_at"]
    assert (await desk.row("lane", "account:ada"))["runnable_at"] == first


async def undone(desk: Desk, answer: Cleared) -> Undone:
    found = await desk.run(undo, clear_id=answer.clear_id, by=ADA)
    assert isinstance(found, Undone)
    return found


async def test_undo_says_what_it_cannot_restore_and_why(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(4)
    answer = await cleared(desk)
    await desk.add(post="thief")  # takes the first slot
    await desk.run(skip_next, account_id="ada", by=ADA)  # the second
    await desk.add(post="p0003")  # the third was added again
    assert dict((await undone(desk, answer)).lost) == {
        posts[0].ids[0]: "its slot was taken meanwhile",
        posts[1].ids[0]: "its slot is skipped by now",
        posts[2].ids[0]: "it was added again meanwhile",
    }
    assert await desk.posts() == ["thief", "p0003", "p0004"]


async def test_undo_leaves_what_was_added_again_and_is_out_by_now(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first, second = await desk.fill(2)
    desk.now = first.at - timedelta(minutes=5)
    answer = await cleared(desk)
    await desk.add(post="p0002")  # takes the first slot
    desk.now = first.at
    assert len(await desk.send()) == 1
    assert dict((await undone(desk, answer)).lost) == {
        first.ids[0]: "its time has passed",
        second.ids[0]: "it was added again meanwhile",
    }


async def test_undo_leaves_the_followers_of_a_slot_that_was_taken(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    two = only(await desk.add(post="two", channels=(Channel.MASTODON, Channel.BLUESKY)))
    answer = await cleared(desk)
    await desk.add(post="thief")
    found = await undone(desk, answer)
    assert dict(found.lost) == dict.fromkeys(two.ids, "its slot was taken meanwhile")
    live = await desk.rows("SELECT post_id FROM delivery WHERE state = 'scheduled'")
    assert [row["post_id"] for row in live] == ["thief"]


async def test_undo_brings_a_post_back_with_all_its_channels(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    two = only(await desk.add(post="two", channels=(Channel.MASTODON, Channel.BLUESKY)))
    answer = await cleared(desk)
    assert set((await undone(desk, answer)).restored) == set(two.ids)
    rows = [await desk.row("delivery", id_) for id_ in two.ids]
    assert [(row["due_at"], row["slot_at"]) for row in rows] == [(two.at, two.at), (two.at, None)]


async def test_a_post_timed_by_hand_meanwhile_has_taken_the_instant(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    (post,) = await desk.fill(1)
    answer = await cleared(desk)
    await desk.by_hand(post.at)
    found = await undone(desk, answer)
    assert found.lost == ((post.ids[0], "its slot was taken meanwhile"),)
    assert await desk.posts() == []


async def test_undo_keeps_a_day_within_its_number_of_posts(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=2)
    posts = await desk.fill(2)
    answer = await cleared(desk)
    await desk.by_hand(posts[0].at + timedelta(minutes=20))
    found = await undone(desk, answer)
    assert found.restored == posts[0].ids
    assert found.lost == ((posts[1].ids[0], "its day has its 2 posts by now"),)


async def test_undo_comes_back_on_the_clock_that_the_account_has_by_then(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    (post,) = await desk.fill(1)  # 12:00 in Berlin
    answer = await cleared(desk)
    await desk.run(change, account_id="ada", by=ADA, zone="Africa/Cairo", slots={"1": ["13:00"]})
    assert (await undone(desk, answer)).restored == post.ids
    row = await desk.row("delivery", post.ids[0])
    assert (row["wall_time"], row["zone"]) == ("2026-05-04T13:00", "Africa/Cairo")
    assert row["slot_at"] == post.at


async def test_undo_does_not_bring_back_what_is_past(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(2)
    desk.now = posts[0].at - timedelta(minutes=5)
    answer = await cleared(desk)
    desk.now = posts[0].at + timedelta(minutes=1)
    undone = await desk.run(undo, clear_id=answer.clear_id, by=ADA)
    assert isinstance(undone, Undone)
    assert undone.lost == ((posts[0].ids[0], "its time has passed"),)


async def test_undo_ends_after_ten_minutes_and_works_once(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    answer = await cleared(desk)
    desk.now += timedelta(minutes=10, seconds=1)
    late = await desk.run(undo, clear_id=answer.clear_id, by=ADA)
    assert isinstance(late, TooLate)
    desk.now = MONDAY
    await desk.run(undo, clear_id=answer.clear_id, by=ADA)
    assert isinstance(await desk.run(undo, clear_id=answer.clear_id, by=ADA), TooLate)
    assert isinstance(await desk.run(undo, clear_id="nothing", by=ADA), TooLate)


async def test_undo_after_a_schedule_change_pins_what_has_no_slot_any_more(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(2)
    answer = await cleared(desk)
    fewer = {day: ["09:00", "12:00"] for day in DAILY}
    await desk.run(change, account_id="ada", by=ADA, slots=fewer)
    await desk.run(undo, clear_id=answer.clear_id, by=ADA)
    rows = [await desk.row("delivery", post.ids[0]) for post in posts]
    assert [(row["due_at"], row["slot_at"], row["pinned"]) for row in rows] == [
        (posts[0].at, posts[0].at, None),
        (posts[1].at, None, "slot removed"),
    ]
