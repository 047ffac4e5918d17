"""Where a post goes, in a browser: accounts and their channels, what networks let one choose, files, now or later."""

from datetime import datetime
from pathlib import Path

import pytest
from PIL import Image
from playwright.async_api import Page, expect

from cadenza.drafts.save_category import CategoryForm, save_category
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, Stage, connect_account
from tests.browser.test_composer import NEW, WORDS, choose
from tests.browser.texts import t
from tests.media.made import film
from tests.media.test_convert import noise

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_several_accounts_are_counted_on_the_button_and_each_is_told_its_time(
    stage: Stage,
) -> None:
    page = await stage.visit("ada", NEW)
    await choose(page, "hall.example")
    await choose(page, "Concert hall")
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    button = page.get_by_role("button", name="Add to queue: 2 accounts, first Wed 21 Oct 09:00")
    await expect(button).to_be_enabled()
    told = page.get_by_role("list", name=t("composer.accountsAndTimes"))
    await expect(told).to_contain_text("hall.example: Wed 21 Oct 09:00 New York")
    await expect(told).to_contain_text("@hall@music.example: Sat 24 Oct 17:30 Berlin")
    await expect(told).to_contain_text("Concert hall: not possible")
    await expect(page.get_by_role("article", name="LinkedIn")).to_contain_text("Can't be scheduled")
    await snap(page, "composer-several")
    assert await hindrances(page) == []

    await button.click()

    await expect(page.get_by_text("Goes out Wed 21 Oct 09:00 New York from ")).to_be_visible()


async def test_the_slot_that_was_pointed_at_is_taken_as_the_queues_own(stage: Stage) -> None:
    page = await stage.visit("ada", f"{NEW}&at=2026-10-25T16:30:00Z")
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    await page.get_by_role("button", name="Add to queue: Sun 25 Oct 17:30 Berlin").click()

    await expect(page.get_by_text("Goes out Sun 25 Oct 17:30 Berlin from ")).to_be_visible()
    (row,) = await stage.rows(
        "SELECT due_at, slot_at FROM delivery WHERE content LIKE :words", words=f"%{WORDS}%"
    )
    assert row["slot_at"] == row["due_at"]
    assert f"{row['due_at']:%H:%M}" == "16:30"


async def test_an_accounts_channels_and_what_its_network_offers_are_chosen(stage: Stage) -> None:
    await stage.runtime.operations.run(
        lambda tx, now: connect_account(tx, now, "instagram", "@hall.pictures", "Europe/Berlin")
    )
    page = await stage.visit("ada", "compose?account=instagram")
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    where = page.get_by_role("group", name="@hall.pictures: post to")
    await expect(where.get_by_label(t("ui.instagramFeed"))).to_be_checked()
    await where.get_by_label(t("ui.instagramStory")).check()
    await expect(page.get_by_role("article", name=t("ui.instagramStory"))).to_be_visible()
    await where.get_by_label(t("ui.instagramFeed")).uncheck()
    await expect(page.get_by_role("article", name=t("ui.instagramFeed"))).to_have_count(0)
    await expect(where.get_by_label(t("ui.instagramStory"))).to_be_disabled()


async def test_a_channel_has_its_own_hashtags_and_options(stage: Stage) -> None:
    page = await stage.visit("ada", NEW)
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    await page.get_by_role("combobox", name=t("composer.hashtags")).fill("season")
    await page.keyboard.press("Enter")
    await page.get_by_role("tab", name="Mastodon").click()
    await page.get_by_role("button", name="Customize: hashtags on Mastodon").click()
    own = page.get_by_role("combobox", name="Hashtags on Mastodon")
    await own.press("Backspace")
    await own.fill("toots")
    await page.keyboard.press("Enter")
    await page.get_by_role("combobox", name="Who sees it").click()
    await page.get_by_role("option", name="Followers only").click()
    await page.get_by_label("Warning before the text").fill("Long")
    card = page.get_by_role("article", name="Mastodon")
    await expect(card).to_contain_text("#toots")
    await expect(card).not_to_contain_text("#season")
    await snap(page, "composer-options")
    assert await hindrances(page) == []

    await page.get_by_role("button", name="Add to queue: Sat").click()

    await expect(page.get_by_text("Goes out Sat 24 Oct 17:30 Berlin from ")).to_be_visible()
    (row,) = await stage.rows("SELECT content FROM delivery WHERE content LIKE '%toots%'")
    assert '"options":{"spoiler_text":"Long","visibility":"private"}' in row["content"]


async def test_a_category_brings_its_hashtags(stage: Stage) -> None:
    await stage.runtime.operations.run(lambda tx, now: _categorise(tx, now, stage))
    page = await stage.visit("ada", NEW, viewport={"width": 390, "height": 900})
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    await page.get_by_role("combobox", name=t("composer.category")).click()
    await page.get_by_role("option", name="Concerts").click()
    await expect(page.get_by_text("Adds #concert #live")).to_be_visible()
    await expect(page.get_by_role("article", name="Mastodon")).to_contain_text("#concert #live")
    await snap(page, "composer-category-phone")
    assert not await overflows(page)
    assert await hindrances(page) == []


