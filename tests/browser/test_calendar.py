"""The calendar in a browser: one truth in every view and zone, free slots, moving by mouse and by keys."""

from datetime import datetime

import pytest
from playwright.async_api import Locator, Page, expect

from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.sql.tx import Tx
from tests.browser.carry import drag, type_time
from tests.browser.look import hindrances, snap
from tests.browser.stage import HOME, TEXTS, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
DRAFT = "A look behind the organ"


async def test_the_same_posts_stand_in_month_week_day_and_agenda(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar")
    for view, first in (
        ("Week", "17:30"),
        ("Month", "17:30"),
        ("Agenda", "17:30"),
        ("Day", "17:30"),
    ):
        await page.get_by_text(view, exact=True).click()
        await expect(entry(page, TEXTS[0])).to_contain_text(first)
        await snap(page, f"calendar-{view.lower()}")
        assert await hindrances(page) == [], view


async def test_the_zone_is_the_readers_choice_and_always_said(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar", timezone_id="America/New_York")
    await expect(entry(page, TEXTS[0])).to_contain_text("17:30")
    await page.get_by_text(t("calendar.mine"), exact=True).click()
    await expect(page.get_by_text("All times are New York time.")).to_be_visible()
    await expect(entry(page, TEXTS[0])).to_contain_text("11:30")


async def test_the_day_on_which_clocks_change_is_marked(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar")
    await expect(page.get_by_text("Clocks go back one hour on this day")).to_be_visible()
    await page.get_by_role("button", name=t("calendar.later")).click()
    await expect(page.get_by_text("Clocks go back one hour on this day")).to_have_count(0)


async def test_a_dragged_post_comes_to_rest_on_a_free_slot_and_can_go_back(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar", viewport={"width": 1280, "height": 1300})
    await page.get_by_role("combobox", name=t("calendar.accounts")).fill("hall@music")
    await page.get_by_role("option", name="@hall@music.example").click()
    ghosts = page.locator(".calendar-entry[data-kind=ghost]")
    await expect(ghosts.filter(has_text="hall.example")).to_have_count(0)  # the other account's
    await settled(page)
    await drag(
        page,
        entry(page, TEXTS[5]),
        ghosts.filter(has_text="17:30").first,
        hint=hint(page),
        message="Takes the slot Sat 24 Oct, 17:30.",
    )
    await page.mouse.up()

    await expect(page.get_by_text("Now goes out Sat 24 Oct, 17:30 ")).to_be_visible()
    assert await times_of(stage, stage.posts[5]) == [("2026-10-24 15:30", "2026-10-24 15:30")]
    await page.get_by_role("button", name=t("ui.undo")).click()
    await expect(page.get_by_text("Now goes out Sat 24 Oct, 09:00 ")).to_be_visible()
    assert await times_of(stage, stage.posts[5]) == [("2026-10-24 07:00", "2026-10-24 07:00")]


async def test_between_slots_a_post_is_timed_by_hand_and_that_is_said_before(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar", viewport={"width": 1280, "height": 1300})
    await settled(page)
    await drag(
        page,
        entry(page, TEXTS[5]),
        entry(page, TEXTS[3]),
        hint=hint(page),
        message="is between slots. It gets a fixed time",
        at=[(20, below) for below in (150, 190, 110, 230)],
    )
    await snap(page, "calendar-by-hand", whole=False)
    await page.mouse.up()

    await expect(page.get_by_text("It has a fixed time that the queue won't move.")).to_be_visible()
    ((_, slot),) = await times_of(stage, stage.posts[5])
    assert slot is None
    await page.get_by_role("button", name=t("ui.undo")).click()
    await expect(page.get_by_text("Now goes out Sat 24 Oct, 09:00 ")).to_be_visible()
    assert await times_of(stage, stage.posts[5]) == [("2026-10-24 07:00", "2026-10-24 07:00")]


async def test_a_draft_is_dragged_from_the_tray_onto_a_free_slot_and_taken_back(
    stage: Stage,
) -> None:
    id_ = await stage.runtime.operations.run(lambda tx, now: _draft(tx, now, stage))
    page = await stage.visit("ada", "calendar", viewport={"width": 1500, "height": 1300})
    await settled(page)
    await drag(
        page,
        page.get_by_role("listitem").filter(has_text=DRAFT),
        page.locator(".calendar-entry[data-kind=ghost]", has_text="@hall@music").first,
        hint=hint(page),
        message="Takes the slot Sat 24 Oct, 17:30, @hall@music.example.",
    )
    await snap(page, "calendar-tray", whole=False)
    await page.mouse.up()

    await expect(page.get_by_text("Now goes out Sat 24 Oct, 17:30 ")).to_be_visible()
    assert await times_of(stage, id_) == [("2026-10-24 15:30", "2026-10-24 15:30")]
    await expect(page.get_by_text(t("calendar.everyDraftHasATime"))).to_be_visible()
    await page.get_by_role("button", name=t("ui.undo")).click()
    await expect(page.get_by_text(t("calendar.movedBackItHasNoDate"))).to_be_visible()
    await expect(page.get_by_role("link", name=DRAFT)).to_be_visible()


async def test_a_draft_is_given_a_slot_without_dragging(stage: Stage) -> None:
    id_ = await stage.runtime.operations.run(lambda tx, now: _draft(tx, now, stage))
    page = await stage.visit("ada", "calendar")
    await page.get_by_role("button", name=f"Set a time: {DRAFT}").press("Enter")
    dialog = page.get_by_role("dialog", name=t("calendar.setATime"))
    account = dialog.get_by_role("combobox", name=t("calendar.account"))
    await account.fill("hall@music")
    await expect(page.get_by_role("option")).to_have_count(1)
    await pick(page, account, "@hall@music.example · Mastodon")
    slot = dialog.get_by_role("combobox", name=t("calendar.aFreeSlot"))
    await expect(slot).to_be_enabled()
    await slot.press("ArrowDown")
    await pick(page, slot, "Sat 24 Oct, 17:30")
    await snap(page, "calendar-place")
    assert await hindrances(page) == []
    await dialog.get_by_role("button", name="Goes out Sat 24 Oct, 17:30").press("Enter")

    await expect(page.get_by_text("Now goes out Sat 24 Oct, 17:30 ")).to_be_visible()
    assert await times_of(stage, id_) == [("2026-10-24 15:30", "2026-10-24 15:30")]


async def test_a_post_is_moved_by_keys_from_its_own_dialog(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar")
    await settled(page)
    await page.locator("a,[tabindex='0']", has=entry(page, TEXTS[0])).last.press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Account (Berlin)")
    await snap(page, "calendar-entry")
    assert await hindrances(page) == []
    await type_time(dialog, "Or a custom time", "Berlin", "2026-10-22", "12:15")
    await dialog.get_by_role("button", name=t("calendar.move")).click()

    await expect(page.get_by_text("Now goes out Thu 22 Oct, 12:15 ")).to_be_visible()
    await expect(entry(page, TEXTS[0])).to_contain_text("12:15")


@pytest.mark.parametrize(
    ("to", "message", "times"),
    [
        ({"wall": "2026-10-23T13:45"}, "Fri 23 Oct, 13:45", ("2026-10-23 11:45", None)),
        ({"slot": "Sat 24 Oct, 17:30"}, "Sat 24 Oct, 17:30", ("2026-10-24 15:30",) * 2),
    ],
    ids=["by-hand", "slot"],
)
async def test_who_missed_a_move_is_told_where_the_post_stands_and_overrules_nobody_unseen(
    stage: Stage, to: dict[str, str], message: str, times: tuple[str, str | None]
) -> None:
    ada = await stage.visit("ada", "calendar")
    ben = await stage.visit("ben", "calendar", deaf=True)
    for page in (ada, ben):
        await settled(page)
    await move(ada, TEXTS[0], wall="2026-10-22T12:15")
    await expect(ada.get_by_text("Now goes out Thu 22 Oct, 12:15 ")).to_be_visible()
    await expect(entry(ben, TEXTS[0])).to_contain_text("17:30")  # nobody told him

    await move(ben, TEXTS[0], **to)

    told = ben.get_by_role("alert").filter(has_text=t("calendar.notMoved"))
    await expect(told).to_contain_text(
        "Somebody moved it meanwhile: it goes out Thu 22 Oct, 12:15 Berlin now."
    )
    dialog = ben.get_by_role("dialog")
    await expect(dialog.get_by_role("row", name="Account (Berlin)")).to_contain_text(
        "Thu 22 Oct, 12:15"
    )
    await snap(ben, "calendar-moved-meanwhile")
    assert await times_of(stage, stage.posts[0]) == [("2026-10-22 10:15", None)]

    await dialog.get_by_role("button", name=t("calendar.move")).click()  # now that he has seen it

    await expect(ben.get_by_text(f"Now goes out {message} ")).to_be_visible()
    for page in (ada, ben):
        await expect(entry(page, TEXTS[0])).to_contain_text(message[-5:])
    assert await times_of(stage, stage.posts[0]) == [times]


async def test_an_undo_does_not_overrule_who_moved_the_post_after_it(stage: Stage) -> None:
    ada = await stage.visit("ada", "calendar", deaf=True)
    ben = await stage.visit("ben", "calendar")
    for page in (ada, ben):
        await settled(page)
    await move(ada, TEXTS[0], wall="2026-10-22T12:15")
    await expect(entry(ben, TEXTS[0])).to_contain_text("12:15")
    await move(ben, TEXTS[0], wall="2026-10-23T13:45")
    await expect(ben.get_by_text("Now goes out Fri 23 Oct, 13:45 ")).to_be_visible()

    await ada.get_by_role("button", name=t("ui.undo")).click()

    await expect(ada.get_by_role("alert").filter(has_text=t("calendar.notMoved"))).to_contain_text(
        "it goes out Fri 23 Oct, 13:45 Berlin now"
    )
    await expect(entry(ada, TEXTS[0])).to_contain_text("13:45")
    assert await times_of(stage, stage.posts[0]) == [("2026-10-23 11:45", None)]


async def test_a_slot_that_somebody_took_meanwhile_is_refused_and_the_truth_is_shown(
    stage: Stage,
) -> None:
    ada = await stage.visit("ada", "calendar")
    ben = await stage.visit("ben", "calendar", deaf=True)
    for page in (ada, ben):
        await settled(page)
    await move(ada, TEXTS[5], slot="Sat 24 Oct, 17:30")
    await expect(ada.get_by_text("Now goes out Sat 24 Oct, 17:30 ")).to_be_visible()

    await move(ben, TEXTS[4], slot="Sat 24 Oct, 17:30")

    await expect(ben.get_by_role("alert").filter(has_text=t("calendar.notMoved"))).to_be_visible()
    await snap(ben, "calendar-slot-taken")
    await ben.keyboard.press("Escape")
    await expect(entry(ben, TEXTS[5])).to_contain_text("17:30")
    assert await times_of(stage, stage.posts[4]) == [("2026-10-23 15:30", "2026-10-23 15:30")]


async def test_what_is_in_the_hand_can_be_let_go_though_others_moved_theirs_meanwhile(
    stage: Stage,
) -> None:
    ada = await stage.visit("ada", "calendar", viewport={"width": 1280, "height": 1300})
    ben = await stage.visit("ben", "calendar")
    for page in (ada, ben):
        await settled(page)
    free = ada.locator(".calendar-entry[data-kind=ghost]", has_text="@hall@music")
    slot = "Takes the slot Sat 24 Oct, 17:30."
    await drag(ada, entry(ada, TEXTS[5]), free.first, hint=hint(ada), message=slot)

    async with ada.expect_response(lambda read: "/calendar?" in read.url):
        await move(ben, TEXTS[0], wall="2026-10-22T12:15")
    await settled(ada)
    await ada.mouse.up()

    await expect(ada.get_by_text("Now goes out Sat 24 Oct, 17:30 ")).to_be_visible()
    await expect(entry(ada, TEXTS[0])).to_contain_text("12:15")
    assert await times_of(stage, stage.posts[5]) == [("2026-10-24 15:30", "2026-10-24 15:30")]


async def test_a_draft_in_the_hand_can_be_let_go_though_others_moved_theirs_meanwhile(
    stage: Stage,
) -> None:
    id_ = await stage.runtime.operations.run(lambda tx, now: _draft(tx, now, stage))
    ada = await stage.visit("ada", "calendar", viewport={"width": 1500, "height": 1300})
    ben = await stage.visit("ben", "calendar")
    for page in (ada, ben):
        await settled(page)
    await drag(
        ada,
        ada.get_by_role("listitem").filter(has_text=DRAFT),
        ada.locator(".calendar-entry[data-kind=ghost]", has_text="@hall@music").first,
        hint=hint(ada),
        message="Takes the slot Sat 24 Oct, 17:30, @hall@music.example.",
    )

    await move(ben, TEXTS[0], wall="2026-10-22T12:15")
    await expect(entry(ada, TEXTS[0])).to_contain_text("12:15")
    await ada.mouse.up()

    await expect(ada.get_by_text("Now goes out Sat 24 Oct, 17:30 ")).to_be_visible()
    assert await times_of(stage, id_) == [("2026-10-24 15:30", "2026-10-24 15:30")]


async def move(page: Page, text: str, *, wall: str = "", slot: str = "") -> None:
    """Move a post from its own dialog, to a time of one's own or to a free slot."""
    await entry(page, text).click()
    dialog = page.get_by_role("dialog")
    if slot:
        free = dialog.get_by_role("combobox", name=t("calendar.aFreeSlot"))
        await free.click()
        await pick(page, free, slot)
    else:
        await type_time(dialog, "Or a custom time", "Berlin", *wall.split("T"))
    await dialog.get_by_role("button", name=t("calendar.move")).click()


async def settled(page: Page) -> None:
    """Wait until what is asked for is what is shown."""
    await expect(entry(page, TEXTS[0])).to_be_visible()
    await expect(page.locator(".calendar")).to_have_attribute("aria-busy", "false")


def hint(page: Page) -> Locator:
    return page.get_by_role("status", name=t("calendar.dropHere"))


async def pick(page: Page, field: Locator, name: str) -> None:
    """Choose from the open list."""
    await page.get_by_role("option", name=name).click()
    await expect(field).to_have_value(name)


async def times_of(stage: Stage, post_id: str) -> list[tuple[str, str | None]]:
    """When it is due, and which slot it holds."""
    rows = await stage.rows(
        "SELECT due_at, slot_at FROM delivery WHERE post_id = :id AND state <> 'canceled'",
        id=post_id,
    )
    return [
        (f"{row['due_at']:%Y-%m-%d %H:%M}", row["slot_at"] and f"{row['slot_at']:%Y-%m-%d %H:%M}")
        for row in rows
    ]


def _draft(tx: Tx, now: datetime, stage: Stage) -> str:
    new = NewPost(workspace_id=HOME, text=DRAFT)
    made = create(tx, now, new, by=f"member:{stage.members['ada']}", approve=True)
    assert isinstance(made, Created)
    return made.id


def entry(page: Page, text: str) -> Locator:
    return page.locator(".calendar-entry[data-kind=entry]", has_text=text).first
