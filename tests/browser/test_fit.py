"""What a network would refuse is not promised on any screen, and a post that failed is fixed where it is changed."""

import pytest
from playwright.async_api import expect

from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOO_LONG = "bread " * 68  # 408 characters; Bluesky takes 300


async def test_a_post_that_a_network_refuses_cannot_be_sent_and_says_why(stage: Stage) -> None:
    page = await stage.visit("ada", "compose?account=bluesky")
    await page.get_by_label(t("composer.text"), exact=True).fill(TOO_LONG)
    why = page.get_by_role("status").filter(has_text=t("composer.thisCantBeSentYet"))
    await expect(why).to_contain_text("hall.example (Bluesky): The text has 408 characters")
    send = page.get_by_role(
        "button", name=t("composer.addToQueue"), exact=True
    )  # no time is promised
    await expect(send).to_be_disabled()
    await snap(page, "composer-cannot-be-sent")
    assert await hindrances(page) == []
    for way, label in (("Publish now", "Publish now"), ("Schedule…", "Schedule")):
        await page.get_by_role("button", name=t("composer.moreOptions")).click()
        await page.get_by_role("menuitem", name=way).click()
        await expect(page.get_by_role("button", name=label, exact=True)).to_be_disabled()
    await page.get_by_role("button", name=t("composer.moreOptions")).click()
    await page.get_by_role("menuitem", name=t("composer.saveAsDraft")).click()
    await expect(page.get_by_text(t("composer.youCanSaveThisButNot"))).to_be_visible()
    await page.get_by_role("button", name=t("composer.saveAsDraft")).click()
    await expect(page.get_by_text(t("composer.savedAsDraft"))).to_be_visible()
    assert await stage.rows("SELECT id FROM delivery WHERE account_id = 'bluesky'") == []


async def test_a_scheduled_post_that_stops_fitting_is_flagged_in_queue_and_attention(
    stage: Stage,
) -> None:
    await stage.runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE delivery SET unfit = 'The text has 408 characters' WHERE post_id = :id",
            id=stage.posts[0],
        )
    )
    page = await stage.visit("ada", "queue?account=mastodon")
    await expect(page.get_by_text(t("queue.cantBeSent"))).to_be_visible()
    await expect(page.get_by_text("The text has 408 characters")).to_be_visible()
    await snap(page, "queue-cannot-be-sent")
    page = await stage.visit("ada", "attention")
    await expect(page.get_by_text("The text has 408 characters")).to_be_visible()
    await expect(page.get_by_role("link", name="Edit").first).to_be_visible()
    await snap(page, "attention-cannot-be-sent")


async def test_a_failed_post_is_changed_and_tried_again_in_one_step(stage: Stage) -> None:
    await stage.runtime.operations.run(
        lambda tx, now: tx.run(
            """
            UPDATE delivery SET state = 'failed', reason = 'the server did not like it', failed_at = :now,
                slot_at = NULL WHERE post_id = :id
            """,
            id=stage.posts[0],
            now=now,
        )
    )
    page = await stage.visit("ada", f"compose/{stage.posts[0]}")
    await expect(page.get_by_role("button", name=t("ui.tryAgain"), exact=True)).to_be_enabled()
    await page.get_by_label(t("composer.text"), exact=True).fill("Words that the server likes")
    await snap(page, "composer-try-again")
    await page.get_by_role("button", name=t("composer.saveAndTryAgain")).click()
    await expect(page.get_by_text("Publishing to 1 account: ")).to_be_visible()
    (row,) = await stage.rows(
        "SELECT state, content FROM delivery WHERE post_id = :id", id=stage.posts[0]
    )
    assert (row["state"], "the server likes" in row["content"]) == ("scheduled", True)
    await expect(page.get_by_role("button", name=t("composer.saveAndTryAgain"))).to_have_count(0)


async def test_two_clicks_without_a_pause_make_one_post(stage: Stage) -> None:
    page = await stage.visit("ada", "compose?account=mastodon")
    await page.get_by_label(t("composer.text"), exact=True).fill("Only once")
    button = page.get_by_role("button", name="Add to queue: ")
    await expect(button).to_be_enabled()
    await button.evaluate("it => { it.click(); it.click(); }")
    await expect(page.get_by_label(t("composer.text"), exact=True)).to_have_value("")
    assert len(await stage.rows("SELECT id FROM post WHERE content LIKE '%Only once%'")) == 1


async def test_two_clicks_on_a_form_make_one_key(stage: Stage) -> None:
    page = await stage.visit("ada", "settings/keys")
    await page.get_by_role("button", name=t("settings.newKey")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(t("app.name")).fill("Newsletter script")
    make = dialog.get_by_role("button", name=t("settings.createKey"))
    await make.evaluate("it => { it.click(); it.click(); }")
    await expect(page.get_by_text(t("settings.newsletterScript")).first).to_be_visible()
    assert len(await stage.rows("SELECT id FROM api_key WHERE workspace_id = :h", h=HOME)) == 1


async def test_a_word_without_an_end_stays_inside_of_dialogs(stage: Stage) -> None:
    endless = "Donaudampfschiff" * 20
    await stage.runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE account SET handle = :handle WHERE id = 'mastodon'", handle=endless
        )
    )
    await stage.runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE post SET title = :title, content = replace(content, 'The new season', :title) "
            "WHERE id = :id",
            title=endless,
            id=stage.posts[0],
        )
    )
    for width in (1280, 390):
        page = await stage.visit(
            "ada", "queue?account=mastodon", viewport={"width": width, "height": 800}
        )
        await page.get_by_role("button", name=t("queue.pauseDots")).click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_be_visible()
        await snap(page, f"dialog-endless-{width}")
        box = await dialog.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        inside = "it => it.scrollWidth <= it.clientWidth + 1"
        for part in await dialog.locator("section, header, h2, .mantine-Modal-body").all():
            assert await part.evaluate(inside), await part.inner_text()
        await page.keyboard.press("Escape")
        assert not await overflows(page)
