"""The doors in a browser: signing in, a forgotten password, an invitation of somebody new, links that are not whole."""

from datetime import datetime

import pytest
from playwright.async_api import expect

from cadenza.people.change_password import ask_reset
from cadenza.people.invite import invite
from cadenza.people.model import Role
from cadenza.people.passwords import Passwords
from cadenza.people.tokens import draw_token
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
PASSWORD = "violet engine under seven"


async def test_a_forgotten_password_is_replaced_by_the_link_of_a_mail(stage: Stage) -> None:
    page = await stage.stranger("forgotten")
    await page.get_by_label(t("enter.email")).fill("ben@example.org")
    assert await hindrances(page) == []
    await page.get_by_role("button", name=t("enter.sendLink")).click()
    await expect(page.get_by_text("If ben@example.org has an account here")).to_be_visible()
    token = await stage.runtime.operations.run(_reset)
    await page.goto(f"{stage.address}/reset-password#token={token}")
    await page.reload()
    await page.get_by_label(t("enter.newPassword")).fill("short")
    await page.get_by_role("button", name=t("enter.savePassword")).click()
    await expect(page.get_by_text("12")).not_to_have_count(0)
    await snap(page, "reset-password")
    assert await hindrances(page) == []

    await page.get_by_label(t("enter.newPassword")).fill(PASSWORD)
    await page.get_by_role("button", name=t("enter.savePassword")).click()
    await page.get_by_role("link", name=t("enter.signIn")).click()
    await page.get_by_label(t("enter.email")).fill("ben@example.org")
    await page.locator("input[autocomplete=current-password]").fill(PASSWORD)
    await page.get_by_role("button", name=t("enter.signIn")).click()

    await expect(page.get_by_role("heading", name=t("app.queue"))).to_be_visible()


async def test_signing_in_says_what_is_wrong_and_leads_to_where_one_wanted(stage: Stage) -> None:
    hashed = await Passwords().hash(PASSWORD)
    await stage.runtime.operations.run(lambda tx, _: _set_password(tx, hashed))
    page = await stage.stranger(f"w/{HOME}/drafts")
    await expect(page.get_by_role("heading", name=t("enter.signIn"))).to_be_visible()
    await page.get_by_label(t("enter.email")).fill("ben@example.org")
    await page.locator("input[autocomplete=current-password]").fill("not my password")
    await page.get_by_role("button", name=t("enter.signIn")).click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await snap(page, "sign-in")
    assert not await overflows(page)
    assert await hindrances(page) == []

    await page.locator("input[autocomplete=current-password]").fill(PASSWORD)
    await page.get_by_role("button", name=t("enter.signIn")).click()

    await expect(page).to_have_url(f"{stage.address}/w/{HOME}/drafts")
    await expect(page.get_by_role("heading", name=t("app.drafts"), exact=True)).to_be_visible()


async def test_somebody_new_joins_by_an_invitation(stage: Stage) -> None:
    token = await stage.runtime.operations.run(lambda tx, now: _invite(tx, now, stage))
    page = await stage.stranger(f"join#token={token}")
    await expect(page.get_by_role("heading", name="Join Concert hall")).to_be_visible()
    await expect(page.get_by_text("dee@example.org is invited as editor.")).to_be_visible()
    await page.get_by_label(t("enter.yourName")).fill("Dee")
    await page.locator("input[autocomplete=new-password]").fill(PASSWORD)
    await snap(page, "join")
    assert await hindrances(page) == []
    assert not await overflows(page)

    await page.get_by_role("button", name=t("enter.join")).click()

    await expect(page.get_by_role("heading", name=t("app.queue"))).to_be_visible()
    members = await stage.rows("SELECT id FROM member WHERE workspace_id = :home", home=HOME)
    assert len(members) == 4


async def test_links_that_are_not_whole_say_what_to_do(stage: Stage) -> None:
    page = await stage.stranger("join")
    await expect(page.get_by_text("Open it from the email again")).to_be_visible()
    await page.goto(f"{stage.address}/reset-password")
    await page.get_by_role("link", name="get a new one").click()
    await expect(page.get_by_role("heading", name=t("enter.resetYourPassword"))).to_be_visible()
    await page.goto(f"{stage.address}/join#token=wrong")
    await expect(
        page.get_by_text("This invitation was used, taken back, or has ended.")
    ).to_be_visible()


def _set_password(tx: Tx, hashed: str) -> None:
    tx.run("UPDATE person SET password = :hashed WHERE email = 'ben@example.org'", hashed=hashed)


def _reset(tx: Tx, now: datetime) -> str:
    token = draw_token()
    ask_reset(
        tx,
        now,
        email="ben@example.org",
        address="192.0.2.9",
        token_hash=token.hash,
        letter_id=tx.new_id(),
        sealed="sealed",
    )
    return token.text


def _invite(tx: Tx, now: datetime, stage: Stage) -> str:
    token = draw_token()
    invite(
        tx,
        now,
        workspace_id=HOME,
        email="dee@example.org",
        role=Role.EDITOR,
        own=Role.OWNER,
        token_hash=token.hash,
        letter_id=tx.new_id(),
        sealed="sealed",
        by=f"member:{stage.members['ada']}",
    )
    return token.text
