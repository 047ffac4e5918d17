"""Drafts, approvals and rules in a browser: found, approved in bulk, laid out ahead after a look at the plan."""

from datetime import datetime

import pytest
from playwright.async_api import Page, expect

from cadenza.drafts.model import Category
from cadenza.drafts.save_category import CategoryForm, save_category
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.queues.add import add
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, Stage, connect_account
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
DRAFTS = ("A look into the archive", "The cloakroom in winter", "Why oboes give the note")


async def test_drafts_are_searched_and_approved_together(stage: Stage) -> None:
    await stage.runtime.operations.run(lambda tx, now: _write(tx, now, stage))
    page = await stage.visit("ada", "drafts")
    for draft in DRAFTS:
        await expect(page.get_by_role("link", name=draft)).to_be_visible()
    await snap(page, "drafts")
    assert await hindrances(page) == []
    await page.get_by_label(t("drafts.search")).fill("oboes")
    await expect(page.get_by_role("link", name=DRAFTS[0])).to_have_count(0)
    await page.get_by_label(t("drafts.search")).fill("")
    await expect(page.get_by_role("link", name=DRAFTS[0])).to_be_visible()

    await page.get_by_label(t("drafts.selectAllThatNeedApproval")).check()
    await page.get_by_role("button", name="Approve 3 posts").click()

    await expect(page.get_by_text("3 posts approved.")).to_be_visible()
    approved = await stage.rows("SELECT id FROM post WHERE approved_hash IS NOT NULL")
    assert len(approved) == len(DRAFTS) + len(stage.posts)


async def test_one_approval_can_be_undone(stage: Stage) -> None:
    await stage.runtime.operations.run(lambda tx, now: _write(tx, now, stage))
    page = await stage.visit("ada", "drafts")
    await page.get_by_role("button", name=f"Approve: {DRAFTS[1]}").click()
    await expect(page.get_by_text(t("drafts.approvedToast"))).to_be_visible()

    await page.get_by_role("button", name=t("ui.undo")).click()

    await expect(page.get_by_text(t("drafts.itNeedsApprovalAgain"))).to_be_visible()
    await expect(page.get_by_role("button", name=f"Approve: {DRAFTS[1]}")).to_be_visible()


async def test_a_draft_is_approved_and_published_from_the_list_after_a_question(
    stage: Stage,
) -> None:
    id_ = await stage.runtime.operations.run(lambda tx, now: _lay_out(tx, now, stage))
    page = await stage.visit("ada", "drafts")
    await page.get_by_role("button", name=f"More for {DRAFTS[0]}").click()
    await page.get_by_role("menuitem", name=t("drafts.approveAndPublishNow")).click()
    question = page.get_by_role("dialog", name=t("drafts.approveAndPublishNowQuestion"))
    await expect(question).to_contain_text(
        "It's published right away to 1 account: @hall@music.example."
    )
    await snap(page, "drafts-publish")
    assert await hindrances(page) == []
    await question.get_by_role("button", name=t("drafts.approveAndPublishNow")).click()

    await expect(page.get_by_text("Publishing to 1 account: ")).to_be_visible()
    await expect(page.get_by_role("link", name=DRAFTS[0])).to_have_count(0)
    (row,) = await stage.rows("SELECT state, due_at FROM delivery WHERE post_id = :id", id=id_)
    assert row["state"] == "scheduled"
    assert row["due_at"] <= stage.runtime.clock.now()
    (post,) = await stage.rows("SELECT approved_by FROM post WHERE id = :id", id=id_)
    assert post["approved_by"] == f"member:{stage.members['ada']}"


async def test_labels_lead_to_posts_that_bear_them(stage: Stage) -> None:
    await stage.runtime.operations.run(lambda tx, now: _write(tx, now, stage))
    page = await stage.visit("cy", "drafts")
    await page.get_by_role("button", name="Show only posts labeled season").click()
    await expect(page.get_by_role("link", name=DRAFTS[0])).to_be_visible()
    await expect(page.get_by_role("link", name=DRAFTS[1])).to_have_count(0)
    await expect(page.get_by_role("button", name=t("drafts.approve"))).to_have_count(0)


async def test_a_rule_shows_its_plan_before_it_is_saved_and_lays_out_posts(stage: Stage) -> None:
    page = await stage.visit("ada", "drafts/categories")
    await page.get_by_role("button", name=t("drafts.newCategory")).click()
    await page.get_by_role("textbox", name=t("drafts.name"), exact=True).fill("Rehearsals")
    await page.get_by_label(t("drafts.textForRules")).fill("We rehearse on {{weekday}}.")
    assert await hindrances(page) == []
    await page.get_by_role("button", name=t("drafts.saveCategory")).click()
    await expect(page.get_by_role("region", name="Rehearsals")).to_be_visible()

    await page.get_by_role("tab", name=t("drafts.rules")).click()
    await page.get_by_role("button", name=t("drafts.newRule")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name=t("drafts.name"), exact=True).fill("Mondays")
    await dialog.get_by_label(t("drafts.category")).first.click()
    await page.get_by_role("option", name="Rehearsals").click()
    await dialog.get_by_label(t("composer.accounts")).first.click()
    await page.get_by_role("option", name="@hall@music.example").click()
    await page.keyboard.press("Escape")
    plan = dialog.get_by_label(t("drafts.whatThisRuleWillDo"))
    await expect(plan).to_contain_text("4 added · 0 moved · 0 removed")
    await expect(plan).to_contain_text("Mon 26 Oct, 09:00")
    await snap(page, "drafts-rule")
    assert await hindrances(page) == []
    await dialog.get_by_role("button", name=t("drafts.saveRule")).click()
    await expect(page.get_by_text("Mondays at 09:00, Berlin time")).to_be_visible()

    await page.get_by_role("button", name=t("drafts.generateNow")).click()
    await expect(page.get_by_text("4 posts created.")).to_be_visible()
    await page.get_by_role("tab", name=t("drafts.posts")).click()
    rows = page.get_by_text(t("drafts.createdByARule")).filter(visible=True)
    await expect(rows).to_have_count(4)
    await snap(page, "drafts-laid-out")
    assert await hindrances(page) == []


