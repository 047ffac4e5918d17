"""Pause and resume: nothing slips out, nothing floods out, nothing is lost."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from cadenza.core.channels import Channel
from cadenza.core.zones import local_day
from cadenza.deliveries import lanes
from cadenza.deliveries.permit import Refusal
from cadenza.deliveries.resume_plan import NotConnected
from cadenza.queues.model import NoQueue
from cadenza.queues.move_over_daily_max import move_over_daily_max
from cadenza.queues.pause import Paused, PauseOver, pause
from cadenza.queues.resume import ResumeChoice, Resumed, ended, resume
from tests.queues.conftest import ADA, DAILY, HOME, MONDAY, Desk, only

TOMORROW = MONDAY + timedelta(days=1, hours=2, minutes=30)  # Tuesday 12:30 in Berlin


async def paused_over_a_day(desk: Desk) -> None:
    """Five posts; three of them (12:00, 15:00, 09:00) and a fourth (12:00) come due in the pause."""
    await desk.week(slots=DAILY)
    await desk.fill(6)
    await desk.run(pause, account_id="ada", reason="recall", by=ADA)
    desk.now = TOMORROW


async def test_nothing_of_a_paused_queue_is_claimed(desk: Desk) -> None:
    await paused_over_a_day(desk)
    assert await desk.claim() == []


async def test_what_was_claimed_before_the_pause_is_not_permitted_after_it(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first = (await desk.fill(1))[0]
    desk.now = first.at
    (ticket,) = await desk.claim()
    await desk.run(pause, account_id="ada", reason="recall", by=ADA)
    assert isinstance(await desk.permit(ticket), Refusal)


async def test_a_pause_tells_how_many_fall_inside_and_who_and_why(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(3)
    until = MONDAY + timedelta(hours=6)
    answer = await desk.run(pause, account_id="ada", reason="recall", by=ADA, until=until)
    assert isinstance(answer, Paused)
    assert (answer.inside, answer.under_way, answer.fresh) == (2, 0, True)
    queue = await desk.queue()
    assert (queue.paused, queue.pause_reason, queue.paused_by, queue.paused_at) == (
        True,
        "recall",
        ADA,
        MONDAY,
    )
    again = await desk.run(pause, account_id="ada", reason="storm", by=ADA)
    assert isinstance(again, Paused)
    assert (again.fresh, (await desk.queue()).pause_reason) == (False, "storm")


async def test_adding_and_reordering_work_while_paused(desk: Desk) -> None:
    await paused_over_a_day(desk)
    assert only(await desk.add()).at > desk.now


async def test_shift_is_the_default_and_moves_everything_on_in_order(desk: Desk) -> None:
    await paused_over_a_day(desk)
    answer = await desk.run(resume, account_id="ada", by=ADA)
    assert isinstance(answer, Resumed)
    assert len(answer.held) == 4
    assert await desk.order() == [
        ("p0001", "2026-05-05T15:00"),
        ("p0002", "2026-05-06T09:00"),
        ("p0003", "2026-05-06T12:00"),
        ("p0004", "2026-05-06T15:00"),
        ("p0005", "2026-05-07T09:00"),
        ("p0006", "2026-05-07T12:00"),
    ]
    assert await desk.claim() == []  # no flood


async def test_shift_goes_no_further_than_the_first_gap(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(1)
    far = only(await desk.add(to=MONDAY + timedelta(days=3)))
    await desk.run(pause, account_id="ada", reason="x", by=ADA)
    desk.now = MONDAY + timedelta(hours=3)
    answer = await desk.run(resume, account_id="ada", by=ADA)
    assert isinstance(answer, Resumed)
    assert len(answer.moved) == 1
    assert (await desk.row("delivery", far.ids[0]))["due_at"] == far.at


async def test_shift_respects_the_cap_of_a_day(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=1)
    await desk.fill(3)
    await desk.run(pause, account_id="ada", reason="x", by=ADA)
    desk.now = MONDAY + timedelta(hours=3)
    await desk.run(resume, account_id="ada", by=ADA)
    assert [wall for _, wall in await desk.order()] == [
        "2026-05-04T15:00",
        "2026-05-05T09:00",
        "2026-05-06T09:00",
    ]


async def test_send_goes_from_now_on_spaced_and_frees_the_slots(desk: Desk) -> None:
    await paused_over_a_day(desk)
    answer = await desk.run(
        resume, account_id="ada", by=ADA, choice=ResumeChoice.SEND, spacing=timedelta(minutes=5)
    )
    assert isinstance(answer, Resumed)
    assert [m.now_at - TOMORROW for m in answer.moved] == [
        timedelta(minutes=5 * n) for n in range(4)
    ]
    assert len(await desk.claim()) == 1
    assert len(await desk.posts()) == 2


async def test_what_is_sent_late_by_choice_is_not_called_missed(desk: Desk) -> None:
    await paused_over_a_day(desk)
    await desk.run(resume, account_id="ada", by=ADA, choice=ResumeChoice.SEND)
    assert len(await desk.send()) == 1
    states = [row["state"] for row in await desk.rows("SELECT state FROM delivery")]
    assert sorted(states) == ["scheduled"] * 5 + ["sent"]


async def test_draft_takes_them_back_and_they_can_be_queued_again(desk: Desk) -> None:
    await paused_over_a_day(desk)
    answer = await desk.run(resume, account_id="ada", by=ADA, choice=ResumeChoice.DRAFT)
    assert isinstance(answer, Resumed)
    assert len(answer.taken_back) == 4
    assert await desk.posts() == ["p0005", "p0006"]
    again = only(await desk.add(post="p0001"))
    assert again.ids == (answer.taken_back[0],)
    assert (await desk.row("delivery", again.ids[0]))["state"] == "scheduled"


async def test_a_dry_run_says_the_same_and_changes_nothing(desk: Desk) -> None:
    await paused_over_a_day(desk)
    before = await desk.order()
    plan = await desk.run(resume, account_id="ada", by=ADA, dry_run=True)
    assert (await desk.order(), (await desk.queue()).paused) == (before, True)
    done = await desk.run(resume, account_id="ada", by=ADA)
    assert plan == done


async def test_what_was_timed_by_hand_joins_and_is_listed_apart(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    by_hand = await desk.by_hand(MONDAY + timedelta(hours=3))
    await desk.run(pause, account_id="ada", reason="x", by=ADA)
    desk.now = MONDAY + timedelta(hours=4)
    answer = await desk.run(resume, account_id="ada", by=ADA)
    assert isinstance(answer, Resumed)
    assert answer.by_hand == (by_hand,)
    assert await desk.order() == [
        ("p0001", "2026-05-04T15:00"),
        (f"post-{by_hand}", "2026-05-05T09:00"),
        ("p0002", "2026-05-05T12:00"),
    ]


async def test_channels_of_a_post_stay_together(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    both = (Channel.INSTAGRAM_FEED, Channel.INSTAGRAM_STORY)
    two = only(await desk.add(channels=both))
    await desk.run(pause, account_id="ada", reason="x", by=ADA)
    desk.now = TOMORROW
    await desk.run(resume, account_id="ada", by=ADA)
    rows = [await desk.row("delivery", id_) for id_ in two.ids]
    assert rows[0]["due_at"] == rows[1]["due_at"] == datetime(2026, 5, 5, 13, tzinfo=UTC)


@pytest.mark.parametrize("gate", ["reconnect", "account"])
async def test_the_same_choice_after_a_reconnect_opens_the_lane(desk: Desk, gate: str) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(2)
    await desk.operations.run(
        lambda tx, _: tx.run(
            "UPDATE lane SET parked_until = :until, parked_by = :gate WHERE id = 'account:ada'",
            until=MONDAY + timedelta(days=300),
            gate=gate,
        )
    )
    desk.now = MONDAY + timedelta(hours=3)
    await desk.run(resume, account_id="ada", by=ADA)
    lane = await desk.row("lane", "account:ada")
    assert lane["parked_until"] is None
    assert lane["runnable_at"] == datetime(2026, 5, 4, 13, tzinfo=UTC)


async def test_an_account_that_cannot_send_is_not_resumed(desk: Desk) -> None:
    await paused_over_a_day(desk)
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE account SET state = 'needs_reconnect' WHERE id = 'ada'")
    )
    assert await desk.run(resume, account_id="ada", by=ADA) == NotConnected("needs_reconnect")
    assert (await desk.queue()).paused


async def test_a_timed_pause_is_found_when_it_ends(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    until = MONDAY + timedelta(hours=1)
    await desk.run(pause, account_id="ada", reason="x", by=ADA, until=until)
    find = await desk.operations.read(lambda tx, _: ended(tx, MONDAY))
    assert find == []
    found = await desk.operations.read(lambda tx, _: ended(tx, until))
    assert found == [("ada-and-friends", "ada")]


async def test_an_empty_queue_resumes_without_a_choice_to_make(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.run(pause, account_id="ada", reason="x", by=ADA)
    answer = await desk.run(resume, account_id="ada", by=ADA)
    assert isinstance(answer, Resumed)
    assert (answer.held, answer.was_paused, (await desk.queue()).paused) == ((), True, False)


async def test_a_pause_ends_by_itself_without_weekly_slots_too(desk: Desk) -> None:
    ids = [await desk.by_hand(MONDAY + timedelta(hours=n)) for n in (1, 2)]
    until = MONDAY + timedelta(hours=4)
    await desk.operations.run(
        lambda tx, _: lanes.pause(
            tx, workspace_id=HOME, scope="account:ada", reason="storm", until=until
        )
    )
    desk.now = until
    assert await desk.operations.run(lambda tx, _: ended(tx, desk.now)) == [(HOME, "ada")]
    answer = await desk.run(resume, account_id="ada", by="system")
    assert isinstance(answer, Resumed)
    assert (answer.held, answer.was_paused) == (tuple(ids), True)
    assert [ticket.id for ticket in await desk.claim()] == ids[:1]  # spaced
    assert not (await desk.row("lane", "account:ada"))["paused"]


async def test_an_account_that_is_not_there_cannot_be_resumed(desk: Desk) -> None:
    assert isinstance(await desk.run(resume, account_id="nobody", by=ADA), NoQueue)


async def test_a_pause_whose_end_has_passed_is_refused(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    for until in (desk.now, desk.now - timedelta(days=1)):
        answer = await desk.run(pause, account_id="ada", reason="recall", by=ADA, until=until)
        assert isinstance(answer, PauseOver)
    assert not (await desk.queue()).paused


async def test_only_what_came_due_says_so_after_a_shift(desk: Desk) -> None:
    await paused_over_a_day(desk)
    await desk.run(resume, account_id="ada", by=ADA)
    rows = await desk.rows("SELECT post_id, reason FROM delivery ORDER BY post_id")
    late = "moved on: it came due while nothing was sent"
    behind = "moved on: it made room for late posts"
    assert [row["reason"] for row in rows] == [late] * 4 + [behind] * 2


@pytest.mark.parametrize("dry_run", [True, False])
async def test_send_says_the_times_that_hold_the_days_maximum_included(
    desk: Desk, dry_run: bool
) -> None:
    await paused_over_a_day(desk)
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE queue SET max_per_day = 2 WHERE account_id = 'ada'")
    )
    words = {"account_id": "ada", "by": ADA, "choice": ResumeChoice.SEND}
    answer = await desk.run(resume, **words, dry_run=dry_run)
    assert isinstance(answer, Resumed)
    if dry_run:
        assert await desk.run(resume, **words) == answer
    zone = (await desk.queue()).schedule.zone
    due = await desk.rows("SELECT id, due_at FROM delivery WHERE state = 'scheduled'")
    assert {m.id: m.now_at for m in answer.moved}.items() <= {
        row["id"]: row["due_at"] for row in due
    }.items()
    days = Counter(local_day(row["due_at"], zone) for row in due)
    assert days.most_common(1)[0][1] == 2, "nothing is left to move when it is sent"
    for day in range(6):
        desk.now = TOMORROW + timedelta(days=day)
        moved = await desk.run(move_over_daily_max, account_id="ada")
        assert (moved.moved, moved.full) == ((), ())
