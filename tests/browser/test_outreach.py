"""Contacts, templates, sequences and campaigns in a browser, as people use them: the messages really leave.

One world serves all stories, because people live in one too; each story uses names of its own.
"""

import asyncio
import csv
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from cadenza.contacts.addresses import EMAIL
from cadenza.contacts.unsubscribe import Subscriber, unsubscribe_url
from cadenza.demo.add_contacts import add_contacts
from cadenza.demo.cast import Cast, assemble
from cadenza.demo.fill import connect_places
from cadenza.inbox.model import Inbound, InboundKind
from cadenza.inbox.record import record_inbound
from cadenza.sql.tx import Tx
from cadenza.templates.model import BodyFormat, Template, TemplateContent
from cadenza.templates.store import create_template
from tests.browser.at_work import open_at_work
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
PHONE = {"width": 390, "height": 844}
ROWS = 10_000


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def cast() -> AsyncIterator[Cast]:
    cast = await assemble()
    yield cast
    await cast.simulator.close()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bakery(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, cast: Cast
) -> AsyncIterator[Stage]:
    async with open_at_work(browser, tmp_path_factory.mktemp("bakery"), cast) as stage:
        by = f"member:{stage.members['ada']}"
        await connect_places(stage.runtime, cast, HOME, stage.names)
        await add_contacts(stage.runtime, HOME, by)
        await stage.runtime.operations.run(lambda tx, now: write_template(tx, now, by))
        yield stage


def write_template(tx: Tx, now: datetime, by: str) -> None:
    content = TemplateContent(
        body='Hello {{first_name | default: "there"}}, the oven is hot.',
        subject="Fresh bread",
        format=BodyFormat.MARKDOWN,
    )
    made = create_template(tx, now, content, workspace_id=HOME, name="Welcome", by=by)
    assert isinstance(made, Template), made


async def choose(page: Page | Locator, label: str, option: str) -> None:
    """Choose in a list that opens."""
    box = page.get_by_role("combobox", name=label)
    await box.click()
    whole = box.page
    await whole.get_by_role("option", name=option).first.click()


async def test_a_campaign_is_tried_then_sent_and_what_failed_is_sent_again(
    bakery: Stage, cast: Cast
) -> None:
    chats = cast.roles["telegram"].simulated
    chats.add_chat("channel", "Bakers of Berlin", username="bakers_berlin")
    page = await bakery.visit("ada", "campaigns")
    await expect(page.get_by_text(t("campaigns.noCampaignsYet"))).to_be_visible()
    await page.get_by_role("link", name=t("campaigns.newCampaign")).click()
    await page.get_by_role("button", name=t("campaigns.next")).click()
    await expect(page.get_by_text(t("campaigns.enterAName"))).to_be_visible()
    await page.get_by_role("textbox", name=t("campaigns.name")).fill("Autumn")
    await choose(page, t("campaigns.audience"), "Regulars")
    await choose(page, t("campaigns.sendBy"), "Telegram")
    await page.get_by_role("button", name=t("campaigns.next")).click()
    await choose(page, t("campaigns.template"), "Welcome")
    await expect(page.get_by_text("the oven is hot.")).to_be_visible()
    await page.get_by_role("button", name=t("campaigns.next")).click()
    await page.get_by_role("checkbox", name="Telegram").check()
    await page.get_by_role("button", name=t("campaigns.checkAndReview")).click()
    await expect(page.get_by_text(t("campaigns.boundByRate"))).to_be_visible()
    assert await hindrances(page) == []

    await page.get_by_role("button", name=t("campaigns.startATestRun")).click()
    await expect(page.get_by_text(t("ui.completed"), exact=True)).to_be_visible()
    await expect(page.get_by_role("img", name="2 of 6 sent, 4 skipped")).to_be_visible()
    assert [each.text for each in cast.simulator.visible(chats)] == []

    ben = await bakery.visit("ben", "campaigns", viewport=PHONE, color_scheme="dark")
    await page.get_by_role("button", name=t("campaigns.setUpTheRealOne")).click()
    await page.get_by_role("button", name=t("campaigns.startCampaignDots")).click()
    sheet = page.get_by_role("dialog", name="Start Autumn")
    await expect(sheet.get_by_text("all of Regulars")).to_be_visible()
    await sheet.get_by_role("button", name="Send to 6 recipients").click()
    await expect(page.get_by_role("img", name="1 of 6 sent, 1 failed, 4 skipped")).to_be_visible()
    await expect(ben.get_by_text("1 of 6 sent, 1 failed, 4 skipped")).to_be_visible()
    assert not await overflows(ben)
    assert await hindrances(ben) == []
    await snap(ben, "campaigns-phone-dark")
    await choose(page, t("campaigns.status"), t("ui.failed"))
    row = page.get_by_role("listitem").filter(has_text="@kiez_news")
    await expect(row).to_contain_text("chat not found")
    await snap(page, "campaign")
    assert await hindrances(page) == []

    chats.add_chat("channel", "News", username="kiez_news")
    await page.get_by_role("button", name=t("campaigns.retryFailed")).click()
    await page.get_by_role("dialog").get_by_role("button", name=t("campaigns.sendAgain")).click()
    await expect(page.get_by_role("img", name="2 of 6 sent, 4 skipped")).to_be_visible()
    await expect(ben.get_by_text("2 of 6 sent, 4 skipped")).to_have_count(2)
    async with page.expect_download() as asked:
        await page.get_by_role("button", name=t("campaigns.reportCsv")).click()
    file = Path(await (await asked.value).path())
    written = await asyncio.to_thread(file.read_text, encoding="utf-8-sig")
    found = {line["Recipient"]: line["Status"] for line in csv.DictReader(written.splitlines())}
    assert found["'@kiez_news"] == "sent"  # guarded: a spreadsheet takes an @ for a formula
    assert len(found) == 6