async def test_a_rule_keeps_to_weekdays_of_the_month_channels_a_pool_and_changes_of_clocks(
    stage: Stage,
) -> None:
    await stage.runtime.operations.run(lambda tx, now: _prepare(tx, now, stage))
    page = await stage.visit("ada", "drafts/rules")
    await page.get_by_role("button", name=t("drafts.newRule")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name=t("drafts.name"), exact=True).fill("Last Fridays")
    await choose(page, "Category", "Rehearsals")
    await choose(page, t("composer.accounts"), "@hall.pictures")
    await dialog.get_by_label(t("ui.instagramStory")).check()
    await choose(page, "How often", "Monthly")
    await dialog.get_by_label(t("drafts.daysOfTheMonth")).first.press("Backspace")
    await dialog.get_by_role("button", name=t("drafts.addAWeekdayOfTheMonth")).click()
    await choose(page, "Which one in the month, 1", "last")
    await choose(page, "Weekday of the month, 1", "Friday")
    await choose(page, "Images from", "Images of Archive")
    await choose(page, "When clocks go forward", "Skip that day")
    await choose(page, "When clocks go back", "Send both times")
    plan = dialog.get_by_label(t("drafts.whatThisRuleWillDo"))
    await expect(plan).to_contain_text("Every month on the last Friday at 09:00")
    await expect(plan).to_contain_text("Fri 30 Oct, 09:00")
    await snap(page, "drafts-rule-month")
    assert await hindrances(page) == []
    await dialog.get_by_role("button", name=t("drafts.saveRule")).click()

    await expect(page.get_by_text("Last Fridays saved.")).to_be_visible()
    (rule,) = await stage.rows("SELECT pattern, pool_id, gap, fold FROM rule")
    assert (rule["pool_id"], rule["gap"], rule["fold"]) == (stage.names["Archive"], "skip", "both")
    assert '"weekdays":[{"nth":-1,"weekday":5}]' in rule["pattern"]
    targets = await stage.rows("SELECT channel FROM rule_target ORDER BY channel")
    assert [each["channel"] for each in targets] == ["instagram_feed", "instagram_story"]


async def choose(page: Page, label: str, option: str) -> None:
    await page.get_by_role("dialog").get_by_role("combobox", name=label).click()
    await (
        page.get_by_role("option", name=option, exact=True)
        .or_(page.get_by_role("option", name=option))
        .first.click()
    )
    await page.keyboard.press("Tab")


async def test_drafts_fit_a_phone_in_the_dark(stage: Stage) -> None:
    await stage.runtime.operations.run(lambda tx, now: _write(tx, now, stage))
    page = await stage.visit(
        "ada", "drafts?state=all", viewport={"width": 390, "height": 800}, color_scheme="dark"
    )
    await expect(page.get_by_role("link", name=DRAFTS[0])).to_be_visible()
    await snap(page, "drafts-phone-dark")
    assert not await overflows(page)
    assert await hindrances(page) == []


def _prepare(tx: Tx, now: datetime, stage: Stage) -> None:
    connect_account(tx, now, "instagram", "@hall.pictures", "Europe/Berlin")
    by = f"member:{stage.members['ada']}"
    for name in ("Rehearsals", "Archive"):
        kept = save_category(tx, now, CategoryForm(name=name), workspace_id=HOME, by=by)
        assert isinstance(kept, Category)
        stage.names[name] = kept.id


def _lay_out(tx: Tx, now: datetime, stage: Stage) -> str:
    """Write a draft that has its place in a queue and waits for approval."""
    by = f"member:{stage.members['ben']}"
    made = create(tx, now, NewPost(workspace_id=HOME, text=DRAFTS[0]), by=by, approve=False)
    assert isinstance(made, Created)
    add(tx, now, workspace_id=HOME, post_id=made.id, by=by, targets=["mastodon"])
    return made.id


def _write(tx: Tx, now: datetime, stage: Stage) -> None:
    by = f"member:{stage.members['ben']}"
    for draft in DRAFTS:
        labels = ("season",) if draft == DRAFTS[0] else ()
        new = NewPost(workspace_id=HOME, text=draft, labels=labels)
        assert isinstance(create(tx, now, new, by=by, approve=False), Created)
