"""What holds for every screen: nothing hinders people, nothing is wider than a telephone, both colour schemes."""

import pytest
from playwright.async_api import expect

from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")
SCREENS = (
    *("queue?account=mastodon", "calendar", "accounts", "accounts?account=mastodon", "activity"),
    *("activity?time=ahead", "jobs", "jobs/list", "jobs/schedules", "system", "settings/notices"),
    *("compose?account=mastodon", "drafts", "drafts/rules", "drafts/categories", "attention"),
    "data",
)
PLAIN = str.maketrans("?=/", "---")
PHONE = {"width": 390, "height": 844}


async def test_no_screen_hinders_people_on_a_telephone_or_in_the_dark(stage: Stage) -> None:
    phone = await stage.visit("ada", "queue", viewport=PHONE, color_scheme="dark", has_touch=True)
    for screen in SCREENS:
        await phone.goto(f"{stage.address}/w/{HOME}/{screen}")
        await expect(phone.locator("main h1")).to_be_attached()
        await expect(phone.get_by_role("status", name="Loading")).to_have_count(0)
        await snap(phone, f"phone-dark-{screen.translate(PLAIN)}")
        assert not await overflows(phone), screen
        assert await hindrances(phone) == [], screen


async def test_no_screen_hinders_people_at_a_desk(stage: Stage) -> None:
    desk = await stage.visit("ada", "queue")
    for screen in SCREENS:
        await desk.goto(f"{stage.address}/w/{HOME}/{screen}")
        await expect(desk.locator("main h1")).to_be_attached()
        await expect(desk.get_by_role("status", name="Loading")).to_have_count(0)
        assert await hindrances(desk) == [], screen


async def test_a_screen_says_that_the_server_cannot_be_reached_and_offers_to_try_again(
    stage: Stage,
) -> None:
    # Deaf, or the line that comes back would read everything anew before the button is pressed.
    page = await stage.visit("ada", "queue?account=mastodon", deaf=True)
    await expect(page.get_by_role("button", name="Move:").first).to_be_visible()
    await page.context.set_offline(True)
    await page.get_by_role("button", name="Skip").first.click()
    await expect(
        page.get_by_text("The server cannot be reached. Nothing was changed.")
    ).to_be_visible()
    await page.get_by_role("combobox", name="Account").click()
    await page.get_by_role("option", name="hall.example", exact=False).first.click()
    await expect(page.get_by_text("You are offline")).to_be_visible()
    await page.context.set_offline(False)
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_text("New York")).to_be_visible()


async def test_what_happened_while_the_line_was_down_shows_when_it_is_back(stage: Stage) -> None:
    page = await stage.visit("ada", "accounts", deaf=True)
    await expect(page.get_by_text("Not live at the moment")).to_be_visible()
    card = page.get_by_role("button", name="@hall@music.example")
    await expect(card).to_contain_text("Connected")
    await stage.house.operations.run(
        lambda tx, _: tx.run(
            "UPDATE lane SET paused = :yes, pause_reason = 'a wrong link' WHERE id = 'account:mastodon'",
            yes=True,
        )
    )

    await page.context.unroute("**/events")

    await expect(card).to_contain_text("A wrong link.", timeout=30_000)
    await expect(page.get_by_text("Not live at the moment")).to_have_count(0)


async def test_the_screens_are_walked_by_keys_from_the_first_press(stage: Stage) -> None:
    page = await stage.visit("ada", "queue?account=mastodon")
    await expect(page.get_by_role("button", name="Move:").first).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "main"
