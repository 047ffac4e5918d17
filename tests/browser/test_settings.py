"""Settings in a browser: people are invited and let go, keys are shown once, a second factor is switched on."""

import base64
import hashlib
import hmac
from datetime import datetime

import pytest
from playwright.async_api import Page, expect

from cadenza.people.passwords import Passwords
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
PASSWORD = "violet engine under seven"


async def test_somebody_is_invited_and_the_invitation_taken_back(stage: Stage) -> None:
    page = await stage.visit("ada", "settings/people")
    await expect(page.get_by_text("ben@example.org")).to_be_visible()
    await page.get_by_label(t("settings.email")).fill("dee@example.org")
    await page.get_by_role("button", name=t("settings.invite"), exact=True).click()
    await expect(page.get_by_text("dee@example.org as editor")).to_be_visible()
    await snap(page, "settings-people")
    assert await hindrances(page) == []

    await page.get_by_role("button", name="Revoke the invitation to dee@example.org").click()
    await page.get_by_role("dialog").get_by_role("button", name=t("settings.revoke")).click()

    await expect(page.get_by_text(t("settings.noOpenInvitations"))).to_be_visible()


async def test_letting_somebody_go_asks_first(stage: Stage) -> None:
    page = await stage.visit("ada", "settings/people")
    await page.get_by_role("button", name="Remove Cy").click()
    await page.get_by_role("button", name=t("settings.cancel")).click()
    await expect(page.get_by_text("cy@example.org")).to_be_visible()

    await page.get_by_role("button", name="Remove Cy").click()
    await page.get_by_role("dialog").get_by_role("button", name=t("settings.remove")).click()

    await expect(page.get_by_text("Cy is no longer in this workspace.")).to_be_visible()
    await expect(page.get_by_text("cy@example.org")).to_have_count(0)


async def test_a_role_is_changed_and_given_back(stage: Stage) -> None:
    page = await stage.visit("ada", "settings/people")
    role = page.get_by_role("combobox", name="Role of Cy")
    await role.click()
    await page.get_by_role("option", name=t("ui.editor")).click()
    await expect(page.get_by_text("Cy is now editor.")).to_be_visible()
    await expect(role).to_have_value("Editor: can write, approve and send")

    await page.get_by_role("button", name=t("ui.undo")).click()

    await expect(page.get_by_text("Cy is now viewer.")).to_be_visible()
    await expect(role).to_have_value("Viewer: can see everything")


async def test_rights_of_ones_own_are_not_given_up_by_a_slip(stage: Stage) -> None:
    page = await stage.visit("ada", "settings/people")
    role = page.get_by_role("combobox", name="Role of Ada")
    await role.click()
    await page.get_by_role("option", name=t("ui.viewer")).click()
    await page.get_by_role("dialog").get_by_role("button", name=t("settings.cancel")).click()
    await expect(role).to_have_value("Owner: can do everything")


