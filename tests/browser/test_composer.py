"""The composer in a browser: the button says the time, networks count their way, nothing typed is lost."""

import pytest
from playwright.async_api import Page, expect

from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
NEW = "compose?account=mastodon"
WORDS = "We open the season on Friday"


async def test_the_button_says_the_time_before_it_is_pressed_and_keeps_its_word(
    stage: Stage,
) -> None:
    page = await stage.visit("ada", NEW)
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    button = page.get_by_role("button", name="Add to queue: Sat 24 Oct 17:30 Berlin")
    await expect(button).to_be_enabled()
    await expect(page.get_by_label(t("composer.previews"))).to_contain_text(WORDS)
    await snap(page, "composer")
    assert await hindrances(page) == []

    await button.click()

    await expect(page.get_by_text("Goes out Sat 24 Oct 17:30 Berlin from ")).to_be_visible()
    (row,) = await stage.rows(
        """
        SELECT delivery.due_at FROM delivery JOIN post ON post.id = delivery.post_id
        WHERE post.content LIKE :words
        """,
        words=f"%{WORDS}%",
    )
    assert f"{row['due_at']:%Y-%m-%d %H:%M}" == "2026-10-24 15:30"
    await expect(page.get_by_label(t("composer.text"), exact=True)).to_have_value("")


async def test_each_network_counts_in_its_own_way_and_says_what_it_refuses(stage: Stage) -> None:
    page = await stage.visit("ada", NEW)
    await choose(page, "hall.example")
    await page.get_by_label(t("composer.text"), exact=True).fill(
        "é" * 290 + " https://example.org/a/long/way"
    )
    lengths = page.get_by_role("status", name=t("composer.lengthLabel"))
    await expect(lengths).to_contain_text("Bluesky 321 of 300")
    await expect(lengths).to_contain_text("Mastodon 314 of 500")
    bluesky = page.get_by_role("article", name="Bluesky")
    await expect(bluesky).to_contain_text(t("composer.cantBeSentLikeThis"))
    await expect(page.get_by_role("article", name="Mastodon")).not_to_contain_text("Can't be sent")
    await snap(page, "composer-too-long")

    await page.get_by_role("tab", name="Bluesky").click()
    await page.get_by_role("button", name="Customize: text on Bluesky").click()
    await page.get_by_label("Text on Bluesky").fill("Shorter here")

    await expect(bluesky).to_contain_text("Shorter here")
    await expect(bluesky).not_to_contain_text("Can't be sent")
    await expect(page.get_by_role("tab", name="Bluesky")).to_contain_text(t("composer.customized"))
    await page.get_by_role("button", name="Text: reset to main post").click()
    await expect(bluesky).to_contain_text(t("composer.cantBeSentLikeThis"))


async def test_what_was_typed_is_there_after_a_reload(stage: Stage) -> None:
    page = await stage.visit("ada", NEW)
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    await expect(page.get_by_text(t("composer.notSavedYetYourTextIs"))).to_be_visible()

    await page.reload()

    await expect(page.get_by_text(t("composer.yourUnsavedTextIsBack"))).to_be_visible()
    await expect(page.get_by_label(t("composer.text"), exact=True)).to_have_value(WORDS)
    await page.get_by_role("button", name=t("composer.discard")).click()
    await expect(page.get_by_label(t("composer.text"), exact=True)).to_have_value("")


async def test_two_people_who_save_the_same_post_see_both_versions(stage: Stage) -> None:
    path = f"compose/{stage.posts[0]}"
    ada = await stage.visit("ada", path, deaf=True)
    await ada.get_by_label(t("composer.text"), exact=True).fill("What Ada wants to say")
    ben = await stage.visit("ben", path)
    await ben.get_by_label(t("composer.text"), exact=True).fill("What Ben wants to say")
    await ben.get_by_role("button", name=t("composer.save")).click()
    await expect(ben.get_by_role("alert").get_by_text(t("composer.saved"))).to_be_visible()

    await ada.get_by_role("button", name=t("composer.save")).click()

    dialog = ada.get_by_role("dialog", name=t("composer.someoneElseChangedThisPost"))
    await expect(dialog).to_contain_text("What Ada wants to say")
    await expect(dialog).to_contain_text("What Ben wants to say")
    await snap(ada, "composer-conflict")
    assert await hindrances(ada) == []
    await dialog.get_by_role("button", name=t("composer.keepMine")).click()
    await ada.get_by_role("button", name=t("composer.save")).click()
    await expect(ada.get_by_role("alert").get_by_text(t("composer.saved"))).to_be_visible()
    (row,) = await stage.rows("SELECT content FROM post WHERE id = :id", id=stage.posts[0])
    assert "What Ada wants" in row["content"]


async def test_the_composer_fits_a_phone_and_the_dark(stage: Stage) -> None:
    page = await stage.visit(
        "ada", NEW, viewport={"width": 390, "height": 800}, color_scheme="dark"
    )
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    await expect(page.get_by_role("button", name="Add to queue: Sat")).to_be_enabled()
    await snap(page, "composer-phone-dark")
    assert not await overflows(page)
    assert await hindrances(page) == []


async def test_a_viewer_reads_and_cannot_send(stage: Stage) -> None:
    page = await stage.visit("cy", f"compose/{stage.posts[0]}")
    await expect(page.get_by_label(t("composer.text"), exact=True)).to_be_disabled()
    await expect(page.get_by_role("button", name=t("composer.save"))).to_have_count(0)


async def choose(page: Page, handle: str) -> None:
    await page.get_by_label(t("composer.accounts")).first.click()
    await page.get_by_role("option", name=handle).click()
    await page.keyboard.press("Escape")
