"""What nothing sent in time: within the grace spaced, beyond it missed, and one step back."""

from datetime import timedelta

import pytest

from cadenza.queues.missed import Rescued, list_missed, rescue_missed, space
from cadenza.queues.model import NoQueue
from cadenza.queues.resume import ResumeChoice, Resumed
from tests.queues.conftest import ADA, DAILY, MONDAY, Desk


async def missed(desk: Desk) -> None:
    """Two posts of today, both more than an hour late: the pipeline calls them missed."""
    await desk.week(slots=DAILY)
    await desk.fill(3)
    desk.now = MONDAY + timedelta(hours=7)
    while await desk.claim_and_permit():
        pass


async def test_beyond_the_grace_they_are_missed(desk: Desk) -> None:
    await missed(desk)
    rows = await desk.run(list_missed, account_id="ada")
    assert [row["post_id"] for row in rows] == ["p0001", "p0002"]


async def test_missed_posts_take_the_next_free_slots_in_order(desk: Desk) -> None:
    await missed(desk)
    answer = await desk.run(rescue_missed, account_id="ada", choice=ResumeChoice.SHIFT, by=ADA)
    assert isinstance(answer, Rescued)
    assert await desk.order() == [
        ("p0003", "2026-05-05T09:00"),
        ("p0001", "2026-05-05T12:00"),
        ("p0002", "2026-05-05T15:00"),
    ]
    assert await desk.run(list_missed, account_id="ada") == []


async def test_a_missed_message_takes_no_slot_of_the_queue(desk: Desk) -> None:
    await missed(desk)
    message = await desk.by_hand(MONDAY)
    await desk.operations.run(
        lambda tx, _: tx.run(
            "UPDATE delivery SET action = 'message', state = 'missed' WHERE id = :id", id=message
        )
    )
    await desk.run(rescue_missed, account_id="ada", choice=ResumeChoice.SHIFT, by=ADA)
    row = await desk.row("delivery", message)
    assert (row["state"], row["slot_at"]) == ("missed", None)


async def test_missed_posts_go_now_spaced(desk: Desk) -> None:
    await missed(desk)
    answer = await desk.run(rescue_missed, account_id="ada", choice=ResumeChoice.SEND, by=ADA)
    assert isinstance(answer, Rescued)
    assert [m.now_at - desk.now for m in answer.moved] == [timedelta(), timedelta(minutes=5)]
    assert len(await desk.send()) == 1
    sent = await desk.rows("SELECT post_id FROM delivery WHERE state = 'sent'")
    assert sent == [{"post_id": "p0001"}]


async def test_missed_posts_go_back_to_the_drafts_by_name(desk: Desk) -> None:
    await missed(desk)
    first, second = await desk.run(list_missed, account_id="ada")
    answer = await desk.run(
        rescue_missed,
        account_id="ada",
        choice=ResumeChoice.DRAFT,
        by=ADA,
        ids=[second["id"], "nobody"],
    )
    assert isinstance(answer, Rescued)
    assert (answer.drafts, answer.gone) == ((second["id"],), ("nobody",))
    left = await desk.run(list_missed, account_id="ada")
    assert [row["id"] for row in left] == [first["id"]]


@pytest.mark.parametrize("minutes", [5, 10])
async def test_after_an_outage_what_is_within_the_grace_goes_spaced(
    desk: Desk, minutes: int
) -> None:
    often = {str(day): ["10:10", "10:20", "10:30"] for day in range(7)}
    await desk.week(slots=often)
    await desk.fill(3)
    desk.now = MONDAY + timedelta(minutes=75)  # 11:15: the first is 65 minutes late
    answer = await desk.run(
        space, account_id="ada", by="system", spacing=timedelta(minutes=minutes)
    )
    assert isinstance(answer, Resumed)
    assert [m.post_id for m in answer.moved] == ["p0002", "p0003"]
    assert [m.now_at - desk.now for m in answer.moved] == [
        timedelta(),
        timedelta(minutes=minutes),
    ]


@pytest.mark.parametrize("weekly", [True, False])
async def test_a_missed_post_that_goes_now_passes_its_days_number_of_posts(
    desk: Desk, *, weekly: bool
) -> None:
    if weekly:
        await desk.week(slots=DAILY, max_per_day=1)
    else:
        await desk.operations.run(lambda tx, _: tx.run("UPDATE workspace SET max_per_day = 1"))
    await desk.by_hand(MONDAY + timedelta(minutes=1))
    desk.now = MONDAY + timedelta(minutes=2)
    assert len(await desk.send()) == 1
    late = await desk.by_hand(MONDAY + timedelta(minutes=3))
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET state = 'missed' WHERE id = :id", id=late)
    )
    desk.now = MONDAY + timedelta(hours=4)
    answer = await desk.run(rescue_missed, account_id="ada", choice=ResumeChoice.SEND, by=ADA)
    assert isinstance(answer, Rescued), answer
    assert "more than its 1" in answer.warnings[0]
    await desk.send()
    assert (await desk.row("delivery", late))["state"] == "sent"


async def test_without_weekly_slots_a_missed_post_can_become_a_draft_and_has_no_next_slot(
    desk: Desk,
) -> None:
    late = await desk.by_hand(MONDAY)
    await desk.operations.run(
        lambda tx, _: tx.run("UPDATE delivery SET state = 'missed' WHERE id = :id", id=late)
    )
    ask = {"account_id": "ada", "by": ADA}
    assert isinstance(await desk.run(rescue_missed, choice=ResumeChoice.SHIFT, **ask), NoQueue)
    answer = await desk.run(rescue_missed, choice=ResumeChoice.DRAFT, **ask)
    assert isinstance(answer, Rescued)
    assert answer.drafts == (late,)
    unknown = {**ask, "account_id": "nobody"}
    assert isinstance(await desk.run(rescue_missed, choice=ResumeChoice.SEND, **unknown), NoQueue)


def test_the_words_of_before_are_still_understood() -> None:
    assert ResumeChoice("next_slot") is ResumeChoice.SHIFT
    assert ResumeChoice("now") is ResumeChoice.SEND
    with pytest.raises(ValueError, match="later"):
        ResumeChoice("later")
