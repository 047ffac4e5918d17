"""Skipping slots: one press is one slot, it is seen, and what stood there moves on."""

from datetime import UTC, datetime, timedelta

from cadenza.core.slots import Reason
from cadenza.queues.model import NoQueue
from cadenza.queues.skip import NotASlot, Skipped, list_skips, skip, skip_next, unskip
from tests.queues.conftest import ADA, BEN, DAILY, MONDAY, Desk, only

NOON = datetime(2026, 5, 4, 10, tzinfo=UTC)
THREE = NOON + timedelta(hours=3)


async def test_the_next_free_slot_is_left_out_and_says_so(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    answer = await desk.run(skip_next, account_id="ada", by=ADA, reason="lunch")
    assert isinstance(answer, Skipped)
    assert [(s.at, s.wall_time, s.by, s.reason) for s in answer.skips] == [
        (NOON, "2026-05-04T12:00", ADA, "lunch")
    ]
    added = only(await desk.add())
    assert added.at == THREE
    assert added.passed is not None
    assert (Reason.SKIPPED, NOON) in [(r.reason, r.instant) for r in added.passed.first]


async def test_pressing_twice_changes_nothing_while_one_is_pending(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    first = await desk.run(skip_next, account_id="ada", by=ADA)
    second = await desk.run(skip_next, account_id="ada", by=BEN)
    assert isinstance(first, Skipped)
    assert isinstance(second, Skipped)
    assert (second.fresh, second.skips, second.revision) == (False, first.skips, first.revision)


async def test_a_count_skips_so_many_more(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.run(skip_next, account_id="ada", by=ADA)
    more = await desk.run(skip_next, account_id="ada", by=ADA, count=2)
    assert isinstance(more, Skipped)
    assert [s.wall_time for s in more.skips] == ["2026-05-04T15:00", "2026-05-05T09:00"]
    assert only(await desk.add()).wall_time == "2026-05-05T12:00"


async def test_skip_next_passes_over_filled_slots(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(1)
    answer = await desk.run(skip_next, account_id="ada", by=ADA)
    assert isinstance(answer, Skipped)
    assert answer.skips[0].at == THREE


async def test_a_skip_is_over_by_itself(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.run(skip_next, account_id="ada", by=ADA)
    desk.now = NOON + timedelta(minutes=1)
    assert await desk.run(list_skips, account_id="ada") == []
    answer = await desk.run(skip_next, account_id="ada", by=ADA)
    assert isinstance(answer, Skipped)
    assert answer.skips[0].at == THREE


async def test_a_filled_slot_that_is_skipped_moves_its_post_and_those_behind(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.fill(3)
    answer = await desk.run(skip, account_id="ada", by=ADA, instants=[THREE])
    assert isinstance(answer, Skipped)
    assert [m.was_at for m in answer.moved] == [THREE, MONDAY + timedelta(hours=23)]
    assert await desk.order() == [
        ("p0001", "2026-05-04T12:00"),
        ("p0002", "2026-05-05T09:00"),
        ("p0003", "2026-05-05T12:00"),
    ]


async def test_several_slots_may_be_skipped_at_once_with_gaps_between(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    posts = await desk.fill(5)
    await desk.operations.run(
        lambda tx, _: tx.run("DELETE FROM delivery WHERE id = :id", id=posts[1].ids[0])
    )
    answer = await desk.run(skip, account_id="ada", by=ADA, instants=[posts[0].at, posts[3].at])
    assert isinstance(answer, Skipped)
    assert await desk.order() == [
        ("p0001", "2026-05-04T15:00"),
        ("p0003", "2026-05-05T09:00"),
        ("p0004", "2026-05-05T15:00"),
        ("p0005", "2026-05-06T09:00"),
    ]


async def test_what_is_no_slot_or_over_or_held_by_hand_cannot_be_skipped(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    odd = NOON + timedelta(minutes=1)
    past = MONDAY - timedelta(hours=1)
    answer = await desk.run(skip, account_id="ada", by=ADA, instants=[odd, past, THREE])
    assert isinstance(answer, NotASlot)
    assert answer.instants == (past, odd)
    await desk.by_hand(NOON)
    answer = await desk.run(skip, account_id="ada", by=ADA, instants=[NOON, THREE])
    assert isinstance(answer, NotASlot)
    assert answer.instants == (NOON,)
    assert await desk.run(list_skips, account_id="ada") == []


async def test_a_skip_can_be_taken_back(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.run(skip_next, account_id="ada", by=ADA, count=2)
    back = await desk.run(unskip, account_id="ada", by=BEN, instants=[THREE])
    assert isinstance(back, Skipped)
    assert [s.at for s in back.skips] == [THREE]
    assert only(await desk.add()).at == THREE
    await desk.run(unskip, account_id="ada", by=BEN)
    assert only(await desk.add()).at == NOON


async def test_a_skip_then_filled_by_hand_stays_the_truth(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    await desk.run(skip_next, account_id="ada", by=ADA)
    await desk.by_hand(NOON)
    assert len(await desk.run(list_skips, account_id="ada")) == 1
    assert only(await desk.add()).at == THREE


async def test_an_account_without_a_schedule_has_nothing_to_skip(desk: Desk) -> None:
    assert isinstance(await desk.run(skip_next, account_id="ben", by=ADA), NoQueue)
