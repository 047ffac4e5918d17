"""The accounts in a browser: health in plain words, limits with their use, hours, connecting, letting go."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.async_api import expect

from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, snap
from tests.browser.stage import Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_account_tells_how_it_is(stage: Stage) -> None:
    page = await stage.visit("ada", "accounts")
    await expect(page.get_by_role("button", name="@hall@music.example")).to_contain_text(
        "Connected"
    )
    await expect(page.get_by_role("button", name="Concert hall")).to_contain_text(
        "The network said: the token was revoked."
    )
    await snap(page, "accounts")
    assert await hindrances(page) == []


async def test_limits_show_what_is_used_and_are_changed(stage: Stage) -> None:
    await stage.runtime.operations.run(_did)
    page = await stage.visit("ada", "accounts?account=mastodon")
    await expect(page.get_by_text("Today: 2 sent")).to_be_visible()
    await page.get_by_role("button", name=t("accounts.editLimits")).click()
    await page.get_by_role("button", name=t("accounts.addLimit")).click()
    await page.get_by_role("textbox", name=t("accounts.atMostLabel")).last.fill("4")
    await page.get_by_role("button", name=t("accounts.saveLimits")).click()
    await expect(page.get_by_text(t("accounts.limitsSaved"))).to_be_visible()

    await expect(page.get_by_text("Posts: at most 4 per day")).to_be_visible()
    await expect(page.get_by_text("2 of 4 used")).to_be_visible()
    await snap(page, "accounts-limits", whole=False)
    assert await hindrances(page) == []
    await page.get_by_role("tab", name=t("accounts.activity")).click()
    await expect(page.get_by_role("img", name="5 posts sent by hour of the week")).to_be_visible()
    await expect(page.get_by_role("row", name="Wednesday 21 October 2026 2 0")).to_be_visible()
    legend = page.locator(".u-legend").first
    await expect(legend).to_have_text(
        re.compile(r"^\s*Rejected\s*Sent\s*$")
    )  # no numbers of nothing
    await page.locator(".u-over").first.hover(position={"x": 4, "y": 60})
    await expect(legend).to_have_text(re.compile(r"\d \w+ 2026\s*Rejected\s*\d+\s*Sent\s*\d+"))
    await snap(page, "accounts-lately", whole=False)


async def test_hours_are_set_in_the_accounts_own_time(stage: Stage) -> None:
    page = await stage.visit("ada", "accounts?account=bluesky")
    await page.get_by_role("tab", name=t("accounts.sendingHours")).click()
    await expect(page.get_by_text("Times are in America/New_York.")).to_be_visible()
    await page.get_by_label(t("accounts.posts"), exact=True).select_option("own")
    await page.get_by_label("Posts: from").fill("08:30")
    await page.get_by_role("button", name=t("accounts.saveHours")).click()
    await expect(page.get_by_text(t("accounts.hoursSaved"))).to_be_visible()
    await snap(page, "accounts-hours", whole=False)
    assert await hindrances(page) == []
    (row,) = await stage.rows("SELECT settings FROM account WHERE id = 'bluesky'")
    assert '"08:30' in row["settings"]


async def test_connecting_asks_for_what_the_network_needs(stage: Stage) -> None:
    page = await stage.visit("ada", "accounts")
    await page.get_by_role("button", name=t("accounts.connectAnAccount")).click()
    await page.get_by_role("button", name="Bluesky", exact=True).click()
    await page.get_by_role("button", name=t("accounts.connect"), exact=True).click()
    await expect(page.get_by_text("is required.").first).to_be_visible()
    await snap(page, "accounts-connect")
    assert await hindrances(page) == []
    await page.get_by_role("button", name=t("accounts.back")).click()
    await page.get_by_role("button", name="LinkedIn needs setup first").click()
    await expect(page.get_by_text("LinkedIn needs to be set up first")).to_be_visible()


async def test_disconnecting_asks_first_and_says_what_was_canceled(stage: Stage) -> None:
    page = await stage.visit("ada", "accounts?account=mastodon")
    await page.get_by_role("button", name=t("accounts.disconnectDots")).click()
    question = page.get_by_role("dialog", name="Disconnect @hall@music.example?")
    await question.get_by_role("button", name=t("app.cancel")).click()
    await expect(question).to_have_count(0)
    assert len(await stage.order()) == 6

    await page.get_by_role("button", name=t("accounts.disconnectDots")).click()
    await question.get_by_role("button", name=t("accounts.disconnect")).click()

    await expect(
        page.get_by_text("@hall@music.example is disconnected. 6 posts were canceled.")
    ).to_be_visible()
    assert await stage.order() == []


async def test_a_viewer_may_look_and_change_nothing(stage: Stage) -> None:
    page = await stage.visit("cy", "accounts?account=mastodon")
    await expect(page.get_by_role("tab", name=t("accounts.limits"))).to_be_visible()
    for name in ("Connect an account", "Pause…", "Disconnect…", "Edit limits"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)


async def test_who_comes_back_from_a_network_without_a_beginning_is_told(stage: Stage) -> None:
    page = await stage.visit("ada", "accounts")
    await page.goto(f"{stage.address}/connect/callback?error=access_denied")
    await expect(page.get_by_text("The network said: access_denied")).to_be_visible()


def _did(tx: Tx, now: datetime) -> None:
    for number, ago in enumerate((0, 1, 24, 25, 200)):
        tx.run(
            """
            INSERT INTO activity (workspace_id, id, account_id, action, mode, state, counts, reserved_at)
            VALUES ('home-of-ada', :id, 'mastodon', 'post', 'live', 'success', true, :at)
            """,
            id=f"done-{number}",
            at=now - timedelta(hours=ago),
        )