async def test_a_running_campaign_is_paused_changed_and_resumed_by_a_second_person(
    bakery: Stage,
) -> None:
    ada = await bakery.visit("ada", f"accounts?account={bakery.names['smtp']}")
    await ada.get_by_role("tab", name=t("accounts.email")).click()
    await ada.get_by_role("switch", name=t("accounts.madeForMany")).click()
    await expect(ada.get_by_text(t("accounts.saved"))).to_be_visible()
    await ada.goto(f"{bakery.address}/w/{HOME}/campaigns/new")
    await ada.get_by_role("textbox", name=t("campaigns.name")).fill("Winter")
    await choose(ada, t("campaigns.audience"), "May get mail")
    await ada.get_by_role("button", name=t("campaigns.next")).click()
    await choose(ada, t("campaigns.template"), "Welcome")
    await ada.get_by_role("button", name=t("campaigns.next")).click()
    await ada.get_by_role("checkbox", name="Email").check()
    await ada.get_by_role("textbox", name=t("campaigns.messagesPerMinuteAtMost")).fill("6")
    await ada.get_by_role("button", name=t("campaigns.checkAndReview")).click()
    blocked = ada.get_by_role("alert")
    await expect(blocked).to_contain_text("Show a link to unsubscribe")
    await expect(ada.get_by_role("button", name=t("campaigns.startCampaignDots"))).to_be_disabled()
    await ada.get_by_role("button", name=t("campaigns.startATestRun")).click()
    await expect(ada.get_by_role("button", name=t("campaigns.pauseDots"))).to_be_visible()

    ben = await bakery.visit("ben", "campaigns")
    await ben.get_by_role("link", name="Winter").click()
    await ben.get_by_role("button", name=t("campaigns.pauseDots")).click()
    why = ben.get_by_role("dialog", name=t("campaigns.pauseCampaign"))
    await why.get_by_role("textbox").fill("a wrong link")
    await why.get_by_role("button", name=t("campaigns.pause"), exact=True).click()
    await expect(ada.get_by_text("A wrong link.")).to_be_visible()
    await ben.get_by_role("button", name=t("campaigns.changeSpeed")).click()
    speed = ben.get_by_role("dialog", name=t("campaigns.changeSpeed"))
    await speed.get_by_role("textbox").fill("6000")
    await speed.get_by_role("button", name=t("campaigns.save")).click()
    await expect(ada.get_by_text("6,000 a minute")).to_be_visible()
    await ada.get_by_role("button", name=t("campaigns.resume")).click()
    await expect(ben.get_by_text(t("ui.completed"), exact=True)).to_be_visible()


