"""Activity in a browser: every delivery explains itself, gate by gate and call by call."""

from datetime import datetime, timedelta

import pytest
from playwright.async_api import expect

from cadenza.deliveries.record_exchanges import RecordedExchange, record_exchanges
from cadenza.providers.http.exchange import Exchange, Step
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, TEXTS, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_delivery_tells_which_gate_holds_it_and_who_can_change_that(stage: Stage) -> None:
    await stage.runtime.operations.run(_stop)
    page = await stage.visit("ada", "activity")
    await expect(page.get_by_text("Nothing has been sent yet.")).to_be_visible()
    await page.get_by_text(t("activity.upcoming"), exact=True).click()
    await page.get_by_role("button", name=TEXTS[0]).click()
    drawer = page.get_by_role("dialog")
    gates = drawer.get_by_role("region", name=t("activity.checksBeforeSending"))
    await expect(gates).to_contain_text("Workspace: waiting")
    await expect(gates).to_contain_text("the workspace is stopped: a wrong link")
    await expect(gates).to_contain_text("Who can change this: an admin of the workspace")
    await expect(gates).to_contain_text("Account: OK")
    await snap(page, "activity-explain")
    assert await hindrances(page) == []

    await gates.get_by_role("link", name=t("activity.resumeTheWorkspace")).click()

    await expect(page).to_have_url(f"{stage.address}/w/{HOME}/settings/workspace")


async def test_an_unconfirmed_send_is_settled_by_who_looked(stage: Stage) -> None:
    id_ = await stage.runtime.operations.run(_doubt)
    page = await stage.visit("ada", f"activity/{id_}")
    drawer = page.get_by_role("dialog")
    await expect(drawer).to_contain_text("Attempt 1: It may have arrived, but no answer came.")
    await expect(drawer).to_contain_text("the line broke")
    await snap(page, "activity-doubt")
    assert await hindrances(page) == []

    await drawer.get_by_role("button", name=t("attention.itWasPublished"), exact=True).click()

    await expect(drawer.get_by_text(t("ui.sent"), exact=True)).to_be_visible()


async def test_what_was_sent_and_what_came_back_can_be_read_and_copied(stage: Stage) -> None:
    id_ = await stage.runtime.operations.run(_doubt)
    await stage.runtime.operations.run(lambda tx, now: _say(tx, now, id_))
    page = await stage.visit(
        "ben", f"activity/{id_}", permissions=["clipboard-read", "clipboard-write"]
    )
    drawer = page.get_by_role("dialog")
    fold = drawer.get_by_role("button", name=t("activity.requestsAndResponses"))
    await expect(fold).to_have_attribute("aria-expanded", "false")
    await fold.press("Enter")
    await expect(drawer.get_by_text("POST https://music.example/api/v1/statuses")).to_be_visible()
    sent = drawer.get_by_role("group", name=t("activity.request"))
    await expect(sent).to_contain_text("authorization: [hidden]")
    await expect(sent).to_contain_text('{"status": "tickets"}')
    back = drawer.get_by_role("group", name="Response after 0.2 s")
    await expect(back).to_contain_text("Status 503")
    await expect(back).to_contain_text("x-request-id: r-77")
    await snap(page, "activity-exchange")
    assert await hindrances(page) == []

    await drawer.get_by_role("button", name=t("activity.copy")).click()

    await expect(drawer.get_by_role("button", name=t("activity.copied"))).to_be_visible()
    copied = await page.evaluate("() => navigator.clipboard.readText()")
    assert "Status 503" in copied
    assert '{"status": "tickets"}' in copied

    await drawer.get_by_role("button", name=t("activity.checkTheAccountThenDecide")).click()
    await expect(
        drawer.get_by_role("button", name=t("attention.itWasPublished"), exact=True)
    ).to_be_focused()


async def test_a_viewer_sees_what_came_of_a_call_and_not_what_was_said(stage: Stage) -> None:
    id_ = await stage.runtime.operations.run(_doubt)
    await stage.runtime.operations.run(lambda tx, now: _say(tx, now, id_))
    page = await stage.visit("cy", f"activity/{id_}")
    drawer = page.get_by_role("dialog")
    await expect(drawer).to_contain_text("It may have arrived, but no answer came.")
    await expect(drawer.get_by_text(t("activity.content"))).to_be_visible()
    await expect(drawer.get_by_role("button", name=t("activity.request"))).to_have_count(0)


