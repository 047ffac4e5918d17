"""What needs attention and why, in a browser: counted in the navigation, put right in one step, explained."""

from datetime import datetime, timedelta

import pytest
from playwright.async_api import expect

from cadenza.posts.create import Created, create
from cadenza.posts.model import NEEDS_COPY, NEEDS_MEDIA, PLACEHOLDER, NewPost
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, TEXTS, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_what_failed_is_tried_again_all_at_once(stage: Stage) -> None:
    await stage.runtime.operations.run(_fail_two)
    page = await stage.visit("ada", "attention")
    await expect(page.get_by_role("link", name=t("attention.needsAttention"))).to_contain_text("3")
    failed = page.get_by_role("region", name="Failed (2)")
    await expect(failed).to_contain_text("the picture is too large")
    await expect(failed).to_contain_text(TEXTS[0])
    await snap(page, "attention")
    assert await hindrances(page) == []

    await failed.get_by_role("button", name="Try again: all 2").click()

    await expect(page.get_by_text("Trying again: 2 of 2.")).to_be_visible()
    await expect(failed).to_have_count(0)
    assert await stage.rows("SELECT id FROM delivery WHERE state = 'failed'") == []


async def test_an_account_that_cannot_send_leads_to_connecting_it(stage: Stage) -> None:
    page = await stage.visit("ada", "attention")
    accounts = page.get_by_role("region", name="Accounts (1)")
    await expect(accounts).to_contain_text("the token was revoked")
    await accounts.get_by_role("link", name=t("attention.reconnect")).click()
    await expect(page).to_have_url(f"{stage.address}/w/{HOME}/accounts?account=linkedin")


async def test_what_lacks_its_text_is_written_and_what_lacks_a_picture_gets_one(
    stage: Stage,
) -> None:
    await stage.runtime.operations.run(lambda tx, now: _lack(tx, now, stage))
    page = await stage.visit("ada", "attention")
    lacking = page.get_by_role("region", name="Needs changes (2)")
    await expect(lacking.get_by_role("link", name="Add an image: Tuesday")).to_be_visible()
    await snap(page, "attention-lacking")
    assert await hindrances(page) == []

    await lacking.get_by_role("link", name="Write the text: Monday").click()

    await expect(page.get_by_label(t("composer.text"), exact=True)).to_have_value(
        f"{PLACEHOLDER}: monday"
    )


async def test_a_suspended_account_is_looked_at_and_let_go_on(stage: Stage) -> None:
    await stage.runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE account SET state = 'suspended', state_reason = 'ten failed' WHERE id = 'bluesky'"
        )
    )
    page = await stage.visit("ada", "attention")
    await page.get_by_role("link", name="View account: hall.example").click()
    await page.get_by_role("button", name=t("accounts.liftSuspension")).click()
    await expect(page.get_by_text("hall.example can send again.")).to_be_visible()
    assert await stage.rows("SELECT id FROM account WHERE state = 'suspended'") == []


async def test_what_is_unconfirmed_is_sent_again_only_after_a_question(stage: Stage) -> None:
    await stage.runtime.operations.run(_doubt)
    page = await stage.visit("ada", "attention")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name=t("attention.notPublishedSendAgain")).click()
    question = page.get_by_role("dialog")
    await expect(question).to_contain_text("people will see it twice")
    await question.get_by_role("button", name=t("app.cancel")).click()
    await page.get_by_role("button", name="It was published:").click()
    await expect(page.get_by_text(t("activity.markedAsPublished"))).to_be_visible()
    assert await stage.rows("SELECT id FROM delivery WHERE state = 'unconfirmed'") == []


async def test_deleting_asks_first(stage: Stage) -> None:
    await stage.runtime.operations.run(_fail_two)
    page = await stage.visit("ada", "attention")
    await page.get_by_role("button", name="More actions").first.click()
    await page.get_by_role("menuitem", name=t("attention.deletePost")).click()
    await page.get_by_role("button", name=t("app.cancel")).click()
    assert len(await stage.rows("SELECT id FROM delivery WHERE state = 'failed'")) == 2


async def test_a_viewer_sees_what_is_wrong_and_has_nothing_to_press(stage: Stage) -> None:
    await stage.runtime.operations.run(_fail_two)
    page = await stage.visit("cy", "attention", viewport={"width": 390, "height": 800})
    await expect(page.get_by_role("region", name="Failed (2)")).to_be_visible()
    await expect(page.get_by_role("button", name=t("attention.tryAgain"))).to_have_count(0)
    await snap(page, "attention-phone")
    assert not await overflows(page)


def _lack(tx: Tx, now: datetime, stage: Stage) -> None:
    by = f"member:{stage.members['ada']}"
    for title, blockers in (("Monday", (NEEDS_COPY,)), ("Tuesday", (NEEDS_MEDIA,))):
        text = f"{PLACEHOLDER}: {title.lower()}"
        new = NewPost(workspace_id=HOME, title=title, text=text, blockers=blockers)
        assert isinstance(create(tx, now, new, by=by), Created)


def _doubt(tx: Tx, now: datetime) -> None:
    tx.run(
        """
        UPDATE delivery SET state = 'unconfirmed', reason = 'no answer came', due_at = :past, slot_at = NULL
        WHERE id IN (SELECT id FROM delivery ORDER BY due_at LIMIT 1)
        """,
        past=now - timedelta(hours=1),
    )
    tx.run(
        """
        INSERT INTO attempt (workspace_id, id, delivery_id, number, lease, key, content_hash, began_at,
            deadline_at, outcome, ended_at)
        SELECT workspace_id, 'doubt', id, 1, lease, 'key', 'hash', :past, :past, 'Unconfirmed', :past
        FROM delivery WHERE state = 'unconfirmed'
        """,
        past=now - timedelta(hours=1),
    )


def _fail_two(tx: Tx, now: datetime) -> None:
    tx.run(
        """
        UPDATE delivery SET state = 'failed', reason = 'the picture is too large', due_at = :past,
            slot_at = NULL, failed_at = :past
        WHERE id IN (SELECT id FROM delivery ORDER BY due_at LIMIT 2)
        """,
        past=now - timedelta(hours=1),
    )