async def test_ten_thousand_contacts_are_matched_tried_imported_found_and_taken_back(
    bakery: Stage, tmp_path: Path
) -> None:
    lines = (f"guest{n}@example.net,Guest{n},fair" for n in range(ROWS - 2))
    file = tmp_path / "guests.csv"
    file.write_text("\n".join(("Wohin,Vorname,Woher", *lines, "nobody,Cy,fair", "x@,Di,fair")))
    page = await bakery.visit("ada", "contacts/import")
    async with page.expect_file_chooser() as asked:
        await page.get_by_role("button", name=t("contacts.chooseAFile")).click()
    await (await asked.value).set_files(file)
    await choose(page, "Wohin becomes", "Email")
    await choose(page, "Woher becomes", "Source")
    await page.get_by_role("combobox", name=t("contacts.tagEverybody")).fill("fair")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name=t("contacts.checkEveryRow")).click()
    await expect(page.get_by_text("9,998 contacts would be imported")).to_be_visible(timeout=60_000)
    await expect(page.get_by_text("2 refused")).to_be_visible()
    await snap(page, "contacts-import")
    assert await hindrances(page) == []
    await page.get_by_role("button", name="Import 9,998 contacts").click()
    await expect(page.get_by_text(t("contacts.imported"), exact=True)).to_be_visible(timeout=60_000)
    await expect(page.get_by_text("Wohin: nobody")).to_be_visible()

    await page.get_by_role("tab", name=t("contacts.contacts"), exact=True).click()
    await expect(page.get_by_text(f"{ROWS - 2 + 10:,} contacts")).to_be_visible()
    people = page.get_by_role("group", name=t("contacts.contacts"), exact=True)
    assert await people.get_by_role("listitem").count() < 50  # only what is in sight
    await people.evaluate("list => list.scrollTo(0, list.scrollHeight)")
    await expect(people.locator("[aria-posinset='201']")).to_be_attached()
    await page.get_by_role("textbox", name=t("contacts.search")).fill("guest4711")
    await page.get_by_role("link", name="Guest4711").click()
    await expect(page.get_by_role("heading", name="Guest4711")).to_be_visible()
    await expect(page.get_by_text(t("contacts.nothingWasWrittenYet"))).to_be_visible()
    assert await hindrances(page) == []

    await page.goto(f"{bakery.address}/w/{HOME}/contacts/import")
    await page.get_by_role("button", name="Open guests.csv").click()
    await page.get_by_role("button", name=t("contacts.undoImportDots")).click()
    await page.get_by_role("dialog").get_by_role("button", name=t("contacts.undoImport")).click()
    await expect(page.get_by_text("9,998 removed")).to_be_visible(timeout=60_000)


