"""Add to queue: which slot, why not earlier, and the truth for every account."""

from datetime import UTC, date, datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.core.slots import Reason
from cadenza.core.zones import Mark
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost, NoSuchPost
from cadenza.posts.targets import BadTarget
from cadenza.queues.add import Added, AlreadyQueued, Queued, To, add
from cadenza.queues.last_accounts import usual_accounts
from cadenza.queues.model import NoQueue, NoRoom, locks
from cadenza.sql.tx import Tx
from tests.queues.conftest import ADA, BEN, DAILY, HOME, MONDAY, Desk, only


async def test_a_post_takes_the_next_slot_and_says_when_and_why(desk: Desk) -> None:
    await desk.week()
    answer = only(await desk.add())
    assert answer.at == datetime(2026, 5, 4, 13, tzinfo=UTC)
    assert (answer.wall_time, answer.zone) == ("2026-05-04T15:00", "Europe/Berlin")
    assert answer.passed is not None
    assert [refusal.reason for refusal in answer.passed.first] == [Reason.PAST]
    row = await desk.row("delivery", answer.ids[0])
    assert (row["state"], row["due_at"], row["slot_at"]) == ("scheduled", answer.at, answer.at)


async def test_a_filled_slot_is_passed_over(desk: Desk) -> None:
    await desk.week()
    first, second = await desk.fill(2)
    assert second.wall_time == "2026-05-06T12:00"
    assert second.passed is not None
    assert [(r.reason, r.instant) for r in second.passed.first] == [
        (Reason.PAST, datetime(2026, 5, 4, 7, tzinfo=UTC)),
        (Reason.TAKEN, first.at),
    ]


async def test_slots_begin_a_minute_from_now(desk: Desk) -> None:
    await desk.week()
    desk.now = datetime(2026, 5, 4, 12, 59, 30, tzinfo=UTC)
    assert only(await desk.add()).wall_time == "2026-05-06T12:00"


async def test_a_full_day_pushes_the_post_to_tomorrow(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=1)
    first, second = await desk.fill(2)
    assert (first.wall_time, second.wall_time) == ("2026-05-04T12:00", "2026-05-05T09:00")
    assert second.passed is not None
    assert second.passed.full_days == 1


