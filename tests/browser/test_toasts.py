"""Short words at the edge: a refusal is seen as one, covers nothing that one presses, and leaves by a key."""

from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.look import hindrances, snap, still
from tests.browser.stage import TEXTS, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 720}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 760}, "has_touch": True}
# What is pressed most, and lies under the words.
COVERED = """() => {
  const words = [...document.querySelectorAll('.mantine-Notification-root')].map((each) => each.getBoundingClientRect());
  // The menu scrolls: what is below its lower edge is not to be seen.
  const edge = (each) => each.closest('nav')?.getBoundingClientRect().top + (each.closest('nav')?.clientHeight ?? 0) || Infinity;
  const meets = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  return [...document.querySelectorAll('header button, header input, nav a, main button, main a')]
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().top < edge(each) && words.some((word) => meets(word, each.getBoundingClientRect())))
    .map((each) => each.textContent || each.getAttribute('aria-label'));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_refusal_is_seen_as_one_and_leaves_at_escape(stage: Stage, scheme: str) -> None:
    page = await stage.visit(
        "ada", "queue?account=mastodon", color_scheme=scheme, deaf=True, **DESK
    )
    await refuse(page)
    await expect(page.get_by_role("alert").locator("svg").first).to_be_visible()
    await snap(page, f"refusal-{scheme}", whole=False)
    assert await hindrances(page) == []
    assert await page.evaluate(COVERED) == []

    await page.keyboard.press("Escape")

    await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_on_a_telephone_what_ends_at_the_lower_edge_makes_room(
    stage: Stage, scheme: str
) -> None:
    page = await stage.visit(
        "ada", "queue?account=mastodon", color_scheme=scheme, deaf=True, **PHONE
    )
    await refuse(page)
    await still(page)
    await page.evaluate("() => window.scrollTo(0, document.documentElement.scrollHeight)")
    await snap(page, f"refusal-phone-{scheme}", whole=False)
    assert await page.evaluate(COVERED) == []
    assert await hindrances(page) == []


async def test_on_a_telephone_the_button_that_sends_stays_in_sight(stage: Stage) -> None:
    page = await stage.visit("ada", "compose?account=mastodon", deaf=True, **PHONE)
    await page.get_by_role("textbox", name=t("composer.text")).first.fill("We open on Friday")
    send = page.get_by_role("region", name=t("composer.whenToSend")).get_by_role("button").first
    await expect(send).to_contain_text("Add to queue: ")  # with the time that the dry run answered
    await page.context.set_offline(True)
    await send.click()
    alert = page.get_by_role("alert").filter(has_text=t("ui.thatDidntWork"))
    await expect(alert).to_be_visible()
    await snap(page, "refusal-phone-composer", whole=False)
    place, word = await send.bounding_box(), await alert.bounding_box()
    assert place is not None
    assert word is not None
    assert place["y"] + place["height"] <= word["y"]


async def test_escape_closes_a_dialog_before_the_word_behind_it(stage: Stage) -> None:
    page = await stage.visit("ada", "queue?account=mastodon", deaf=True, **DESK)
    await refuse(page)
    await page.get_by_role("button", name=t("queue.pause")).click()
    await expect(page.get_by_role("dialog")).to_be_visible()

    await page.keyboard.press("Escape")

    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.get_by_role("alert")).to_be_visible()


async def refuse(page: Page) -> None:
    """Do what cannot be done: without a line nothing is skipped."""
    await expect(page.get_by_text(TEXTS[0])).to_be_visible()
    await page.context.set_offline(True)
    await page.get_by_role("button", name=t("queue.skip")).first.click()
    await expect(page.get_by_role("alert").filter(has_text=t("ui.thatDidntWork"))).to_be_visible()
    await page.context.set_offline(False)