async def test_a_link_of_a_mail_finds_its_workspace(stage: Stage) -> None:
    id_ = await stage.runtime.operations.run(_doubt)
    page = await stage.visit("ada", "activity")
    await page.goto(f"{stage.address}/deliveries/{id_}")
    await expect(page).to_have_url(f"{stage.address}/w/{HOME}/activity/{id_}")
    await expect(page.get_by_role("dialog")).to_contain_text("It may have arrived")


async def test_what_happened_stands_with_the_newest_first(stage: Stage) -> None:
    await stage.runtime.operations.run(_send_two)
    page = await stage.visit("ada", "activity")
    lines = page.get_by_role("main").get_by_role("listitem")
    await expect(lines).to_have_count(2)
    await expect(lines.first).to_contain_text(TEXTS[1])
    await expect(lines.last).to_contain_text(TEXTS[0])
    await snap(page, "activity-happened")
    assert await hindrances(page) == []

    await page.get_by_text(t("activity.upcoming"), exact=True).click()

    await expect(lines).to_have_count(len(TEXTS) - 2)
    await expect(lines.first).to_contain_text(TEXTS[2])


async def test_deliveries_are_filtered_by_state_on_a_phone(stage: Stage) -> None:
    phone = {"width": 390, "height": 800}
    page = await stage.visit("cy", "activity?time=ahead&state=draft", viewport=phone)
    await expect(page.get_by_text(t("activity.nothingMatchesTheseFilters"))).to_be_visible()
    await page.get_by_role("button", name=t("activity.showAll")).click()
    await expect(page.get_by_role("button", name=TEXTS[0])).to_be_visible()
    await snap(page, "activity-phone")
    assert not await overflows(page)
    assert await hindrances(page) == []


def _send_two(tx: Tx, now: datetime) -> None:
    """The first two went out, an hour apart."""
    rows = tx.all("SELECT id FROM delivery ORDER BY due_at LIMIT 2")
    for row, hours in zip(rows, (2, 1), strict=True):
        tx.run(
            "UPDATE delivery SET state = 'sent', sent_at = :at, due_at = :at WHERE id = :id",
            at=now - timedelta(hours=hours),
            id=row["id"],
        )


def _stop(tx: Tx, now: datetime) -> None:
    tx.run("UPDATE workspace SET stopped_at = :now, stop_reason = 'a wrong link'", now=now)


def _doubt(tx: Tx, now: datetime) -> str:
    row = tx.one("SELECT id, workspace_id FROM delivery ORDER BY due_at LIMIT 1")
    assert row is not None
    id_: str = row["id"]
    began = now - timedelta(minutes=9)
    tx.run(
        """
        UPDATE delivery SET state = 'unconfirmed', reason = 'the line broke', due_at = :began, slot_at = NULL,
            attempts = 1
        WHERE id = :id
        """,
        id=id_,
        began=began,
    )
    tx.run(
        """
        INSERT INTO attempt (workspace_id, id, delivery_id, number, part, lease, key, content_hash, began_at,
            deadline_at, outcome, message, ended_at)
        VALUES (:home, :id, :id, 1, 0, 1, 'k', 'h', :began, :ended, 'Unconfirmed', 'the line broke', :ended)
        """,
        home=HOME,
        id=id_,
        began=began,
        ended=began + timedelta(seconds=30),
    )
    return id_


def _say(tx: Tx, now: datetime, id_: str) -> None:
    said = Exchange(
        step=Step.PUBLISH,
        began_at=now,
        seconds=0.2,
        method="POST",
        place="https://music.example/api/v1/statuses",
        headers={"authorization": "[hidden]"},
        body='{"status": "tickets"}',
        status=503,
        reply_headers={"x-request-id": "r-77"},
        reply="<h1>busy</h1>",
    )
    record_exchanges(tx, [((HOME, id_), id_, [RecordedExchange("e1", said)])])
