"""The calendar in a browser: one truth in every view and zone, free slots, moving by mouse and by keys."""

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.look import hindrances, snap
from tests.browser.stage import TEXTS, Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


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
    await page.get_by_text("Mine", exact=True).click()
    await expect(page.get_by_text("All times are New York time.")).to_be_visible()
    await expect(entry(page, TEXTS[0])).to_contain_text("11:30")


async def test_the_day_on_which_clocks_change_is_marked(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar")
    await expect(page.get_by_text("Clocks go back one hour on this day")).to_be_visible()
    await page.get_by_role("button", name="Later").click()
    await expect(page.get_by_text("Clocks go back one hour on this day")).to_have_count(0)


async def test_a_dragged_post_comes_to_rest_on_a_free_slot_and_can_go_back(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar", viewport={"width": 1280, "height": 1300})
    await page.get_by_role("combobox", name="Accounts").fill("hall@music")
    await page.get_by_role("option", name="@hall@music.example").click()
    ghost = page.locator(".calendar-entry[data-kind=ghost]", has_text="17:30").first
    await expect(ghost).to_be_visible()
    post = entry(page, TEXTS[5])
    await post.scroll_into_view_if_needed()
    start, end = await post.bounding_box(), await ghost.bounding_box()
    assert start is not None
    assert end is not None
    await page.mouse.move(start["x"] + 20, start["y"] + 5)
    await page.mouse.down()
    await page.mouse.move(start["x"] + 24, start["y"] + 12)
    await page.mouse.move(end["x"] + 20, end["y"] + 12, steps=10)
    await page.mouse.up()

    await expect(page.get_by_text("Now goes out Sat 24 Oct, 17:30.")).to_be_visible()
    (row,) = await stage.rows("SELECT due_at FROM delivery WHERE post_id = :id", id=stage.posts[5])
    assert row["due_at"].isoformat() == "2026-10-24T15:30:00+00:00"
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("Now goes out Sat 24 Oct, 09:00.")).to_be_visible()


async def test_a_post_is_moved_by_keys_from_its_own_dialog(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar")
    await expect(entry(page, TEXTS[0])).to_be_visible()
    await page.locator("a,[tabindex='0']", has=entry(page, TEXTS[0])).last.focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Account (Berlin)")
    await snap(page, "calendar-entry")
    assert await hindrances(page) == []
    await dialog.get_by_label("Or to a time of your own (Berlin)").fill("2026-10-22T12:15")
    await dialog.get_by_role("button", name="Move it").click()

    await expect(page.get_by_text("Now goes out Thu 22 Oct, 12:15.")).to_be_visible()
    await expect(entry(page, TEXTS[0])).to_contain_text("12:15")


def entry(page: Page, text: str) -> Locator:
    return page.locator(".calendar-entry[data-kind=entry]", has_text=text).first
