"""Times that people type, pick or drag mean the account's clock, whatever zone their browser is in."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.async_api import Page, expect

from tests.browser.carry import drag, type_time
from tests.browser.look import snap
from tests.browser.stage import HOME, TEXTS, Stage
from tests.browser.test_calendar import entry, hint, settled, times_of
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
# West and east of both accounts (Berlin, New York), and off by three quarters of an hour.
BROWSERS = ("America/Los_Angeles", "Europe/Berlin", "Pacific/Chatham")
WORDS = "Typed on another clock"


async def due(stage: Stage, words: str = WORDS) -> list[str]:
    rows = await stage.rows(
        """
        SELECT delivery.due_at, delivery.wall_time, delivery.zone FROM delivery
        JOIN post ON post.workspace_id = delivery.workspace_id AND post.id = delivery.post_id
        WHERE post.content LIKE :words
        """,
        words=f"%{words}%",
    )
    return [f"{row['due_at']:%Y-%m-%d %H:%M} {row['wall_time']} {row['zone']}" for row in rows]


async def compose_at_a_time(stage: Stage, zone: str) -> Page:
    page = await stage.visit("ada", "compose?account=bluesky", timezone_id=zone)
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    await page.get_by_role("button", name=t("composer.moreOptions")).click()
    await page.get_by_role("menuitem", name=t("composer.scheduleDots")).click()
    # It is 03:00 in New York, on the 21st there, wherever the browser is.
    await expect(page.get_by_label("When: date")).to_have_value("2026-10-21")
    return page


@pytest.mark.parametrize("zone", BROWSERS)
async def test_a_time_that_is_typed_is_the_accounts_wall_time(stage: Stage, zone: str) -> None:
    page = await compose_at_a_time(stage, zone)
    for day, time in (("2026-10-21", "03:30"), ("2026-10-21", "13:30"), ("2026-10-22", "09:15")):
        await type_time(page, "When", "New York", day, time)
        wall = datetime.fromisoformat(f"{day}T{time}")
        message = f"Schedule: {wall:%a %-d %b %H:%M} New York"
        await expect(page.get_by_role("button", name=message)).to_be_enabled()
        await expect(page.get_by_label("When: time in New York")).to_have_value(time)
        await expect(page.get_by_text("has passed in")).to_have_count(0)
    await snap(page, f"zone-{zone.replace('/', '-')}")

    await page.get_by_role("button", name="Schedule: Thu 22 Oct 09:15 New York").click()

    await expect(page.get_by_text("Goes out Thu 22 Oct 09:15 New York from ")).to_be_visible()
    assert await due(stage) == ["2026-10-22 13:15 2026-10-22T09:15 America/New_York"]


@pytest.mark.parametrize("zone", BROWSERS)
async def test_a_time_that_is_over_on_the_accounts_clock_is_refused(
    stage: Stage, zone: str
) -> None:
    page = await compose_at_a_time(stage, zone)
    await type_time(page, "When", "New York", "2026-10-21", "2:30")
    await expect(page.get_by_text("That time has passed in New York")).to_be_visible()
    await expect(page.get_by_text("has passed: choose a later time")).to_be_visible()
    await expect(page.get_by_role("button", name=t("composer.schedule"))).to_be_disabled()
    await type_time(page, "When", "New York", "2026-10-21", "9:1")
    await expect(page.get_by_text(t("ui.wrongTimeFormat"))).to_be_visible()
    await expect(page.get_by_role("button", name=t("composer.schedule"))).to_be_disabled()
    assert await due(stage) == []


@pytest.mark.parametrize("zone", BROWSERS)
async def test_a_pause_ends_at_the_accounts_wall_time(stage: Stage, zone: str) -> None:
    page = await stage.visit("ada", "queue?account=bluesky", timezone_id=zone)
    await page.get_by_role("button", name=t("queue.pauseDots")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(t("queue.reason")).fill("news")
    await dialog.get_by_label("Until: time in New York").fill("3:15")
    await dialog.get_by_role("button", name=t("queue.pause"), exact=True).click()
    await expect(dialog.get_by_text("Enter a date and a time")).to_be_visible()  # half is not none
    await dialog.get_by_label("Until: date").fill("2026-10-21")
    await dialog.get_by_role("button", name=t("queue.pause"), exact=True).click()
    await expect(dialog).to_be_hidden()
    (lane,) = await stage.rows(
        "SELECT paused_until FROM lane WHERE workspace_id = :home AND account_id = 'bluesky'",
        home=HOME,
    )
    assert f"{lane['paused_until']:%Y-%m-%d %H:%M}" == "2026-10-21 07:15"


@pytest.mark.parametrize("zone", BROWSERS)
async def test_a_post_in_the_calendar_moves_to_the_wall_time_that_is_typed(
    stage: Stage, zone: str
) -> None:
    page = await stage.visit("ada", "calendar", timezone_id=zone)
    await expect(page.locator(".calendar")).to_have_attribute("aria-busy", "false")
    await page.locator(".calendar-entry", has_text=TEXTS[1]).click()
    dialog = page.get_by_role("dialog")
    await type_time(dialog, "Or a custom time", "Berlin", "2026-10-23", "12:15")
    await dialog.get_by_role("button", name=t("calendar.move")).click()
    await expect(page.get_by_text("Now goes out Fri 23 Oct, 12:15 ")).to_be_visible()
    assert await due(stage, "Behind the scenes") == [
        "2026-10-23 10:15 2026-10-23T12:15 Europe/Berlin"
    ]


@pytest.mark.parametrize("zone", BROWSERS)
async def test_a_post_that_is_dragged_lands_at_the_time_that_is_shown(
    stage: Stage, zone: str
) -> None:
    page = await stage.visit(
        "ada", "calendar", timezone_id=zone, viewport={"width": 1280, "height": 1300}
    )
    await settled(page)
    await drag(
        page,
        entry(page, TEXTS[5]),
        entry(page, TEXTS[3]),
        hint=hint(page),
        message="is between slots. It gets a fixed time",
        at=[(20, below) for below in (150, 190, 110, 230)],
    )
    said = re.search(r"Fri 23 Oct, \d\d:\d\d", await hint(page).inner_text())
    assert said is not None
    await page.mouse.up()
    done = "It has a fixed time that the queue won't move."
    await expect(page.get_by_text(done)).to_be_visible()
    ((at, _),) = await times_of(stage, stage.posts[5])
    there = datetime.fromisoformat(at).replace(tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin"))
    assert f"{there:%a %-d %b, %H:%M}" == said.group()
