"""What the calendar's days look like: they begin where one's week begins, say when they are empty, and can be read."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.look import hindrances, snap
from tests.browser.stage import TEXTS, Stage
from tests.browser.test_calendar import settled
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
# Of each post in the grid: its words, its width, how many lines of them show, and whether its time is whole.
READ = """() => [...document.querySelectorAll('.calendar-entry[data-kind=entry]')].map((each) => {
  const [when, words] = ['.calendar-when', '.calendar-words'].map((name) => each.querySelector(name));
  const inside = words.getBoundingClientRect().bottom <= each.getBoundingClientRect().bottom;
  return {
    says: words.textContent,
    width: each.clientWidth,
    lines: inside ? Math.round(words.clientHeight / parseFloat(getComputedStyle(words).lineHeight)) : 0,
    whole: when.scrollWidth <= when.clientWidth,
  };
})"""


@pytest.mark.parametrize(("start", "first"), [(0, "Sun"), (1, "Mon"), (6, "Sat")])
async def test_the_week_begins_on_the_day_that_one_chose(
    stage: Stage, start: int, first: str
) -> None:
    await stage.runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE person SET week_start = :start WHERE email = 'ada@example.org'", start=start
        )
    )
    page = await stage.visit("ada", "calendar")
    await settled(page)
    heads = page.locator(".calendar").get_by_role("columnheader")
    await expect(heads.first).to_contain_text(first)
    await page.get_by_text(t("calendar.month"), exact=True).click()
    await expect(heads.first).to_contain_text(first)


@pytest.mark.parametrize("width", [1280, 1440])
async def test_at_a_desk_a_post_shows_its_time_and_two_lines_of_its_words(
    stage: Stage, width: int
) -> None:
    page = await stage.visit("ada", "calendar", viewport={"width": width, "height": 900})
    await settled(page)
    await snap(page, f"calendar-week-{width}")

    shown: list[dict[str, Any]] = await page.evaluate(READ)

    assert len(shown) == len(TEXTS)
    for each in shown:
        assert each["width"] > 110, each
        assert each["lines"] == 2, each
        assert each["whole"], each


async def test_days_without_posts_say_so_and_offer_to_write_one(stage: Stage) -> None:
    page = await stage.visit("ada", "calendar")
    await settled(page)
    await expect(page.get_by_text(t("calendar.nothingPlannedForTheseDays"))).to_have_count(0)
    await page.get_by_role("button", name=t("calendar.later")).click()
    await page.get_by_role("button", name=t("calendar.later")).click()
    await expect(page.get_by_text(t("calendar.nothingPlannedForTheseDays"))).to_be_visible()
    await snap(page, "calendar-empty")
    assert await hindrances(page) == []
    await page.get_by_role("link", name=t("calendar.writeAPost")).click()
    await expect(page.get_by_role("heading", name=t("app.newPost"))).to_be_visible()


async def test_who_only_looks_is_offered_nothing_to_write(stage: Stage) -> None:
    page = await stage.visit("cy", "calendar")
    await settled(page)
    await page.get_by_role("button", name=t("calendar.later")).click()
    await page.get_by_role("button", name=t("calendar.later")).click()
    await expect(page.get_by_text(t("calendar.nothingPlannedForTheseDays"))).to_be_visible()
    await expect(page.get_by_role("link", name=t("calendar.writeAPost"))).to_have_count(0)
    await expect(page.get_by_role("link", name=t("app.drafts"))).to_be_visible()
    await expect(page.get_by_role("link", name=t("app.newPost"))).to_have_count(0)
