"""The queue in a browser: order changed by mouse and by keys, two people at once, a day when clocks change."""

import asyncio
from datetime import datetime, timedelta

import pytest
from playwright.async_api import Locator, Page, Route, expect

from cadenza.sql.tx import Tx
from tests.browser.carry import drag, press
from tests.browser.look import hindrances, snap
from tests.browser.stage import HOME, TEXTS, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
QUEUE = "queue?account=mastodon"


async def test_a_post_is_dragged_and_its_new_time_is_shown_before_it_is_dropped(
    stage: Stage,
) -> None:
    page = await stage.visit("ada", QUEUE)
    await drag(
        page,
        handle(page, TEXTS[0]),
        handle(page, TEXTS[2]),
        hint=page.get_by_test_id("carried"),
        message="Goes out Thu 22 Oct, 17:30",
    )
    await snap(page, "queue-dragging", whole=False)
    assert (await stage.order())[0] == TEXTS[0]

    await page.mouse.up()

    await expect(page.get_by_text("Now goes out Thu 22 Oct, 17:30 ")).to_be_visible()
    assert await stage.order() == [TEXTS[1], TEXTS[2], TEXTS[0], *TEXTS[3:]]
    await expect(line_of(page, TEXTS[0]).locator("time")).to_have_text("17:30")


async def test_a_move_can_be_undone(stage: Stage) -> None:
    page = await stage.visit("ada", QUEUE)
    await menu(page, TEXTS[3], "Move to top")
    await expect(page.get_by_text("Now goes out Wed 21 Oct, 17:30 ")).to_be_visible()
    assert (await stage.order())[0] == TEXTS[3]

    await page.get_by_role("button", name=t("ui.undo")).click()

    await expect(page.get_by_text(t("queue.movedBack"))).to_be_visible()
    assert await stage.order() == list(TEXTS)


async def test_a_post_is_moved_by_keys_alone_and_every_step_is_spoken(stage: Stage) -> None:
    page = await stage.visit("ada", QUEUE)
    await handle(page, TEXTS[1]).focus()
    spoken = page.locator("[id^=DndLiveRegion]")
    await press(page, "Space", hint=spoken, message="Picked up")
    await press(page, "ArrowDown", hint=spoken, message="Will go out Thu 22 Oct, 17:30")
    await press(page, "Space", hint=spoken, message="Dropped at Thu 22 Oct, 17:30")

    await expect(page.get_by_text("Now goes out Thu 22 Oct, 17:30 ")).to_be_visible()
    assert (await stage.order())[:3] == [TEXTS[0], TEXTS[2], TEXTS[1]]

    await handle(page, TEXTS[1]).focus()
    await page.keyboard.press("Alt+ArrowUp")
    await expect(page.get_by_text("Now goes out Thu 22 Oct, 09:00 ")).to_be_visible()
    assert await stage.order() == list(TEXTS)


@pytest.mark.parametrize("verb", ["Shuffle order", "Reverse order"])
async def test_the_whole_order_is_changed_and_put_back(stage: Stage, verb: str) -> None:
    page = await stage.visit("ada", "queue?account=mastodon")
    await expect(page.get_by_role("button", name="Move:")).to_have_count(6)
    # A seed of chance gives the same order again once in a while.
    await page.evaluate("() => { crypto.getRandomValues = (room) => room.fill(7) }")
    await page.get_by_role("button", name=t("queue.moreActionsForThisQueue")).click()
    await page.get_by_role("menuitem", name=verb).click()

    await expect(page.get_by_text("a new time.")).to_be_visible()
    order = await stage.order()
    assert sorted(order) == sorted(TEXTS)
    assert order != list(TEXTS)
    await page.get_by_role("button", name=t("ui.undo")).click()
    await expect(page.get_by_text(t("queue.theOldOrderIsBack"))).to_be_visible()
    assert await stage.order() == list(TEXTS)


