"""A paused account in a browser: nothing on any screen says that its posts go out at their times."""

from datetime import datetime

import pytest
from playwright.async_api import expect

from cadenza.queues.pause import pause
from cadenza.sql.tx import Tx
from tests.browser.look import snap
from tests.browser.stage import HOME, TEXTS, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_posts_of_a_paused_account_look_paused_everywhere(stage: Stage) -> None:
    await stage.runtime.operations.run(_pause)
    page = await stage.visit("ada", "activity?time=ahead")
    first = page.get_by_role("listitem").filter(has_text=TEXTS[0])
    await expect(first).to_contain_text(t("ui.paused"))
    await expect(first).to_contain_text("The brand is changing")
    await expect(page.get_by_role("list").get_by_text(t("ui.scheduled"), exact=True)).to_have_count(
        0
    )
    await snap(page, "activity-paused")

    await page.goto(f"{stage.address}/w/{HOME}/calendar")
    entry = page.locator(".calendar-entry[data-kind=entry]").first
    await expect(entry).to_contain_text(t("ui.paused"))
    await snap(page, "calendar-paused")

    await page.goto(f"{stage.address}/w/{HOME}/queue?account=mastodon")
    head = page.locator(".queue-head")
    await expect(head).to_contain_text("Next: paused")
    await expect(head).to_contain_text("Planned: 6 posts")
    await snap(page, "queue-paused", whole=False)


def _pause(tx: Tx, now: datetime) -> None:
    pause(
        tx,
        now,
        workspace_id=HOME,
        account_id="mastodon",
        reason="the brand is changing",
        by="member:ada",
    )
