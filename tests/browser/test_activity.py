"""Activity in a browser: every delivery explains itself, gate by gate and call by call."""

from datetime import datetime, timedelta

import pytest
from playwright.async_api import expect

from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import HOME, TEXTS, Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_delivery_tells_which_gate_holds_it_and_who_can_change_that(stage: Stage) -> None:
    await stage.house.operations.run(_stop)
    page = await stage.visit("ada", "activity")
    await page.get_by_role("button", name=TEXTS[0]).click()
    drawer = page.get_by_role("dialog")
    gates = drawer.get_by_role("region", name="What must let it pass")
    await expect(gates).to_contain_text("The workspace: blocks")
    await expect(gates).to_contain_text("the workspace is stopped: a wrong link")
    await expect(gates).to_contain_text("Can change it: an admin of the workspace")
    await expect(gates).to_contain_text("The account: passes")
    await snap(page, "activity-explain")
    assert await hindrances(page) == []

    await gates.get_by_role("link", name="Let the workspace go on").click()

    await expect(page).to_have_url(f"{stage.address}/w/{HOME}/settings/workspace")


async def test_a_doubt_is_settled_by_who_looked(stage: Stage) -> None:
    id_ = await stage.house.operations.run(_doubt)
    page = await stage.visit("ada", f"activity/{id_}")
    drawer = page.get_by_role("dialog")
    await expect(drawer).to_contain_text("We do not know whether it arrived.")
    await expect(drawer).to_contain_text("the line broke")
    await snap(page, "activity-doubt")
    assert await hindrances(page) == []

    await drawer.get_by_role("button", name="It is there", exact=True).click()

    await expect(drawer.get_by_text("Sent", exact=True)).to_be_visible()


async def test_a_link_of_a_mail_finds_its_workspace(stage: Stage) -> None:
    id_ = await stage.house.operations.run(_doubt)
    page = await stage.visit("ada", "activity")
    await page.goto(f"{stage.address}/deliveries/{id_}")
    await expect(page).to_have_url(f"{stage.address}/w/{HOME}/activity/{id_}")
    await expect(page.get_by_role("dialog")).to_contain_text("We do not know")


async def test_deliveries_are_filtered_by_state_on_a_phone(stage: Stage) -> None:
    page = await stage.visit("cy", "activity?state=failed", viewport={"width": 390, "height": 800})
    await expect(page.get_by_text("No delivery fits.")).to_be_visible()
    await page.get_by_role("button", name="Show all").click()
    await expect(page.get_by_role("button", name=TEXTS[0])).to_be_visible()
    await snap(page, "activity-phone")
    assert not await overflows(page)
    assert await hindrances(page) == []


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
            deadline_at, outcome, says, ended_at)
        VALUES (:home, :id, :id, 1, 0, 1, 'k', 'h', :began, :ended, 'unconfirmed', 'the line broke', :ended)
        """,
        home=HOME,
        id=id_,
        began=began,
        ended=began + timedelta(seconds=30),
    )
    return id_
