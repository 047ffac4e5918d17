"""Connecting an account in a browser, to the network's own page and back, against a simulated Mastodon."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from cadenza.deliveries import lanes
from cadenza.demo.networks.mastodon import SimulatedMastodon
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, snap
from tests.browser.stage import HOME, Stage
from tests.providers.mastodon.fixtures import CANARY, mastodon

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def simulated(stage: Stage) -> AsyncIterator[SimulatedMastodon]:
    """A Mastodon that the application can reach, and that sends people back to it."""
    async with mastodon() as (scene, simulated):
        settings = replace(stage.runtime.settings, public_url=stage.address)
        stage.app.state.runtime = replace(stage.runtime, http=scene.http, settings=settings)
        yield simulated


async def test_an_account_is_connected_by_way_of_the_networks_own_page(
    stage: Stage, simulated: SimulatedMastodon
) -> None:
    page = await stage.visit("ada", "accounts")
    await begin(page, simulated)

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
    stage: Stage, simulated: SimulatedMastodon
) -> None:
    simulated.refuses = True
    page = await stage.visit("ada", "accounts")
    await begin(page, simulated)

    await expect(page.get_by_text("The network says: The person said no.")).to_be_visible()
    await snap(page, "accounts-refused")
    assert await hindrances(page) == []
    await page.get_by_role("link", name="Back to the accounts").click()
    await expect(page.get_by_role("button", name="Connect an account")).to_be_visible()
    assert len(await stage.rows("SELECT id FROM account")) == 3


async def begin(page: Page, simulated: SimulatedMastodon) -> None:
    await page.get_by_role("button", name="Connect an account").click()
    await page.get_by_role("button", name="Mastodon", exact=True).click()
    await page.get_by_role("dialog").get_by_role("textbox").first.fill(simulated.url())
    await page.get_by_role("button", name="Connect", exact=True).click()


async def test_after_a_reconnect_a_person_chooses_what_happens_to_what_came_due(
    stage: Stage, simulated: SimulatedMastodon
) -> None:
    await lose(stage, simulated)
    page = await stage.visit("ada", "accounts?account=mastodon")
    await page.get_by_role("button", name="Connect again").click()
    await page.get_by_role("dialog").get_by_role("textbox").first.fill(simulated.url())
    await page.get_by_role("button", name="Connect", exact=True).click()

    brought = page.get_by_role("dialog", name="Connect")
    await expect(brought).to_contain_text("2 posts came due while it was disconnected")
    await snap(page, "accounts-came-due")
    await brought.get_by_role("button", name="Done").click()
    await expect(page.get_by_text("Posts wait for you").first).to_be_visible()

    await page.goto(f"{stage.address}/w/{HOME}/attention")
    await expect(page.get_by_role("button", name="Choose what happens…").first).to_be_visible()
    await snap(page, "attention-came-due")
    await page.goto(f"{stage.address}/w/{HOME}/queue?account=mastodon")
    await expect(page.get_by_text("2 posts came due while @ada")).to_be_visible()
    await snap(page, "queue-came-due")
    await page.get_by_role("button", name="Choose what happens…").click()
    dialog = page.get_by_role("dialog", name="Resume the queue")
    await expect(dialog).to_contain_text("What came due while it was disconnected")
    await expect(dialog.get_by_role("radio")).to_have_count(3)
    await expect(dialog).to_contain_text("2 posts came due")
    await snap(page, "queue-resume-choices")
    assert await hindrances(page) == []
    await dialog.get_by_role("button", name="Resume").click()
    await expect(page.get_by_text("It sends again.")).to_be_visible()
    await expect(page.get_by_text("2 posts came due while @ada")).to_have_count(0)
    now = stage.runtime.clock.now()
    rows = await stage.rows("SELECT due_at FROM delivery WHERE account_id = 'mastodon'")
    assert len(rows) == 6
    assert all(row["due_at"] > now for row in rows), "what came due took the next slots"


async def lose(stage: Stage, simulated: SimulatedMastodon) -> None:
    """Let the network revoke the account while two posts come due."""
    remote_id = simulated.person(CANARY).id

    def go(tx: Tx, now: datetime) -> None:
        first = tx.all("SELECT id FROM delivery ORDER BY due_at LIMIT 2")
        for turn, row in enumerate(first):
            tx.run(
                "UPDATE delivery SET due_at = :at, slot_at = NULL WHERE id = :id",
                at=now - timedelta(minutes=20 - turn),
                id=row["id"],
            )
        tx.run(
            """
            UPDATE account SET state = 'needs_reconnect', state_reason = 'the token was revoked',
                remote_id = :remote WHERE id = 'mastodon'
            """,
            remote=remote_id,
        )
        lanes.park(
            tx,
            now,
            workspace_id=HOME,
            lane_id="account:mastodon",
            until=now + timedelta(days=3650),
            reason="the account needs a reconnect",
            by=lanes.RECONNECT,
        )

    await stage.runtime.operations.run(go)
