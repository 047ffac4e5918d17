"""Jobs and the system in a browser, for owners of the installation: queues, failures, schedules, holds."""

from datetime import datetime, timedelta

import pytest
from playwright.async_api import expect

from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_queue_is_paused_with_a_reason_and_opened_again(stage: Stage) -> None:
    await stage.house.engine.enqueue("letters.send", {"to": "dee"})
    page = await stage.visit("ada", "jobs")
    card = page.get_by_role("region", name="default")
    await expect(card).to_contain_text("1 waiting")
    await snap(page, "jobs-queues")
    assert await hindrances(page) == []
    await card.get_by_role("button", name="Pause default").click()
    await page.get_by_label("Why").fill("the mail server moves")
    await page.get_by_role("button", name="Pause", exact=True).click()
    await expect(card).to_contain_text("Paused: the mail server moves")

    await card.get_by_role("button", name="Resume default").click()

    await expect(card).to_contain_text("Open")


async def test_a_job_tells_why_it_waits_and_is_cancelled(stage: Stage) -> None:
    await stage.house.engine.enqueue("letters.send", {"to": "dee"})
    page = await stage.visit("ada", "jobs/list")
    await page.get_by_role("button", name="Look at job").click()
    drawer = page.get_by_role("dialog")
    await expect(drawer).to_contain_text('"to": "dee"')
    await snap(page, "jobs-one")
    assert await hindrances(page) == []

    await drawer.get_by_role("button", name="Cancel it").click()

    await expect(drawer).to_contain_text("Cancelled")


async def test_the_system_says_that_no_worker_runs(stage: Stage) -> None:
    page = await stage.visit("ada", "system")
    await expect(page.get_by_text("No worker gives a sign of life")).to_be_visible()
    await expect(page.get_by_text("No network was called within a day.")).to_be_visible()
    await snap(page, "system")
    assert await hindrances(page) == []


async def test_a_hold_is_lifted_by_a_person_who_was_asked_twice(stage: Stage) -> None:
    await stage.house.operations.run(_hold)
    page = await stage.visit("ada", "system", viewport={"width": 390, "height": 800})
    await expect(page.get_by_text("All sending is held")).to_be_visible()
    await snap(page, "system-held-phone")
    assert not await overflows(page)
    assert await hindrances(page) == []

    await page.get_by_role("button", name="All is well: go on sending").click()
    await page.get_by_role("button", name="All is well: send").click()

    await expect(page.get_by_text("All sending is held")).to_have_count(0)


async def test_who_runs_nothing_sees_neither_jobs_nor_the_system(stage: Stage) -> None:
    page = await stage.visit("ben", "jobs")
    await expect(page.get_by_text("For owners of this installation")).to_be_visible()
    await expect(page.get_by_role("link", name="System")).to_have_count(0)


def _hold(tx: Tx, now: datetime) -> None:
    tx.run(
        """
        INSERT INTO installation (id, lineage, beat_at, held_at, hold_kind, hold_reason, created_at)
        VALUES ('this', 'one', :now, :now, 'clock', 'the clock jumped by 2 hours', :now)
        ON CONFLICT (id) DO UPDATE SET held_at = :now, hold_kind = 'clock',
            hold_reason = 'the clock jumped by 2 hours'
        """,
        now=now - timedelta(minutes=1),
    )
