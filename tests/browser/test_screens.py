"""What holds for every screen: nothing hinders people, nothing is wider than a telephone, both colour schemes."""

from typing import Literal

import pytest
from playwright.async_api import Page, expect

from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import TEXTS, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
# Each screen, and words that stand there only when the last of its questions is answered.
SCREENS = {
    "queue?account=mastodon": TEXTS[5],
    "calendar": TEXTS[5],
    "accounts": "The network said: the token was revoked.",
    "accounts?account=mastodon": "Edit limits",
    "activity": t("activity.nothingHasBeenSentYetCheck"),
    "activity?time=ahead": TEXTS[5],
    "jobs": "No jobs yet",
    "jobs/list": "No jobs",
    "jobs/schedules": "No schedules yet",
    "system": "No worker is running",
    "settings/notices": "Published",
    "compose?account=mastodon": "Add to queue",
    "drafts": "No drafts",
    "drafts/rules": "No rules yet",
    "drafts/categories": "No categories yet",
    "attention": "the token was revoked",
    "data": "Export everything",
    "campaigns": t("campaigns.noCampaignsYet"),
    "contacts": t("contacts.noContactsYet"),
    "contacts/import": t("contacts.exportContacts"),
    "templates/new": t("templates.withExampleValues"),
    "sequences/new": t("sequences.noAccountSendsThis"),
    "inbox": t("inbox.repliesAppearHere"),
    "limits": t("limits.limitsHeld"),
}
PLAIN = str.maketrans("?=/", "---")
PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("screen", SCREENS)
async def test_no_screen_hinders_people_on_a_telephone_in_the_dark(
    stage: Stage, screen: str
) -> None:
    phone = await stage.visit("ada", screen, viewport=PHONE, color_scheme="dark", has_touch=True)
    await complete(phone, screen)
    await snap(phone, f"phone-dark-{screen.translate(PLAIN)}")
    assert not await overflows(phone)
    assert await hindrances(phone) == []


@pytest.mark.parametrize("screen", SCREENS)
async def test_no_screen_hinders_people_at_a_desk(stage: Stage, screen: str) -> None:
    desk = await stage.visit("ada", screen)
    await complete(desk, screen)
    assert await hindrances(desk) == []


async def complete(page: Page, screen: str) -> None:
    """Wait until all of the screen is there."""
    await expect(page.locator("main h1")).to_be_attached()
    await expect(page.get_by_text(SCREENS[screen]).first).to_be_visible()
    await expect(page.get_by_role("status", name=t("ui.loading"))).to_have_count(0)
    await expect(page.locator(".calendar[aria-busy=true]")).to_have_count(0)


async def test_a_screen_says_that_the_server_cannot_be_reached_and_offers_to_try_again(
    stage: Stage,
) -> None:
    # Deaf, or the line that comes back would read everything again before the button is pressed.
    page = await stage.visit("ada", "queue?account=mastodon", deaf=True)
    await expect(page.get_by_role("button", name="Move:").first).to_be_visible()
    await page.context.set_offline(True)
    await page.get_by_role("button", name=t("queue.skip")).first.click()
    await expect(page.get_by_text(t("api.cantReachTheServerNothingWas"))).to_be_visible()
    await page.get_by_role("combobox", name=t("ui.account")).click()
    await page.get_by_role("option", name="hall.example", exact=False).first.click()
    await expect(page.get_by_text(t("ui.youreOffline"))).to_be_visible()
    again = page.get_by_role("button", name=t("ui.tryAgain"))
    await expect(again).to_be_visible()
    await page.context.set_offline(False)
    if await again.is_visible():  # the app may have noticed by itself that it is back
        await again.click()
    await expect(page.get_by_text("New York")).to_be_visible()


async def test_what_happened_while_the_line_was_down_shows_when_it_is_back(stage: Stage) -> None:
    page = await stage.visit("ada", "accounts", deaf=True)
    await expect(page.get_by_text(t("app.youreOffline"))).to_be_visible()
    card = page.get_by_role("button", name="@hall@music.example")
    await expect(card).to_contain_text(t("ui.connected"))
    await stage.runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE lane SET paused = :yes, pause_reason = 'a wrong link' WHERE id = 'account:mastodon'",
            yes=True,
        )
    )

    await page.context.unroute("**/events")

    await expect(card).to_contain_text("A wrong link.", timeout=30_000)
    await expect(page.get_by_text(t("app.youreOffline"))).to_have_count(0)


async def test_the_screens_are_walked_by_keys_from_the_first_press(stage: Stage) -> None:
    page = await stage.visit("ada", "queue?account=mastodon")
    await expect(page.get_by_role("button", name="Move:").first).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name=t("app.skipToContent"))).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#main")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_colours_are_turned_by_a_press_and_kept(
    stage: Stage, scheme: Literal["light", "dark"]
) -> None:
    other = "light" if scheme == "dark" else "dark"
    page = await stage.visit("ada", "queue?account=mastodon", color_scheme=scheme)
    whole = page.locator("html")
    await expect(whole).to_have_attribute("data-mantine-color-scheme", scheme)

    await page.get_by_role("button", name=f"Use {other} mode").click()

    await expect(whole).to_have_attribute("data-mantine-color-scheme", other)
    await page.reload()
    await expect(whole).to_have_attribute("data-mantine-color-scheme", other)
    await expect(page.get_by_text(TEXTS[0])).to_be_visible()
    assert await hindrances(page) == []
    await page.get_by_role("button", name=f"Use {scheme} mode").click()
    await expect(whole).to_have_attribute("data-mantine-color-scheme", scheme)