async def test_two_posts_are_swapped_after_a_look_at_their_times(stage: Stage) -> None:
    page = await stage.visit("ada", "queue?account=mastodon")
    await page.get_by_role("button", name=f"More for {TEXTS[0]}").click()
    await page.get_by_role("menuitem", name=t("queue.swapDots")).click()
    dialog = page.get_by_role("dialog", name=t("queue.swapTwoPosts"))
    await dialog.get_by_role("combobox", name=t("queue.swapWith")).fill("bassoon")
    await page.get_by_role("option", name=TEXTS[4]).click()
    await expect(dialog.get_by_role("status")).to_contain_text("goes out Fri 23 Oct, 17:30")
    await snap(page, "queue-swap", whole=False)
    assert await hindrances(page) == []
    await dialog.get_by_role("button", name=t("queue.swap")).click()

    await expect(page.get_by_text(t("queue.swapped"))).to_be_visible()
    assert await stage.order() == [TEXTS[at] for at in (4, 1, 2, 3, 0, 5)]
    await page.get_by_role("button", name=t("ui.undo")).click()
    await expect(page.get_by_text(t("queue.theOldOrderIsBack"))).to_be_visible()
    assert await stage.order() == list(TEXTS)


async def test_what_another_person_does_appears_by_itself(stage: Stage) -> None:
    ada, ben = await stage.visit("ada", QUEUE), await stage.visit("ben", QUEUE)
    await expect(handle(ben, TEXTS[5])).to_be_visible()
    await menu(ada, TEXTS[5], "Move to top")

    await expect(ben.locator("[data-line]").first).to_contain_text(TEXTS[5])


async def test_what_is_in_the_hand_can_be_let_go_though_another_person_moved_theirs(
    stage: Stage,
) -> None:
    ada, ben = await stage.visit("ada", QUEUE), await stage.visit("ben", QUEUE)
    await expect(handle(ben, TEXTS[5])).to_be_visible()
    carried = ada.get_by_test_id("carried")
    said = "Goes out Thu 22 Oct, 17:30"
    await drag(ada, handle(ada, TEXTS[0]), handle(ada, TEXTS[2]), hint=carried, message=said)
    await menu(ben, TEXTS[5], "Move up")
    await expect(ada.locator("[data-line]").last).to_contain_text(TEXTS[4])

    await ada.mouse.up()

    await expect(ada.get_by_text("Now goes out Thu 22 Oct, 17:30 ")).to_be_visible()
    assert await stage.order() == [*TEXTS[1:3], TEXTS[0], TEXTS[3], TEXTS[5], TEXTS[4]]


async def test_who_comes_second_sees_the_new_order_and_decides(stage: Stage) -> None:
    ada, ben = await stage.visit("ada", QUEUE), await stage.visit("ben", QUEUE, deaf=True)
    await expect(handle(ben, TEXTS[5])).to_be_visible()
    await expect(ben.get_by_text(t("app.youreOffline"))).to_be_visible()
    await menu(ada, TEXTS[5], "Move to top")
    await expect(ada.get_by_text("Now goes out")).to_be_visible()

    await menu(ben, TEXTS[1], "Move up")

    await expect(ben.get_by_text(t("queue.yourMoveWasntSaved"))).to_be_visible()
    await expect(ben.locator("[data-line]").first).to_contain_text(TEXTS[5])
    assert (await stage.order())[:3] == [TEXTS[5], TEXTS[0], TEXTS[1]]
    await snap(ben, "queue-conflict")
    await ben.get_by_role("button", name=t("queue.moveAnyway")).click()
    await expect(ben.get_by_text("Now goes out")).to_be_visible()
    assert (await stage.order())[:3] == [TEXTS[5], TEXTS[1], TEXTS[0]]


@pytest.mark.parametrize("line", ["dead", "refused"])
async def test_a_move_that_is_not_made_goes_back_and_says_why(stage: Stage, line: str) -> None:
    page = await stage.visit("ben", QUEUE)
    first = page.locator("[data-line]").first
    await expect(first).to_contain_text(TEXTS[0])
    answer = asyncio.Event()

    async def hold(route: Route) -> None:
        await answer.wait()
        await page.context.set_offline(line == "dead")
        await (route.abort() if line == "dead" else route.continue_())

    await page.route("**/queue/order", hold)
    await menu(page, TEXTS[0], "Move down")
    await expect(first).to_contain_text(TEXTS[1])  # seen before the server has answered
    assert await stage.order() == list(TEXTS)
    await stage.runtime.operations.run(lambda tx, _: _demote(tx, stage.members["ben"]))
    answer.set()

    why = "Can't reach the server." if line == "dead" else "You are viewer here; this needs editor."
    await expect(page.get_by_role("alert").filter(has_text=t("ui.thatDidntWork"))).to_contain_text(
        why
    )
    await expect(first).to_contain_text(TEXTS[0])
    assert await stage.order() == list(TEXTS)
    await snap(page, f"queue-move-{line}")