async def test_the_workspace_has_the_cap_where_the_account_has_none(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.operations.run(lambda tx, _: tx.run("UPDATE workspace SET max_per_day = 1"))
    first, second = await desk.fill(2)
    assert (first.wall_time, second.wall_time) == ("2026-05-04T12:00", "2026-05-05T09:00")


async def test_hand_timed_posts_count_against_the_day_and_hold_the_slot_they_stand_on(
    desk: Desk,
) -> None:
    await desk.week(slots=DAILY, max_per_day=2)
    await desk.by_hand(datetime(2026, 5, 4, 10, tzinfo=UTC))  # 12:00 in Berlin, a slot
    assert only(await desk.add()).wall_time == "2026-05-04T15:00"
    assert only(await desk.add()).wall_time == "2026-05-05T09:00"


async def test_what_failed_or_was_canceled_or_missed_does_not_count(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=1)
    first = (await desk.fill(1))[0]
    for state in ("failed", "canceled", "missed"):
        await desk.operations.run(
            lambda tx, now, s=state: tx.run(
                """
                UPDATE delivery SET state = :state, reason = 'x',
                    failed_at = CASE WHEN :state = 'failed' THEN due_at END WHERE id = :id
                """,
                state=s,
                id=first.ids[0],
            )
        )
        answer = only(await desk.add())
        assert answer.wall_time == "2026-05-04T12:00"
        await desk.operations.run(
            lambda tx, _, i=answer.ids[0]: tx.run("DELETE FROM delivery WHERE id = :id", id=i)
        )


async def test_what_was_sent_today_counts(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=1)
    await desk.by_hand(MONDAY)
    assert await desk.send()
    assert only(await desk.add()).wall_time == "2026-05-05T09:00"


async def test_a_post_with_two_channels_counts_once_and_they_go_together(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=2)
    both = (Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY)
    first = only(await desk.add(channels=both))
    rows = [await desk.row("delivery", id_) for id_ in first.ids]
    assert [row["due_at"] for row in rows] == [first.at, first.at]
    assert [row["slot_at"] for row in rows] == [first.at, None]
    assert only(await desk.add(channels=both)).wall_time == "2026-05-04T15:00"


async def test_the_end_lies_behind_the_last_even_if_there_is_a_gap(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(3)
    await desk.operations.run(
        lambda tx, _: tx.run("DELETE FROM delivery WHERE id = :id", id=posts[1].ids[0])
    )
    assert only(await desk.add(to=To.END)).at > posts[2].at
    assert only(await desk.add()).at == posts[1].at


async def test_next_is_first_and_the_rest_move_one_slot_on_up_to_the_first_gap(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(4)
    await desk.operations.run(
        lambda tx, _: tx.run("DELETE FROM delivery WHERE id = :id", id=posts[2].ids[0])
    )
    answer = only(await desk.add(post="urgent", to=To.NEXT))
    assert answer.at == posts[0].at
    assert [(m.was_at, m.now_at) for m in answer.moved] == [
        (posts[0].at, posts[1].at),
        (posts[1].at, posts[2].at),
    ]
    assert await desk.posts() == ["urgent", "p0001", "p0002", "p0004"]


async def test_next_takes_followers_along(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    both = (Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY)
    first = only(await desk.add(channels=both))
    await desk.add(to=To.NEXT)
    rows = [await desk.row("delivery", id_) for id_ in first.ids]
    assert {row["due_at"] for row in rows} == {first.at + timedelta(hours=3)}


async def test_next_respects_the_day_of_those_it_pushes(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=1)
    await desk.fill(3)
    await desk.add(post="urgent", to=To.NEXT)
    assert await desk.order() == [
        ("urgent", "2026-05-04T12:00"),
        ("p0001", "2026-05-05T09:00"),
        ("p0002", "2026-05-06T09:00"),
        ("p0003", "2026-05-07T09:00"),
    ]


async def test_an_instant_of_ones_own_holds_no_slot_but_occupies_it(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    at = datetime(2026, 5, 4, 10, tzinfo=UTC)
    answer = only(await desk.add(to=at))
    assert (answer.at, answer.wall_time) == (at, "2026-05-04T12:00")
    assert (await desk.row("delivery", answer.ids[0]))["slot_at"] is None
    assert only(await desk.add()).wall_time == "2026-05-04T15:00"


async def test_an_instant_in_the_past_or_on_a_full_day_is_refused(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=1)
    (past,) = (await desk.add(to=MONDAY - timedelta(hours=1))).answers
    assert isinstance(past, NoRoom)
    assert "past" in past.message
    await desk.fill(1)
    (full,) = (await desk.add(to=MONDAY + timedelta(hours=1))).answers
    assert isinstance(full, NoRoom)
    assert "1 posts already" in full.message


async def test_one_account_without_room_does_not_stop_the_others(desk: Desk) -> None:
    await desk.week("ada")
    await desk.week("ben", slots={})
    await desk.connect("cy")
    added = await desk.add("ada", "ben", "cy")
    assert [type(answer) for answer in added.answers] == [Queued, NoRoom, NoQueue]
    assert isinstance(added.answers[1], NoRoom)
    assert "no times" in added.answers[1].message
    assert added.scheduled_at == datetime(2026, 5, 4, 13, tzinfo=UTC)


async def test_the_posts_time_is_the_earliest_of_its_accounts(desk: Desk) -> None:
    await desk.week("ada")
    await desk.week("ben", slots=DAILY)
    added = await desk.add("ada", "ben")
    assert added.scheduled_at == datetime(2026, 5, 4, 10, tzinfo=UTC)


async def test_a_full_year_is_said_to_be_full_after_bounded_work(desk: Desk) -> None:
    days = frozenset(date(2026, 5, 4) + timedelta(days=n) for n in range(370))
    await desk.week(slots=DAILY, blackouts=days)
    (answer,) = (await desk.add()).answers
    assert isinstance(answer, NoRoom)
    assert answer.passed is not None
    assert answer.passed.blackout_days == 367


async def test_a_schedule_that_is_switched_off_takes_nothing_new(desk: Desk) -> None:
    await desk.week(slots=DAILY, enabled=False)
    (answer,) = (await desk.add()).answers
    assert isinstance(answer, NoRoom)
    assert "switched off" in answer.message


async def test_the_same_post_twice_is_told_where_it_is(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first = only(await desk.add(post="once"))
    (again,) = (await desk.add(post="once")).answers
    assert again == AlreadyQueued("ada", first.ids[0], "scheduled", first.at)


async def test_a_channel_that_was_missing_follows_at_the_same_instant(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first = only(await desk.add(post="p"))
    more = only(await desk.add(post="p", channels=(Channel.MASTODON, Channel.BLUESKY)))
    assert (more.at, len(more.ids)) == (first.at, 1)


async def test_an_unapproved_post_holds_its_slot_as_a_draft(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    held = only(await desk.add(approved=False))
    assert (await desk.row("delivery", held.ids[0]))["state"] == "draft"
    assert only(await desk.add()).at > held.at


async def test_a_gap_slot_is_marked_and_runs_an_hour_later(desk: Desk) -> None:
    await desk.week(slots={"0": ["02:30"]}, zone="America/New_York")
    desk.now = datetime(2026, 3, 7, 12, tzinfo=UTC)
    answer = only(await desk.add())
    assert answer.at == datetime(2026, 3, 8, 7, 30, tzinfo=UTC)  # 03:30 there
    assert (answer.wall_time, answer.mark) == ("2026-03-08T02:30", Mark.GAP)


async def test_two_slots_that_a_gap_brings_together_are_one(desk: Desk) -> None:
    await desk.week(slots={"0": ["02:30", "03:30"]}, zone="America/New_York")
    desk.now = datetime(2026, 3, 7, 12, tzinfo=UTC)
    first, second = await desk.fill(2)
    assert first.at == datetime(2026, 3, 8, 7, 30, tzinfo=UTC)
    assert second.wall_time == "2026-03-15T02:30"


async def test_a_fold_slot_runs_once_at_the_first_of_the_two(desk: Desk) -> None:
    await desk.week(slots={"0": ["01:30"]}, zone="America/New_York")
    desk.now = datetime(2026, 10, 31, 12, tzinfo=UTC)
    first, second = await desk.fill(2)
    assert first.at == datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
    assert second.wall_time == "2026-11-08T01:30"


async def test_a_slot_may_run_in_both_passes_of_a_fold(desk: Desk) -> None:
    both = {"0": [{"hour": 1, "minute": 30, "fold": "both"}]}
    await desk.week(slots=both, zone="America/New_York")
    desk.now = datetime(2026, 10, 31, 12, tzinfo=UTC)
    first, second = await desk.fill(2)
    assert second.at - first.at == timedelta(hours=1)


async def test_accounts_nobody_named_are_those_of_last_time_else_all(desk: Desk) -> None:
    await desk.week("ada", slots=DAILY)
    await desk.week("ben", slots=DAILY)
    await desk.connect("cy")
    assert await desk.run(usual_accounts, author=ADA) == ["ada", "ben"]
    await desk.add("ben", by=ADA)
    assert await desk.run(usual_accounts, author=ADA) == ["ben"]
    assert await desk.run(usual_accounts, author=BEN) == ["ada", "ben"]


async def test_every_add_raises_the_revision_and_leaves_word(desk: Desk) -> None:
    before = (await desk.week(slots=DAILY)).revision
    first, second = await desk.fill(2)
    assert (first.revision, second.revision) == (before + 1, before + 2)
    said = await desk.rows("SELECT actor, subject_id FROM audit WHERE action = 'queue.add'")
    assert {(row["actor"], row["subject_id"]) for row in said} == {(ADA, "p0001"), (ADA, "p0002")}


async def test_adding_while_paused_works_and_says_so(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE lane SET paused = true, pause_reason = 'recall'")
    )
    assert only(await desk.add()).warnings == ("the queue is paused: recall",)


async def test_another_workspaces_account_has_no_queue_here(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    (answer,) = (await desk.add("cys-account")).answers
    assert isinstance(answer, NoQueue)
    assert HOME == "ada-and-friends"


async def test_a_post_of_the_workspace_is_composed_and_queued(desk: Desk) -> None:
    await desk.week(slots=DAILY)

    def write_and_add(tx: Tx, _now: datetime) -> object:
        tx.run("UPDATE account SET provider = 'mastodon' WHERE id = 'ada'")
        tx.run(
            """
            INSERT INTO member (workspace_id, id, email, name, role, created_at)
            VALUES (:home, 'ada', 'ada@example.com', 'Ada', 'owner', :now)
            """,
            home=HOME,
            now=MONDAY,
        )
        made = create(tx, MONDAY, NewPost(workspace_id=HOME, text="good morning"), by=ADA)
        assert isinstance(made, Created), made
        return add(tx, MONDAY, workspace_id=HOME, post_id=made.id, by=ADA, targets=["ada"])

    added = await desk.operations.run(write_and_add, locks=locks(HOME, "ada"))
    assert isinstance(added, Added)
    row = await desk.row("delivery", only(added).ids[0])
    assert (row["channel"], row["state"]) == ("mastodon", "scheduled")
    assert "good morning" in row["content"]


async def test_a_post_or_account_that_is_not_there_is_refused(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    unknown = await desk.run(add, post_id="p", by=ADA, targets=["nobody"])
    assert isinstance(unknown, BadTarget)
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE account SET provider = 'mastodon' WHERE id = 'ada'")
    )
    gone = await desk.run(add, post_id="gone", by=ADA, targets=["ada"])
    assert isinstance(gone, NoSuchPost)


async def test_slots_that_others_hold_are_told_as_taken_and_capped_days_as_full(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(7)
    (answer,) = (await desk.add()).answers
    assert isinstance(answer, Queued)
    assert answer.passed is not None
    assert (answer.passed.taken, answer.passed.full_days) == (7, 0)
    await desk.week("ben", slots=DAILY, max_per_day=2)
    await desk.fill(5, "ben")
    (capped,) = (await desk.add("ben")).answers
    assert isinstance(capped, Queued)
    assert capped.passed is not None
    assert (capped.passed.taken, capped.passed.full_days) == (1, 2)


async def test_a_disconnected_account_gets_its_own_answer_and_stops_no_other(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.week("ben", slots=DAILY)
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE account SET state = 'disabled' WHERE id = 'ben'")
    )
    await desk.operations.run(
        lambda tx, _: tx.run(
            """
            INSERT INTO workspace (id, name, zone, created_at) VALUES (:home, 'Home', 'UTC', :now)
            ON CONFLICT (id) DO NOTHING
            """,
            home=HOME,
            now=MONDAY,
        )
    )
    new = NewPost(workspace_id=HOME, text="good morning")
    made = await desk.operations.run(lambda tx, _: create(tx, MONDAY, new, by=ADA))
    assert isinstance(made, Created), made
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE account SET provider = 'mastodon' WHERE id = 'ada'")
    )
    answer = await desk.run(add, "ada", "ben", post_id=made.id, by=ADA, targets=["ada", "ben"])
    assert isinstance(answer, Added)
    queued, left = answer.answers
    assert isinstance(queued, Queued)
    assert isinstance(left, BadTarget)
    assert (left.account_id, "disconnected" in left.message) == ("ben", True)
