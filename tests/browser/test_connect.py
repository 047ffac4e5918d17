"""Connecting an account in a browser, to the network's own page and back, against a Mastodon in rehearsal."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from cadenza.demo.rehearsal.worlds.mastodon import MastodonWorld
from tests.browser.look import hindrances, snap
from tests.browser.stage import Stage
from tests.providers.mastodon.stage import mastodon

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(stage: Stage) -> AsyncIterator[MastodonWorld]:
    """A Mastodon that the house can reach, and that sends people back to it."""
    async with mastodon() as (scene, world):
        settings = replace(stage.house.settings, public_url=stage.address)
        stage.app.state.house = replace(stage.house, http=scene.http, settings=settings)
        yield world


async def test_an_account_is_connected_by_way_of_the_networks_own_page(
    stage: Stage, world: MastodonWorld
) -> None:
    page = await stage.visit("ada", "accounts")
    await begin(page, world)

    brought = page.get_by_role("dialog", name="Connect")
    await expect(brought).to_contain_text("It can send from now on.")
    await snap(page, "accounts-brought")
    assert await hindrances(page) == []
    await brought.get_by_role("button", name="Done").click()
    await expect(page.get_by_text("1 account connected.")).to_be_visible()
    (row,) = await stage.rows(
        "SELECT id, handle, state FROM account WHERE id NOT IN ('mastodon', 'bluesky', 'linkedin')"
    )
    assert row["state"] == "connected"
    await expect(page.get_by_role("button", name=row["handle"])).to_contain_text("Connected")


async def test_who_says_no_on_the_networks_page_is_told_and_nothing_is_connected(
    stage: Stage, world: MastodonWorld
) -> None:
    world.refuses = True
    page = await stage.visit("ada", "accounts")
    await begin(page, world)

    await expect(page.get_by_text("The network says: The person said no.")).to_be_visible()
    await snap(page, "accounts-refused")
    assert await hindrances(page) == []
    await page.get_by_role("link", name="Back to the accounts").click()
    await expect(page.get_by_role("button", name="Connect an account")).to_be_visible()
    assert len(await stage.rows("SELECT id FROM account")) == 3


async def begin(page: Page, world: MastodonWorld) -> None:
    await page.get_by_role("button", name="Connect an account").click()
    await page.get_by_role("button", name="Mastodon", exact=True).click()
    await page.get_by_role("dialog").get_by_role("textbox").first.fill(world.url())
    await page.get_by_role("button", name="Connect", exact=True).click()