async def test_a_file_is_checked_beside_the_channel_that_minds_it(
    stage: Stage, tmp_path: Path
) -> None:
    await stage.runtime.operations.run(
        lambda tx, now: connect_account(tx, now, "instagram", "@hall.pictures", "Europe/Berlin")
    )
    page = await stage.visit("ada", "compose?account=instagram")
    await choose(page, "@hall@music.example")
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    picture = tmp_path / "tower.png"
    Image.new("RGB", (400, 2000), "teal").save(picture)  # far too high for Instagram
    async with page.expect_file_chooser() as choosing:
        await page.get_by_role("button", name=t("composer.addImagesOrAVideo")).click()
    await (await choosing.value).set_files(picture)
    await expect(page.get_by_label("Description of tower.png")).to_be_visible()
    await page.get_by_label("Description of tower.png").fill("A tower")
    minds = page.get_by_role("article", name=t("ui.instagramFeed"))
    await expect(minds).to_contain_text("tower.png is 400×2000; between 4:5 and 1.91:1 is taken.")
    await expect(page.get_by_role("tab", name=t("ui.instagramFeed"))).to_contain_text(
        t("composer.cantBeSent")
    )
    takes = page.get_by_role("article", name="Mastodon")
    await expect(takes).not_to_contain_text("Can't be sent")
    await expect(takes.get_by_role("img", name="A tower")).to_be_visible()
    await snap(page, "composer-media")
    assert await hindrances(page) == []


async def test_a_picture_is_shown_as_each_network_gets_it(stage: Stage, tmp_path: Path) -> None:
    page = await stage.visit("ada", "compose?account=bluesky")
    await choose(page, "@hall@music.example")
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    picture = tmp_path / "hall.png"
    noise(1000, 900).save(picture)
    async with page.expect_file_chooser() as choosing:
        await page.get_by_role("button", name=t("composer.addImagesOrAVideo")).click()
    await (await choosing.value).set_files(picture)
    await page.get_by_label("Description of hall.png").fill("The hall")
    smaller = page.get_by_role("article", name="Bluesky")
    await expect(smaller).to_contain_text("hall.png: converted to JPEG, 2.7 MB →")
    shown = smaller.get_by_role("img", name="The hall")
    await expect(shown).to_be_visible()
    assert "/fitted/jpeg-2000000-" in (await shown.get_attribute("src") or "")
    await page.wait_for_function(
        "(each) => each.naturalWidth > 0", arg=await shown.element_handle()
    )
    await expect(smaller).not_to_contain_text(t("composer.worthChecking"))
    takes = page.get_by_role("article", name="Mastodon")
    await expect(takes).not_to_contain_text("converted")
    await snap(page, "composer-fitted")
    assert await hindrances(page) == []


async def test_a_post_is_published_now_after_a_question(stage: Stage) -> None:
    page = await stage.visit("ada", NEW)
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    await other_way(page, "Publish now")
    await page.get_by_role("button", name=t("composer.publishNow"), exact=True).click()
    question = page.get_by_role("dialog", name=t("activity.publishNowQuestion"))
    await expect(question).to_contain_text(
        "It's published right away: Mastodon (@hall@music.example)."
    )
    await snap(page, "composer-now")
    await question.get_by_role("button", name=t("composer.publishNow")).click()

    await expect(page.get_by_text("Publishing to 1 account: ")).to_be_visible()
    (row,) = await stage.rows(
        "SELECT state, due_at, priority FROM delivery WHERE content LIKE :words",
        words=f"%{WORDS}%",
    )
    assert (row["state"], row["priority"] < 0) == ("scheduled", True)
    assert row["due_at"] <= stage.runtime.clock.now()


async def test_a_draft_is_approved_and_published_now_in_one_press(stage: Stage) -> None:
    id_ = await stage.runtime.operations.run(lambda tx, now: _draft(tx, now, stage))
    page = await stage.visit("ada", f"compose/{id_}")
    await choose(page, "@hall@music.example")
    await other_way(page, "Publish now")
    await page.get_by_role("button", name=t("composer.approveAndPublishNow")).click()
    question = page.get_by_role("dialog", name=t("drafts.approveAndPublishNowQuestion"))
    await question.get_by_role("button", name=t("composer.approveAndPublishNow")).click()

    await expect(page.get_by_text("Publishing to 1 account: ")).to_be_visible()
    (post,) = await stage.rows("SELECT approved_by FROM post WHERE id = :id", id=id_)
    assert post["approved_by"] == f"member:{stage.members['ada']}"
    (row,) = await stage.rows("SELECT state FROM delivery WHERE post_id = :id", id=id_)
    assert row["state"] == "scheduled"


async def other_way(page: Page, name: str) -> None:
    await page.get_by_role("button", name=t("composer.moreOptions")).click()
    await page.get_by_role("menuitem", name=name).click()


def _categorise(tx: Tx, now: datetime, stage: Stage) -> None:
    form = CategoryForm(name="Concerts", hashtags=["concert", "live"])
    save_category(tx, now, form, workspace_id=HOME, by=f"member:{stage.members['ada']}")


def _draft(tx: Tx, now: datetime, stage: Stage) -> str:
    new = NewPost(workspace_id=HOME, text="A look behind the organ")
    made = create(tx, now, new, by=f"member:{stage.members['ada']}", approve=False)
    assert isinstance(made, Created)
    return made.id


async def test_a_video_shows_its_first_moment_where_a_picture_shows_itself(
    stage: Stage, tmp_path: Path
) -> None:
    page = await stage.visit("ada", NEW)
    await page.get_by_label(t("composer.text"), exact=True).fill(WORDS)
    (tmp_path / "waves.mp4").write_bytes(film())
    async with page.expect_file_chooser() as choosing:
        await page.get_by_role("button", name=t("composer.addImagesOrAVideo")).click()
    async with page.expect_response(lambda answer: answer.url.endswith("/file")) as requested:
        await (await choosing.value).set_files(tmp_path / "waves.mp4")
    assert (await requested.value).status in (200, 206)
    await page.get_by_label("Description of waves.mp4").fill("Waves")
    beside = page.get_by_role("article", name="Mastodon").locator("video")
    await expect(beside).to_have_attribute("aria-label", "Waves")
    assert await hindrances(page) == []
