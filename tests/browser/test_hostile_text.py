"""Texts of others, in a browser: whatever people, networks and files are called, it is shown and never run."""

import json
from datetime import datetime, timedelta

import pytest
from playwright.async_api import ConsoleMessage, Page, expect

from cadenza.drafts.save_category import CategoryForm, save_category
from cadenza.media.add import Store, begin, finish
from cadenza.media.model import Facts
from cadenza.providers.message import MediaKind
from cadenza.sql.tx import Tx
from tests.browser.stage import HOME, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
NASTY = (
    "<script>window.hurt=1</script>",
    "<img src=x onerror=window.hurt=1>",
    "\"'><svg onload=window.hurt=1>",
    "[x](javascript:window.hurt=1) javascript:window.hurt=1",
    "{{constructor.constructor('window.hurt=1')()}}${window.hurt=1}",
    "<iframe srcdoc='<script>parent.hurt=1</script>'></iframe>",
)

ALL = " ".join(NASTY)
# Where such texts are to be seen, and where none is but all are near.
SCREENS = {
    **dict.fromkeys(("queue?account=mastodon", "calendar", "accounts", "attention"), True),
    **dict.fromkeys(("accounts?account=mastodon", "activity", "drafts?state=all"), True),
    **dict.fromkeys(("settings/people",), True),
    **dict.fromkeys(("compose", "jobs", "system"), False),
}


async def test_no_text_of_others_runs_in_the_app(stage: Stage) -> None:
    await stage.runtime.operations.run(lambda tx, now: _poison(tx, now, stage))
    page = await stage.visit("ada", "queue?account=mastodon")
    broken: list[str] = []
    page.on("dialog", lambda dialog: broken.append(dialog.message))
    page.on("console", lambda line: broken.extend(_breaches(line)))
    for screen, shown in SCREENS.items():
        await page.goto(f"{stage.address}/w/{HOME}/{screen}")
        await expect(page.locator("main h1"), screen).to_be_attached()
        await expect(page.get_by_role("status", name=t("ui.loading"))).to_have_count(0)
        if shown:
            await expect(page.locator("main").get_by_text("hurt=1").first, screen).to_be_attached()
        assert await _hurt(page) == [], screen
    await page.goto(f"{stage.address}/w/{HOME}/attention")
    await expect(page.get_by_text("<script>window.hurt=1</script>").first).to_be_visible()
    assert await _hurt(page) == []
    assert broken == []


async def test_a_link_of_others_leads_nowhere_but_into_the_app(stage: Stage) -> None:
    page = await stage.visit("ada", "queue")
    for path in ("sign-in?next=//evil.example/", "sign-in?next=javascript:window.hurt=1"):
        await page.goto(f"{stage.address}/{path}")
        await expect(page.get_by_role("button", name=t("enter.signIn"))).to_be_visible()
        assert page.url.startswith(stage.address)
        assert await _hurt(page) == []
    said = "<img src=x onerror=window.hurt=1>"
    await page.goto(f"{stage.address}/connect/callback?error_description={said}")
    await expect(page.get_by_text(said)).to_be_visible()
    assert await _hurt(page) == []


async def _hurt(page: Page) -> list[str]:
    """What ran, and what would run if somebody touched it."""
    return await page.evaluate(
        """() => [
            ...(window.hurt ? ['it ran'] : []),
            ...[...document.querySelectorAll('a[href]')].map((a) => a.href).filter((h) => /^(javascript|data):/i.test(h)),
            ...[...document.querySelectorAll('main script, main iframe, [onerror], [onload]')].map((e) => e.outerHTML),
        ]"""
    )


def _breaches(line: ConsoleMessage) -> list[str]:
    return [line.text] if "Content Security Policy" in line.text else []


def _poison(tx: Tx, now: datetime, stage: Stage) -> None:
    """Put markup and scripts into every text that somebody else may have written."""
    by = f"member:{stage.members['ada']}"
    tx.run("UPDATE workspace SET name = :nasty", nasty=ALL[:150])
    tx.run("UPDATE member SET name = :nasty WHERE name <> 'Ada'", nasty=ALL[:150])
    tx.run("UPDATE account SET handle = :nasty, state_reason = :nasty", nasty=ALL)
    for number, id_ in enumerate(stage.posts):
        row = tx.one(
            "SELECT content FROM post WHERE workspace_id = :home AND id = :id", home=HOME, id=id_
        )
        assert row is not None
        content = json.loads(row["content"]) | {"text": NASTY[number % len(NASTY)]}
        tx.run(
            "UPDATE post SET content = :content, title = :title WHERE workspace_id = :home AND id = :id",
            content=json.dumps(content),
            title=NASTY[-1 - number % len(NASTY)],
            home=HOME,
            id=id_,
        )
    tx.run(
        """
        UPDATE delivery SET state = 'failed', reason = :nasty, due_at = :past, slot_at = NULL, failed_at = :past
        WHERE id IN (SELECT id FROM delivery ORDER BY due_at LIMIT 2)
        """,
        nasty=ALL,
        past=now - timedelta(hours=1),
    )
    save_category(tx, now, CategoryForm(name=ALL[:100]), workspace_id=HOME, by=by)
    facts = Facts(kind=MediaKind.IMAGE, mime="image/png", extension="png", size=10, sha256="a" * 64)
    begun = begin(tx, now, workspace_id=HOME, facts=facts, name="x.png", alt=ALL, by=by)
    assert isinstance(begun, Store)
    finish(tx, now, media=begun.media, by=by)
    tx.run("UPDATE media SET name = :nasty", nasty=f"{ALL}.png")