async def test_a_key_is_shown_once(stage: Stage) -> None:
    page = await stage.visit("ada", "settings/keys")
    await page.get_by_role("button", name=t("settings.newKey")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(t("settings.name")).fill("Newsletter script")
    await dialog.get_by_label("Posts: publish now").check()
    await snap(page, "settings-new-key")
    assert await hindrances(page) == []
    await dialog.get_by_role("button", name=t("settings.createKey")).click()
    shown = page.get_by_role("status").filter(has_text=t("settings.yourNewKey"))
    secret = await shown.locator("pre").inner_text()
    assert len(secret) > 30
    assert await hindrances(page) == []

    await page.reload()

    await expect(page.get_by_text(t("settings.newsletterScript"))).to_be_visible()
    assert secret not in await page.content()
    await page.get_by_role("button", name="Revoke Newsletter script").click()
    await page.get_by_role("button", name=t("settings.revoke"), exact=True).last.click()
    await expect(page.get_by_text(t("settings.revoked"), exact=True)).to_be_visible()


async def test_a_second_factor_is_switched_on_with_a_secret_made_here(stage: Stage) -> None:
    hashed = await Passwords().hash(PASSWORD)
    await stage.runtime.operations.run(lambda tx, now: _set_password(tx, now, hashed))
    page = await stage.visit("ben", "settings/oneself")
    factor = page.get_by_role("region", name=t("settings.twoFactorAuthentication"))
    await factor.get_by_label(t("settings.confirmYourPassword")).fill("wrong")
    await factor.get_by_role("button", name=t("settings.setUp")).click()
    await expect(factor).to_contain_text("The password is wrong.")
    await factor.get_by_label(t("settings.confirmYourPassword")).fill(PASSWORD)
    await factor.get_by_role("button", name=t("settings.setUp")).click()
    await expect(factor.get_by_role("img")).to_be_visible()
    secret = (await factor.locator("code").inner_text()).replace(" ", "")
    await snap(page, "settings-second-factor")
    assert await hindrances(page) == []

    await factor.get_by_label(t("settings.codeFromTheApp")).fill(
        _code(secret, stage.runtime.clock.now())
    )
    await factor.get_by_role("button", name=t("settings.turnOn")).click()

    await expect(factor).to_contain_text(t("settings.yourRecoveryCodes"))
    await expect(factor).to_contain_text("On. You need a code")
    await factor.get_by_role("button", name=t("ui.iveSavedIt")).click()
    await expect(factor.get_by_label(t("settings.codeFromTheAppOrA"))).to_be_visible()


async def test_everything_is_stopped_with_a_reason_and_let_go_on(stage: Stage) -> None:
    page = await stage.visit("ada", "settings/workspace")
    await page.get_by_label(t("settings.reason")).fill("Wrong link in all posts")
    await page.get_by_role("button", name=t("settings.stopAllSending")).click()
    await expect(page.get_by_text(t("settings.wrongLinkInAllPosts"))).to_be_visible()
    await snap(page, "settings-stopped")
    assert await hindrances(page) == []

    await page.get_by_role("button", name=t("settings.resumeSending")).click()
    await page.get_by_role("dialog").get_by_role("button", name=t("settings.resume")).click()

    await expect(page.get_by_text("Nothing has been sent from this workspace since")).to_have_count(
        0
    )


async def test_a_webhook_changes_its_secret_and_is_told_again(stage: Stage) -> None:
    page = await stage.visit("ada", "settings/webhooks")
    await page.get_by_label(t("settings.url")).fill("https://example.org/hook")
    await page.get_by_role("button", name=t("settings.addWebhook")).click()
    once = page.get_by_role("status").filter(has_text=t("settings.signingSecret"))
    first = await once.locator("pre").inner_text()
    await once.get_by_role("button", name=t("ui.iveSavedIt")).click()
    await stage.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE webhook SET active = false, stop_reason = 'it is gone (410)'")
    )
    await page.reload()
    await expect(page.get_by_text("Stopped: it is gone (410).")).to_be_visible()
    await snap(page, "settings-webhook-stopped")
    assert await hindrances(page) == []
    await page.get_by_role("button", name="Resume: https://example.org/").click()
    await expect(page.get_by_text("Stopped: it")).to_have_count(0)

    await page.get_by_role("button", name="More actions for https://example.org/").press("Enter")
    await page.get_by_role("menuitem", name=t("settings.createANewSecret")).click()
    second = await once.locator("pre").inner_text()
    assert second != first

    await page.get_by_role("button", name="More actions for https://example.org/").click()
    await page.get_by_role("menuitem", name=t("settings.removeDots")).click()
    await page.get_by_role("dialog").get_by_role("button", name=t("settings.remove")).click()
    await expect(page.get_by_text(t("settings.noWebhooksYet"))).to_be_visible()


async def test_notices_are_chosen_and_kept(stage: Stage) -> None:
    page = await stage.visit("cy", "settings/notices")
    group = page.get_by_role("radiogroup", name=t("settings.published"))
    await group.get_by_text(t("settings.never")).click()
    await expect(page.get_by_text(t("settings.saved"))).to_be_visible()
    await expect(page.get_by_text(t("settings.thisServerCantSendEmail"))).to_have_count(0)

    await page.reload()

    await expect(group.get_by_label(t("settings.never"))).to_be_checked()
    assert await hindrances(page) == []


@pytest.mark.parametrize("section", ["oneself", "people", "keys", "webhooks", "workspace"])
async def test_every_section_fits_a_phone_in_the_dark(stage: Stage, section: str) -> None:
    page = await visit_phone(stage, f"settings/{section}")
    await expect(page.get_by_role("tabpanel")).to_be_visible()
    await expect(page.get_by_role("status", name=t("ui.loading"))).to_have_count(0)
    await expect(page.get_by_role("tab", selected=True)).to_be_in_viewport(ratio=0.9)
    await snap(page, f"settings-{section}-phone-dark")
    assert not await overflows(page)
    assert await hindrances(page) == []
    if section == "oneself":  # a long list of choices can be scrolled by keys too
        await page.get_by_role("combobox", name=t("settings.timeZone")).fill("Europe")
        await expect(page.get_by_role("option", name="Europe/Athens")).to_be_visible()
        assert await hindrances(page) == []


async def test_a_viewer_sees_people_and_has_no_keys(stage: Stage) -> None:
    page = await stage.visit("cy", "settings/people")
    await expect(page.get_by_text("ben@example.org")).to_be_visible()
    await expect(page.get_by_role("button", name=t("settings.invite"))).to_have_count(0)
    await expect(page.get_by_role("tab", name=t("settings.apiKeys"))).to_have_count(0)


async def visit_phone(stage: Stage, path: str) -> Page:
    return await stage.visit(
        "ada", path, viewport={"width": 390, "height": 800}, color_scheme="dark"
    )


def _set_password(tx: Tx, _now: datetime, hashed: str) -> None:
    tx.run("UPDATE person SET password = :hashed WHERE email = 'ben@example.org'", hashed=hashed)


def _code(secret: str, now: datetime) -> str:
    """What an authenticator app shows (RFC 6238)."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    step = int(now.timestamp()) // 30
    digest = hmac.digest(key, step.to_bytes(8, "big"), hashlib.sha1)
    at = digest[-1] & 15
    return f"{(int.from_bytes(digest[at : at + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06}"
