"""The very first minutes in a browser: an empty installation gets its owner, and only by the link that it printed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from cadenza.api.first_start import first_start_link
from cadenza.bootstrap import open_runtime
from cadenza.config.model import Settings
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import Stage, open_doors
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
PASSWORD = "violet engine under seven"


@pytest_asyncio.fixture(loop_scope="session")
async def empty(browser: Browser, tmp_path: Path) -> AsyncIterator[Stage]:
    """A house that nobody owns yet."""
    settings = Settings(data=tmp_path, database=f"sqlite:///{tmp_path}/product.sqlite3")
    async with open_runtime(settings) as runtime, open_doors(runtime, browser) as stage:
        yield stage


async def test_the_first_owner_comes_in_by_the_printed_link_and_stays(empty: Stage) -> None:
    link = await first_start_link(empty.runtime)
    assert link is not None
    page = await empty.stranger("")
    await expect(page.get_by_label(t("enter.setupLink"))).to_be_focused()
    await page.goto(f"{empty.address}/first-start#{link.partition('#')[2]}")
    await expect(page.get_by_role("heading", name=t("enter.welcome"))).to_be_visible()
    await expect(page.get_by_label(t("enter.setupLink"))).to_have_count(0)
    await expect(page.get_by_role("combobox", name=t("enter.timeZone"))).to_have_value(
        "Europe/London"
    )
    await page.get_by_label(t("enter.yourName")).fill("Ada")
    await page.get_by_label(t("enter.email")).fill("ada@example.org")
    await page.locator("input[autocomplete=new-password]").fill("short")
    await page.get_by_label(t("enter.workspace")).fill("Concert hall")
    await page.get_by_role("button", name=t("enter.getStarted")).click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await snap(page, "first-start")
    assert not await overflows(page)
    assert await hindrances(page) == []

    await page.locator("input[autocomplete=new-password]").fill(PASSWORD)
    await page.get_by_role("button", name=t("enter.getStarted")).click()

    await expect(page.get_by_text(t("ui.noAccountYet"))).to_be_visible()
    await snap(page, "first-start-inside")
    assert await hindrances(page) == []
    await page.get_by_role("button", name="Ada: account menu").click()
    await page.get_by_role("menuitem", name=t("app.signOut")).click()
    await expect(page.get_by_role("heading", name=t("enter.signIn"))).to_be_visible()
    assert await first_start_link(empty.runtime) is None


async def test_who_comes_without_the_link_becomes_nobody(empty: Stage) -> None:
    await first_start_link(empty.runtime)
    page = await empty.stranger("")
    await expect(page.get_by_role("heading", name=t("enter.welcome"))).to_be_visible()
    await page.get_by_label(t("enter.setupLink")).fill("a guess")
    await page.get_by_label(t("enter.yourName")).fill("Cy")
    await page.get_by_label(t("enter.email")).fill("cy@example.org")
    await page.locator("input[autocomplete=new-password]").fill(PASSWORD)
    await page.get_by_label(t("enter.workspace")).fill("Mine now")
    await page.get_by_role("button", name=t("enter.getStarted")).click()

    await expect(page.get_by_role("alert")).to_be_visible()
    assert await empty.rows("SELECT id FROM person") == []
