"""A post on a slot that a person pointed at: moved or added, the queue's own from then on, or refused with the reason."""

from datetime import UTC, datetime, timedelta

import pytest

from cadenza.queues.add import Queued
from cadenza.queues.model import NoQueue, NoRoom
from cadenza.queues.move_to_slot import Answer, MovedToSlot, move_to_slot
from cadenza.queues.skip import Skipped, skip
from tests.queues.conftest import ADA, DAILY, MONDAY, Desk, only

TUESDAY_NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)  # 12:00 in Berlin


async def take(desk: Desk, post: str, at: datetime = TUESDAY_NOON, account: str = "ada") -> Answer:
    return await desk.run(move_to_slot, account_id=account, post_id=post, at=at, by=ADA)


async def place_of(desk: Desk, answer: Queued) -> tuple[datetime, datetime | None]:
    row = await desk.row("delivery", answer.ids[0])
    return row["due_at"], row["slot_at"]


async def test_a_queued_post_moves_to_the_slot_and_its_own_is_free_again(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    (first,) = await desk.fill(1)
    post = (await desk.row("delivery", first.ids[0]))["post_id"]
    moved = await take(desk, post)
    assert isinstance(moved, MovedToSlot)
    assert (moved.was_at, moved.was_slot) == (first.at, True)
    assert await place_of(desk, first) == (TUESDAY_NOON, TUESDAY_NOON)
    assert only(await desk.add(post="another")).at == first.at
    assert isinstance(await take(desk, post, first.at), NoRoom)


async def test_a_hand_timed_post_becomes_the_queues_own_on_a_slot(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    by_hand = only(await desk.add(post="mine", to=MONDAY + timedelta(hours=5, minutes=7)))
    assert (await place_of(desk, by_hand))[1] is None
    moved = await take(desk, "mine")
    assert isinstance(moved, MovedToSlot)
    assert (moved.was_at, moved.was_slot) == (by_hand.at, False)
    assert await place_of(desk, by_hand) == (TUESDAY_NOON, TUESDAY_NOON)


async def test_a_missed_post_is_on_the_road_again(desk: Desk) -> None:
    await desk.week(slots=DAILY)
    (first,) = await desk.fill(1)
    missed = "UPDATE delivery SET state = 'missed', slot_at = NULL"
    await desk.operations.run(lambda tx, _: tx.run(missed))
    post = (await desk.row("delivery", first.ids[0]))["post_id"]
    assert isinstance(await take(desk, post), MovedToSlot)
    assert (await desk.row("delivery", first.ids[0]))["state"] == "scheduled"
    assert await place_of(desk, first) == (TUESDAY_NOON, TUESDAY_NOON)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (TUESDAY_NOON + timedelta(minutes=7), "no slot then"),
        (MONDAY - timedelta(days=1, hours=-2), "over"),
    ],
)
async def test_what_is_no_slot_to_come_is_refused(desk: Desk, at: datetime, message: str) -> None:
    await desk.week(slots=DAILY)
    (first,) = await desk.fill(1)
    post = (await desk.row("delivery", first.ids[0]))["post_id"]
    answer = await take(desk, post, at)
    assert isinstance(answer, NoRoom)
    assert message in answer.message
    assert (await place_of(desk, first))[0] == first.at


async def test_a_held_or_skipped_slot_and_a_full_day_are_refused(desk: Desk) -> None:
    await desk.week(slots=DAILY, max_per_day=2)
    first, second, third = await desk.fill(3)
    post = (await desk.row("delivery", first.ids[0]))["post_id"]
    held = await take(desk, post, second.at)
    assert isinstance(held, NoRoom)
    assert "another post" in held.message
    await desk.add(post="more")  # tomorrow has two by now
    full = await take(desk, post, third.at + timedelta(hours=6))
    assert isinstance(full, NoRoom)
    assert "2 posts already" in full.message
    far = TUESDAY_NOON + timedelta(days=3)
    skipped = await desk.run(skip, account_id="ada", instants=[far], by=ADA)
    assert isinstance(skipped, Skipped)
    answer = await take(desk, post, far)
    assert isinstance(answer, NoRoom)
    assert "skipped" in answer.message


async def test_an_account_without_a_queue_says_so(desk: Desk) -> None:
    assert isinstance(await take(desk, "nobody", account="nobody"), NoQueue)
