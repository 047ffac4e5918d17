"""What needs attention and why, in a browser: counted in the navigation, put right in one step, explained."""

from datetime import datetime, timedelta

import pytest
from playwright.async_api import expect

from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, TEXTS, Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_failed_is_tried_again_all_at_once(stage: Stage) -> None:
    await stage.house.operations.run(_fail_two)
    page = await stage.visit("ada", "attention")
    await expect(page.get_by_role("link", name="Needs attention")).to_contain_text("3")
    failed = page.get_by_role("region", name="Failed (2)")
    await expect(failed).to_contain_text("the picture is too large")
    await expect(failed).to_contain_text(TEXTS[0])
    await snap(page, "attention")
    assert await hindrances(page) == []

    await failed.get_by_role("button", name="Try again: all 2").click()

    await expect(page.get_by_text("Tried again: 2 of 2.")).to_be_visible()
    await expect(failed).to_have_count(0)
    assert await stage.rows("SELECT id FROM delivery WHERE state = 'failed'") == []


async def test_an_account_that_cannot_send_leads_to_connecting_it(stage: Stage) -> None:
    page = await stage.visit("ada", "attention")
    accounts = page.get_by_role("region", name="Accounts (1)")
    await expect(accounts).to_contain_text("the token was revoked")
    await accounts.get_by_role("link", name="Connect again").click()
    await expect(page).to_have_url(f"{stage.address}/w/{HOME}/accounts?account=linkedin")


async def test_deleting_asks_first(stage: Stage) -> None:
    await stage.house.operations.run(_fail_two)
    page = await stage.visit("ada", "attention")
    await page.get_by_role("button", name="Other steps").first.click()
    await page.get_by_role("menuitem", name="Delete the post").click()
    await page.get_by_role("button", name="Leave it").click()
    assert len(await stage.rows("SELECT id FROM delivery WHERE state = 'failed'")) == 2


async def test_a_viewer_sees_what_is_wrong_and_has_nothing_to_press(stage: Stage) -> None:
    await stage.house.operations.run(_fail_two)
    page = await stage.visit("cy", "attention", viewport={"width": 390, "height": 800})
    await expect(page.get_by_role("region", name="Failed (2)")).to_be_visible()
    await expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    await snap(page, "attention-phone")
    assert not await overflows(page)


def _fail_two(tx: Tx, now: datetime) -> None:
    tx.run(
        """
        UPDATE delivery SET state = 'failed', reason = 'the picture is too large', due_at = :past,
            slot_at = NULL, failed_at = :past
        WHERE id IN (SELECT id FROM delivery ORDER BY due_at LIMIT 2)
        """,
        past=now - timedelta(hours=1),
    )