async def test_a_post_is_taken_off_the_queue_after_a_question(stage: Stage) -> None:
    page = await stage.visit("ada", QUEUE)
    await menu(page, TEXTS[2], "Remove from queue")
    question = page.get_by_role("dialog", name=t("queue.removeThisPostFromTheQueue"))
    await expect(question).to_contain_text(
        f"@hall@music.example won't send “{TEXTS[2]}”. The post itself is kept."
    )
    await snap(page, "queue-take-off", whole=False)
    assert await hindrances(page) == []
    await question.get_by_role("button", name=t("queue.cancel")).click()
    await expect(question).to_have_count(0)
    assert await stage.order() == list(TEXTS)

    await menu(page, TEXTS[2], "Remove from queue")
    await question.get_by_role("button", name=t("queue.remove")).click()

    await expect(page.get_by_text(t("queue.removedFromTheQueue"))).to_be_visible()
    await expect(line_of(page, TEXTS[2])).to_have_count(0)
    assert await stage.order() == [text for text in TEXTS if text != TEXTS[2]]
    (post,) = await stage.rows("SELECT id FROM post WHERE id = :id", id=stage.posts[2])
    assert post["id"] == stage.posts[2]


async def test_a_slot_is_skipped_and_offered_again(stage: Stage) -> None:
    page = await stage.visit("ada", QUEUE)
    await menu(page, TEXTS[0], "Skip this slot")
    await expect(
        page.get_by_text("Wed 21 Oct, 17:30 Berlin is skipped; 6 posts moved on.")
    ).to_be_visible()
    await expect(page.get_by_text(t("queue.skipped"), exact=True)).to_be_visible()

    await page.get_by_role("button", name="Restore slot 17:30").click()

    await expect(page.get_by_text(t("queue.slotRestored"))).to_be_visible()
    assert await stage.rows("SELECT * FROM queue_skip") == []


async def test_pausing_asks_why_and_resuming_shows_what_will_happen(stage: Stage) -> None:
    page = await stage.visit("ada", QUEUE)
    await page.get_by_role("button", name=t("queue.pauseDots")).click()
    await page.get_by_role("button", name=t("queue.pause"), exact=True).click()
    await expect(page.get_by_text(t("queue.enterAReasonSoOthersKnow"))).to_be_visible()
    await page.get_by_label(t("queue.reason")).fill("Breaking news")
    await page.get_by_role("button", name=t("queue.pause"), exact=True).click()
    await expect(page.get_by_text("Paused: Breaking news")).to_be_visible()
    await stage.runtime.operations.run(_make_first_due)
    await page.reload()
    await expect(page.get_by_text(t("queue.onHold"), exact=True)).to_be_visible()

    await page.get_by_role("button", name=t("queue.resumeDots")).click()

    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_text("1 post was due. 1 post gets a new time:")).to_be_visible()
    await snap(page, "queue-resume", whole=False)
    assert await hindrances(page) == []
    await dialog.get_by_label(t("queue.moveToDrafts")).click()
    await expect(dialog.get_by_text("1 post moves to drafts.")).to_be_visible()
    await dialog.get_by_role("button", name=t("queue.resume"), exact=True).click()
    await expect(page.get_by_text(t("queue.resumed"))).to_be_visible()
    await expect(page.get_by_text("Paused: Breaking news")).to_have_count(0)


async def test_new_times_are_tried_before_they_are_saved(stage: Stage) -> None:
    page = await stage.visit("ada", QUEUE)
    await page.get_by_role("button", name=t("queue.postingTimesDots")).click()
    await expect(
        page.get_by_text("6 posts keep their time · 0 move · 0 get a fixed time")
    ).to_be_visible()
    await page.get_by_role("button", name="Remove Thursday 09:00").click()
    changes = page.get_by_label(t("queue.whatThisChanges"))
    await expect(changes).to_contain_text("5 posts keep their time · 0 move · 1 gets a fixed time")
    await expect(changes).to_contain_text(TEXTS[1])
    await snap(page, "queue-times", whole=False)
    assert await hindrances(page) == []
    before = await stage.rows("SELECT slots FROM queue WHERE account_id = 'mastodon'")

    await page.get_by_role("button", name=t("queue.saveTimes")).click()

    await expect(page.get_by_text(t("queue.postingTimesSaved"))).to_be_visible()
    await expect(page.get_by_text(t("queue.fixedTime"))).to_be_visible()
    assert await stage.rows("SELECT slots FROM queue WHERE account_id = 'mastodon'") != before


