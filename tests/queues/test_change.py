"""Changing a schedule: what keeps, moves or is orphaned is said before and is true after."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from operator import itemgetter

import pytest

from cadenza.core.channels import Channel
from cadenza.deliveries.change import cancel
from cadenza.queues.change import ChangedSchedule, How, change
from cadenza.queues.model import NoRoom
from cadenza.queues.reorder import Stale
from cadenza.queues.schedule import BadSchedule, HasSchedule, as_data, as_list, write
from tests.queues.conftest import ADA, DAILY, MONDAY, WEEK, Desk, only

NEW_YORK = {"2": ["09:00"]}


async def changed(desk: Desk, **words: object) -> ChangedSchedule:
    answer = await desk.run(change, account_id="ada", by=ADA, **words)
    assert isinstance(answer, ChangedSchedule), answer
    return answer


async def test_both_shapes_are_taken_and_shown(desk: Desk) -> None:
    flat = [
        {"dayOfWeek": 1, "hour": 9, "minute": 0},
        {"dayOfWeek": 1, "hour": 15, "minute": 0},
        {"dayOfWeek": 1, "hour": 9, "minute": 0},
        {"dayOfWeek": 3, "hour": 12, "minute": 0},
        {"dayOfWeek": 5, "hour": 18, "minute": 0, "gap": "skip"},
    ]
    by_list = await desk.week("ada", slots=flat)
    by_map = await desk.week("ben", slots=WEEK)
    assert by_list.schedule.times == by_map.schedule.times
    assert as_data(by_map.schedule)["slots_by_day"] == WEEK
    assert len(as_list(by_list.schedule)) == 4
    assert as_list(by_list.schedule)[-1] == {**flat[-1], "fold": "first"}


async def test_a_bad_schedule_says_what_is_wrong(desk: Desk) -> None:
    for words, said in (
        ({"slots": {"7": ["09:00"]}}, "0 (Sunday) to 6"),
        ({"slots": {"1": ["25:00"]}}, "a time is HH:MM"),
        ({"slots": WEEK, "zone": "Europe/Belrin"}, "Europe/Berlin"),
        ({"slots": WEEK, "max_per_day": 0}, "at least 1"),
    ):
        answer = await desk.run(write, account_id="ada", by=ADA, **words)
        assert isinstance(answer, BadSchedule)
        assert said in answer.message


async def test_a_second_first_schedule_is_sent_to_change(desk: Desk) -> None:
    await desk.week()
    assert isinstance(await desk.run(write, account_id="ada", slots=WEEK, by=ADA), HasSchedule)


async def test_a_moved_time_takes_its_posts_along(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(4)
    later = {day: ["09:00", "12:00", "16:30"] for day in DAILY}
    answer = await changed(desk, slots=later)
    assert (answer.keeps, len(answer.moves), answer.pinned) == (3, 1, ())
    assert await desk.order() == [
        ("p0001", "2026-05-04T12:00"),
        ("p0002", "2026-05-04T16:30"),
        ("p0003", "2026-05-05T09:00"),
        ("p0004", "2026-05-05T12:00"),
    ]


async def test_a_removed_slot_leaves_its_post_pinned_where_it_is(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(3)
    answer = await changed(desk, slots={day: ["09:00", "12:00"] for day in DAILY})
    assert (answer.keeps, answer.moves, answer.pinned) == (2, (), posts[1].ids)
    row = await desk.row("delivery", posts[1].ids[0])
    assert (row["due_at"], row["pinned"], row["state"]) == (
        posts[1].at,
        "slot removed",
        "scheduled",
    )


async def test_a_pinned_post_still_counts_and_is_taken_in_by_a_reflow(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(4)
    fewer = {day: ["09:00", "12:00"] for day in DAILY}
    await changed(desk, slots=fewer)
    answer = await changed(desk, how=How.REFLOW)
    assert answer.pinned == ()
    assert await desk.order() == [
        ("p0001", "2026-05-04T12:00"),
        ("p0002", "2026-05-05T09:00"),
        ("p0003", "2026-05-05T12:00"),
        ("p0004", "2026-05-06T09:00"),
    ]


async def test_a_dry_run_tells_the_same_and_changes_nothing(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(4)
    before = (await desk.order(), (await desk.queue()).revision)
    words = {"slots": {day: ["09:00", "16:30"] for day in DAILY}, "how": How.REFLOW}
    plan = await changed(desk, dry_run=True, **words)
    assert ((await desk.order()), (await desk.queue()).revision) == before
    done = await changed(desk, **words)
    assert (plan.keeps, plan.moves, plan.pinned) == (done.keeps, done.moves, done.pinned)


async def test_keep_moves_nothing_and_marks_the_orphans(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(3)
    answer = await changed(desk, slots={day: ["10:00"] for day in DAILY}, how=How.KEEP)
    assert (answer.keeps, answer.moves) == (0, ())
    assert answer.pinned == tuple(post.ids[0] for post in posts)
    rows = await desk.rows("SELECT due_at FROM delivery ORDER BY due_at")
    assert [row["due_at"] for row in rows] == [post.at for post in posts]


async def test_who_renames_a_time_may_say_which(desk: Desk) -> None:
    await desk.week(slots={"1": ["12:00", "15:00"]})
    await desk.fill(2)
    await changed(desk, slots={"1": ["12:00", "18:00", "20:00"]}, renamed={(1, time(15)): time(20)})
    assert await desk.order() == [("p0001", "2026-05-04T12:00"), ("p0002", "2026-05-04T20:00")]


async def test_a_time_that_cannot_be_renamed_is_refused(desk: Desk) -> None:
    await desk.week(slots={"1": ["12:00", "15:00"]})
    for renamed in (
        {(1, time(16)): time(12)},
        {(1, time(15)): time(21)},
        {(2, time(15)): time(12)},
    ):
        answer = await desk.run(
            change, account_id="ada", by=ADA, slots={"1": ["12:00", "20:00"]}, renamed=renamed
        )
        assert isinstance(answer, BadSchedule)


async def test_one_time_moved_and_one_added_in_one_save_move_the_posts(desk: Desk) -> None:
    await desk.week(slots={"1": ["12:00", "15:00"]})
    await desk.fill(2)
    answer = await changed(desk, slots={"1": ["08:00", "12:30", "15:00"]})
    assert answer.pinned == ()
    assert await desk.order() == [("p0001", "2026-05-04T12:30"), ("p0002", "2026-05-04T15:00")]


async def test_of_two_times_that_became_one_the_nearer_moved(desk: Desk) -> None:
    await desk.week(slots={"1": ["12:00", "15:00"]})
    posts = await desk.fill(2)
    answer = await changed(desk, slots={"1": ["16:00"]})
    assert answer.pinned == posts[0].ids
    assert await desk.order() == [("p0002", "2026-05-04T16:00")]


async def test_another_zone_keeps_wall_times_of_the_queue_and_instants_of_hand_timed_posts(
    desk: Desk,
) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    by_hand = await desk.by_hand(MONDAY + timedelta(days=1))
    answer = await changed(desk, zone="America/New_York")
    assert len(answer.moves) == 2
    assert await desk.order() == [("p0001", "2026-05-04T12:00"), ("p0002", "2026-05-04T15:00")]
    first = (await desk.rows("SELECT due_at, zone FROM delivery ORDER BY due_at"))[0]
    assert first == {"due_at": datetime(2026, 5, 4, 16, tzinfo=UTC), "zone": "America/New_York"}
    assert (await desk.row("delivery", by_hand))["due_at"] == MONDAY + timedelta(days=1)
    assert (await desk.row("account", "ada"))["zone"] == "America/New_York"


async def said(desk: Desk) -> list[tuple[str, str, str]]:
    rows = await desk.rows("SELECT due_at, wall_time, zone FROM delivery ORDER BY due_at, id")
    return [(f"{row['due_at']:%a %H:%M}", row["wall_time"][11:], row["zone"]) for row in rows]


async def test_kept_posts_tell_the_time_of_their_new_zone(desk: Desk) -> None:
    await desk.run(write, account_id="ada", slots=NEW_YORK, by=ADA, zone="America/New_York")
    await desk.add(channels=(Channel.MASTODON, Channel.BLUESKY))
    await changed(desk, how=How.KEEP, zone="Europe/London", slots={"2": ["14:00"]})
    assert await said(desk) == [("Tue 13:00", "14:00", "Europe/London")] * 2
    before = await desk.order()
    answer = await changed(desk, slots={"2": ["14:00"], "0": ["10:00"]})
    assert (answer.keeps, answer.moves, answer.pinned) == (1, (), ())
    assert await desk.order() == before


async def test_pinned_and_hand_timed_posts_tell_the_time_of_their_new_zone(desk: Desk) -> None:
    await desk.run(write, account_id="ada", slots=NEW_YORK, by=ADA, zone="America/New_York")
    await desk.fill(1)
    await desk.add(to=datetime(2026, 5, 6, 13, tzinfo=UTC))
    own = await desk.by_hand(
        datetime(2026, 5, 7, 13, tzinfo=UTC), wall_time="2026-05-07T15:00", zone="Europe/Paris"
    )
    await changed(desk, how=How.KEEP, zone="Europe/London")
    assert await said(desk) == [
        ("Tue 13:00", "14:00", "Europe/London"),  # 09:00 is no time of this post any more: pinned
        ("Wed 13:00", "14:00", "Europe/London"),
        ("Thu 13:00", "15:00", "Europe/Paris"),  # as the person said it
    ]
    assert (await desk.row("delivery", own))["due_at"] == datetime(2026, 5, 7, 13, tzinfo=UTC)


async def test_a_zone_with_the_same_clock_is_written_on_what_stays(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(1)
    await desk.add(to=MONDAY + timedelta(hours=3))
    for how, zone in ((How.FOLLOW, "Europe/Paris"), (How.REFLOW, "Europe/Rome")):
        answer = await changed(desk, zone=zone, how=how)
        assert (answer.keeps, answer.moves) == (1, ())
        assert await said(desk) == [("Mon 10:00", "12:00", zone), ("Mon 11:00", "13:00", zone)]


async def test_a_post_whose_new_time_is_past_takes_the_next_free_slot(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    await changed(desk, zone="Asia/Tokyo")  # 17:00 there: 12:00 and 15:00 are over
    assert await desk.order() == [("p0001", "2026-05-05T09:00"), ("p0002", "2026-05-05T12:00")]


async def test_a_blackout_date_pins_what_stands_there_and_offers_nothing(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(2)
    answer = await changed(desk, blackouts=[date(2026, 5, 4)])
    assert set(answer.pinned) == {post.ids[0] for post in posts}
    assert only(await desk.add()).wall_time == "2026-05-05T09:00"


async def test_a_lower_maximum_moves_at_once_what_is_over_it(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(5)
    plan = await changed(desk, max_per_day=1, dry_run=True)
    done = await changed(desk, max_per_day=1)
    assert (plan.keeps, plan.moves) == (done.keeps, done.moves)
    assert done.keeps == 2
    assert [(move.id, move.now_at) for move in done.moves] == [
        (posts[1].ids[0], datetime(2026, 5, 6, 7, tzinfo=UTC)),
        (posts[3].ids[0], datetime(2026, 5, 7, 7, tzinfo=UTC)),
        (posts[4].ids[0], datetime(2026, 5, 8, 7, tzinfo=UTC)),
    ]
    assert await desk.order() == [
        ("p0001", "2026-05-04T12:00"),
        ("p0003", "2026-05-05T09:00"),
        ("p0002", "2026-05-06T09:00"),
        ("p0004", "2026-05-07T09:00"),
        ("p0005", "2026-05-08T09:00"),
    ]
    assert (await changed(desk, no_max_per_day=True)).schedule.max_per_day is None


@pytest.mark.parametrize("how", list(How))
async def test_what_a_lower_maximum_leaves_on_a_day_is_sent_on_that_day(
    desk: Desk, how: How
) -> None:
    await desk.week(slots=DAILY)
    first, second, third = await desk.fill(3)  # 12:00 and 15:00 today, 09:00 tomorrow
    late = await desk.by_hand(MONDAY + timedelta(hours=8))
    desk.now = first.at
    assert await desk.send() == [first.ids[0]]
    plan = await changed(desk, max_per_day=2, how=how, dry_run=True)
    assert await changed(desk, max_per_day=2, how=how) == replace(
        plan, dry_run=False, revision=plan.revision + 1
    )
    moved = {move.id: move.now_at for move in plan.moves}
    assert second.ids[0] in moved
    assert late not in moved  # a queued post gives way to one that a person timed
    planned = {second.ids[0]: second.at, third.ids[0]: third.at, late: MONDAY + timedelta(hours=8)}
    for id_, at in sorted((planned | moved).items(), key=itemgetter(1)):
        desk.now = at
        assert id_ in await desk.send()
        row = await desk.row("delivery", id_)
        assert (row["state"], row["due_at"]) == ("sent", at)


async def test_a_lower_maximum_counts_what_was_sent_today(desk: Desk) -> None:
    await desk.week(slots={str(day): ["10:30", "12:00", "15:00"] for day in range(7)})
    first, second, third = await desk.fill(3)
    desk.now = first.at
    await desk.send()
    plan = await changed(desk, max_per_day=1, dry_run=True)
    assert (plan.keeps, [move.id for move in plan.moves]) == (0, [second.ids[0], third.ids[0]])


async def test_a_post_on_two_channels_is_one_of_the_day_and_moves_as_one(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    both = (Channel.MASTODON, Channel.BLUESKY)
    first, second = await desk.fill(2, channels=both)
    done = await changed(desk, max_per_day=1)
    assert [move.id for move in done.moves] == [second.ids[0]]
    rows = await desk.rows("SELECT due_at FROM delivery WHERE post_id = 'p0002'")
    assert [row["due_at"] for row in rows] == [done.moves[0].now_at] * 2
    rows = await desk.rows("SELECT due_at FROM delivery WHERE post_id = 'p0001'")
    assert [row["due_at"] for row in rows] == [first.at] * 2


async def test_a_maximum_that_cannot_be_kept_within_a_year_is_refused(desk: Desk) -> None:
    await desk.week(slots={"1": ["12:00", "15:00"]})
    await desk.fill(60)
    before = await desk.order()
    answer = await desk.run(change, account_id="ada", by=ADA, max_per_day=1)
    assert isinstance(answer, NoRoom)
    assert await desk.order() == before


@pytest.mark.parametrize("how", list(How))
async def test_another_name_just_before_a_slot_moves_nothing(desk: Desk, how: How) -> None:
    await desk.week(slots={"1": ["12:00"]})
    (post,) = await desk.fill(1)
    desk.now = post.at - timedelta(seconds=20)
    answer = await changed(desk, name="Mondays", how=how)
    assert (answer.keeps, answer.moves, answer.pinned) == (1, (), ())
    desk.now = post.at
    assert await desk.send() == [post.ids[0]]


@pytest.mark.parametrize("how", list(How))
async def test_what_holds_a_slot_within_the_minute_keeps_it(desk: Desk, how: How) -> None:
    await desk.week(slots=DAILY)
    first, second = await desk.fill(2)
    desk.now = first.at - timedelta(seconds=20)
    answer = await changed(
        desk, slots={day: [*times, "21:00"] for day, times in DAILY.items()}, how=how
    )
    assert (answer.keeps, answer.moves) == (2, ())
    assert (await desk.row("delivery", first.ids[0]))["due_at"] == first.at
    assert (await desk.row("delivery", second.ids[0]))["due_at"] == second.at


async def test_no_other_post_is_moved_to_a_slot_within_the_minute(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first, _ = await desk.fill(2)
    await desk.run(cancel, id=first.ids[0], reason="not wanted")
    desk.now = first.at - timedelta(seconds=20)
    answer = await changed(desk, how=How.REFLOW)
    assert (answer.keeps, answer.moves) == (1, ())


async def test_what_a_change_moves_says_so_in_its_history(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    (post,) = await desk.fill(1)
    await changed(desk, slots={day: ["09:00", "12:30", "15:00"] for day in DAILY})
    (said,) = await desk.rows(
        "SELECT * FROM audit WHERE subject_id = 'p0001' AND action = 'queue.move'"
    )
    assert said["actor"] == ADA
    assert post.at.isoformat() in said["before"]
    assert "the weekly slots were changed" in said["after"]


async def test_a_reflow_that_finds_no_room_changes_nothing(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(3)
    before = await desk.order()
    answer = await desk.run(change, account_id="ada", by=ADA, slots={}, how=How.REFLOW)
    assert isinstance(answer, NoRoom)
    assert await desk.order() == before


async def test_an_older_revision_is_refused(desk: Desk) -> None:
    queue = await desk.week(slots=DAILY)
    await desk.fill(1)
    answer = await desk.run(change, account_id="ada", by=ADA, slots=WEEK, revision=queue.revision)
    assert isinstance(answer, Stale)


async def test_what_is_switched_off_still_goes_out(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first = (await desk.fill(1))[0]
    await changed(desk, enabled=False)
    desk.now = first.at
    assert await desk.send() == [first.ids[0]]


async def test_what_came_due_by_the_old_schedule_does_not_fill_today_of_the_new(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(5)
    desk.now = MONDAY + timedelta(hours=25)  # 11:00 on Tuesday: three came due, none was sent
    await changed(desk, zone="America/New_York")
    assert only(await desk.add()).wall_time == "2026-05-05T09:00"


async def test_a_new_zone_counts_the_posts_that_keep_their_instant(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    both = (Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY)
    await desk.add(channels=both)  # a channel that follows a slot has no time of its own
    fixed = await desk.by_hand(MONDAY + timedelta(days=2, minutes=7))
    await desk.by_hand(MONDAY - timedelta(days=2))
    change_zone = {"account_id": "ada", "by": ADA, "zone": "America/New_York"}
    would = await desk.run(change, dry_run=True, **change_zone)
    assert isinstance(would, ChangedSchedule)
    assert would.fixed == (fixed,)
    done = await desk.run(change, **change_zone)
    assert isinstance(done, ChangedSchedule)
    assert done.fixed == (fixed,)
    assert (await desk.row("delivery", fixed))["due_at"] == MONDAY + timedelta(days=2, minutes=7)
    same = await desk.run(change, account_id="ada", by=ADA, name="Week")
    assert isinstance(same, ChangedSchedule)
    assert same.fixed == ()