async def test_a_template_says_what_a_contact_lacks_and_a_sequence_stops_at_the_reply(
    bakery: Stage,
) -> None:
    page = await bakery.visit("ada", "templates/new")
    await page.get_by_role("textbox", name=t("templates.name")).fill("Visit")
    await page.get_by_role("textbox", name=t("templates.subject")).fill("Hello {{first_name}}")
    body = page.get_by_role("textbox", name=t("templates.text"))
    await body.fill("Dear {{first_name}}, your {{favourite}} waits.")
    await page.get_by_role("combobox", name=t("templates.asThisPersonGetsIt")).fill("weber")
    await page.get_by_role("option", name="Max Weber").click()
    await expect(page.get_by_text(t("ui.cantBeSentLikeThis"))).to_be_visible()
    await expect(page.get_by_role("status").filter(has_text="favourite")).to_be_visible()
    assert await hindrances(page) == []
    await body.fill('Dear {{first_name}}, your {{favourite | default: "bread"}} waits.')
    shown = page.frame_locator("iframe")
    await expect(shown.get_by_text("Dear Max, your bread waits.")).to_be_visible()
    await page.get_by_role("button", name=t("templates.saveTemplate")).click()
    await expect(page.get_by_text("Version 1", exact=True)).to_be_visible()

    await page.get_by_role("link", name=t("app.sequences")).click()
    await page.get_by_role("link", name=t("sequences.newSequence")).click()
    await page.get_by_role("textbox", name=t("sequences.name")).fill("Wholesale")
    await choose(page, t("sequences.template"), "Visit")
    await page.get_by_role("button", name=t("sequences.addStep")).click()
    second = page.get_by_role("group", name="Step 2")
    await choose(second, t("sequences.template"), "Welcome")
    await page.get_by_role("checkbox", name="Email (SMTP)").check()
    await page.get_by_role("button", name=t("sequences.save")).click()
    await choose(page, t("sequences.addAnAudience"), "Regulars")
    plan = page.get_by_role("region", name=t("sequences.plan"))
    await expect(plan.get_by_text("4 messages, the first")).to_be_visible()
    await expect(plan.get_by_text(t("sequences.boundByGap"))).to_be_visible()
    await expect(plan.get_by_role("img", name="Emails: 4 messages")).to_be_visible()
    await plan.get_by_role("button", name=t("sequences.showTable")).click()
    await expect(plan.get_by_role("cell", name="20").first).to_be_visible()
    await snap(page, "sequence-plan")
    assert await hindrances(page) == []
    await page.get_by_role("button", name=t("sequences.startDots")).click()
    await page.get_by_role("dialog").get_by_role("button", name=t("sequences.start")).click()
    dora = page.get_by_role("listitem").filter(has_text="Dora Klein")
    await expect(dora).to_contain_text(t("ui.planned"))

    ben = await bakery.visit("ben", "inbox", viewport=PHONE, color_scheme="dark")
    await expect(ben.get_by_text(t("inbox.repliesAppearHere"))).to_be_visible()
    await bakery.runtime.operations.run(
        lambda tx, now: record_inbound(tx, now, reply(now, bakery.names["smtp"]))
    )
    await expect(dora).to_contain_text(t("ui.stopped"))
    await expect(dora).to_contain_text("replied")
    await ben.get_by_role("button", name="Dora").click()
    await expect(ben.get_by_text("Yes, forty pretzels please.")).to_be_visible()
    await choose(ben, t("inbox.label"), t("inbox.interested"))
    await choose(ben, t("inbox.assignee"), "Ada")
    await snap(ben, "inbox-phone-dark")
    assert not await overflows(ben)
    assert await hindrances(ben) == []
    await ben.get_by_role("textbox", name=t("inbox.reply")).fill("Gladly. On Friday?")
    await ben.get_by_role("button", name=t("inbox.sendReply")).click()
    written = ben.get_by_role("list", name=t("inbox.messages"))
    await expect(written.get_by_text("Gladly. On Friday?")).to_be_visible()
    await ben.get_by_role("button", name=t("inbox.markDone")).click()
    await ben.get_by_role("button", name=t("inbox.allConversations")).click()
    await expect(ben.get_by_text(t("inbox.noOpenConversations"))).to_be_visible()


def reply(now: datetime, account_id: str) -> Inbound:
    return Inbound(
        workspace_id=HOME,
        account_id=account_id,
        remote_id="<reply@example.org>",
        kind=InboundKind.REPLY,
        source="imap",
        at=now,
        address="dora.klein@example.org",
        message_id="<reply@example.org>",
        subject="Re: Hello Dora",
        text="Yes, forty pretzels please.",
    )


async def test_who_unsubscribes_is_on_the_list_at_once_and_only_an_admin_takes_them_off(
    bakery: Stage,
) -> None:
    page = await bakery.visit("ada", "contacts/suppression")
    await expect(page.get_by_text(t("contacts.nobodyIsBlocked"))).to_be_visible()
    someone = Subscriber(HOME, EMAIL, "emil.sommer@example.org")
    url = unsubscribe_url(bakery.runtime.keyring, "https://bakery.example", someone)
    assert url is not None
    stranger = await bakery.stranger(url.removeprefix("https://bakery.example/"))
    await stranger.get_by_role("button", name="Unsubscribe").click()

    row = page.get_by_role("listitem").filter(has_text="emil.sommer@example.org")
    await expect(row).to_contain_text(t("contacts.reasonUnsubscribe"))
    ben = await bakery.visit("ben", "contacts/suppression", viewport=PHONE, color_scheme="dark")
    await expect(ben.get_by_text("emil.sommer@example.org")).to_be_visible()
    await expect(ben.get_by_role("button", name=t("contacts.allowDots"))).to_have_count(0)
    assert not await overflows(ben)
    assert await hindrances(ben) == []
    await row.get_by_role("button").click()
    question = page.get_by_role("dialog")
    await question.get_by_role("textbox").fill("he asked on the phone")
    await question.get_by_role("button", name=t("contacts.allowAgain")).click()
    await expect(page.get_by_text(t("contacts.nobodyIsBlocked"))).to_be_visible()