async def test_a_cleared_queue_comes_back(stage: Stage) -> None:
    page = await stage.visit("ada", QUEUE)
    await page.get_by_role("button", name=t("queue.moreActionsForThisQueue")).click()
    await page.get_by_role("menuitem", name=t("queue.clearQueueDots")).click()
    await page.get_by_role("button", name=t("queue.clearQueue"), exact=True).click()
    await expect(page.get_by_text("6 posts removed from the queue.")).to_be_visible()
    assert await stage.order() == []

    await page.get_by_role("button", name=t("ui.undo")).click()

    await expect(page.get_by_text("6 posts are back in the queue.")).to_be_visible()
    assert await stage.order() == list(TEXTS)


async def test_missed_posts_are_saved_in_one_step(stage: Stage) -> None:
    await stage.runtime.operations.run(_miss_first)
    page = await stage.visit("ada", QUEUE)
    await expect(page.get_by_text("1 post missed")).to_be_visible()
    await snap(page, "queue-missed")

    await page.get_by_role("button", name=t("queue.moveToNextFreeSlots")).click()

    await expect(page.get_by_text("1 post rescheduled.")).to_be_visible()
    await expect(page.get_by_text("1 post missed")).to_have_count(0)
    assert set(await stage.order()) == set(TEXTS)


async def test_the_day_on_which_clocks_change_is_marked_in_the_accounts_own_zone(
    stage: Stage,
) -> None:
    page = await stage.visit("ada", QUEUE, timezone_id="Pacific/Auckland")
    berlin = page.locator("section", has=page.locator("#day-2026-10-25"))
    await expect(berlin).to_contain_text("Clocks go back one hour on this day")
    await expect(berlin.locator("time").first).to_have_text("09:00")
    assert await berlin.locator("time").first.get_attribute("datetime") == "2026-10-25T08:00:00Z"

    await page.goto(f"{stage.address}/w/{HOME}/queue?account=bluesky")
    york = page.locator("section", has=page.locator("#day-2026-11-01"))
    await expect(york).to_contain_text("Clocks go back one hour on this day")
    await expect(york.locator("time").first).to_have_text("09:00")


async def test_a_viewer_sees_the_queue_and_has_nothing_to_press(stage: Stage) -> None:
    page = await stage.visit("cy", QUEUE)
    await expect(page.get_by_text(TEXTS[0])).to_be_visible()
    await expect(page.get_by_role("button", name="Move:")).to_have_count(0)
    await expect(page.get_by_role("button", name=t("queue.skip"))).to_have_count(0)
    await expect(page.get_by_role("button", name=t("queue.pauseDots"))).to_have_count(0)

    await page.get_by_role("button", name=TEXTS[0]).click()
    why = page.get_by_role("dialog", name=t("queue.details"))
    await expect(why).to_contain_text("It is due Wed 21 Oct, 17:30 Berlin")
    await expect(why.get_by_role("button", name=t("queue.publishNow"))).to_have_count(0)


async def menu(page: Page, text: str, item: str) -> None:
    await page.get_by_role("button", name=f"More for {text}").click()
    await page.get_by_role("menuitem", name=item).click()


def handle(page: Page, text: str) -> Locator:
    return page.get_by_role("button", name=f"Move: {text}")


def line_of(page: Page, text: str) -> Locator:
    return page.locator("[data-line]", has_text=text)


def _demote(tx: Tx, member_id: str) -> None:
    tx.run("UPDATE member SET role = 'viewer' WHERE id = :id", id=member_id)


def _make_first_due(tx: Tx, now: datetime) -> None:
    tx.run(
        """
        UPDATE delivery SET due_at = :past, slot_at = :past WHERE due_at = (SELECT MIN(due_at) FROM delivery)
        """,
        past=now - timedelta(minutes=5),
    )


def _miss_first(tx: Tx, now: datetime) -> None:
    tx.run(
        """
        UPDATE delivery SET due_at = :past, slot_at = NULL, state = 'missed', reason = 'it was too late'
        WHERE due_at = (SELECT MIN(due_at) FROM delivery)
        """,
        past=now - timedelta(hours=9),
    )
