"""Jobs and the system in a browser, for owners of the installation: queues, failures, schedules, holds."""

from datetime import datetime, timedelta

import pytest
from playwright.async_api import expect

from cadenza.deliveries.installation import RESTORE, beat, hold
from cadenza.engine.testing.drain import drain
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_queue_is_paused_with_a_reason_and_opened_again(stage: Stage) -> None:
    await stage.runtime.engine.enqueue("letters.send", {"to": "dee"})
    page = await stage.visit("ada", "jobs")
    card = page.get_by_role("region", name="default")
    await expect(card).to_contain_text("1 waiting")
    await snap(page, "jobs-queues")
    assert await hindrances(page) == []
    await card.get_by_role("button", name="Pause default").click()
    await page.get_by_label(t("jobs.reason")).fill("the mail server moves")
    await page.get_by_role("button", name=t("jobs.pause"), exact=True).click()
    await expect(card).to_contain_text("Paused: the mail server moves")

    await card.get_by_role("button", name="Resume default").click()

    await expect(card).to_contain_text(t("jobs.running"))


async def test_a_job_tells_why_it_waits_and_is_canceled(stage: Stage) -> None:
    await stage.runtime.engine.enqueue("letters.send", {"to": "dee"})
    page = await stage.visit("ada", "jobs/list")
    await page.get_by_role("button", name="View job").click()
    drawer = page.get_by_role("dialog")
    await expect(drawer).to_contain_text('"to": "dee"')
    await snap(page, "jobs-one")
    assert await hindrances(page) == []

    await drawer.get_by_role("button", name=t("jobs.cancelJob")).click()

    await expect(drawer).to_contain_text(t("jobs.canceled"))


async def test_failures_are_tried_again_together_after_a_question(stage: Stage) -> None:
    await _fail(stage, times=2)
    page = await stage.visit(
        "ada", "jobs/list?state=failed", viewport={"width": 390, "height": 800}
    )
    await expect(page.get_by_role("button", name="View job")).to_have_count(2)
    await expect(page.get_by_role("button", name="View job").first).to_be_in_viewport()
    await snap(page, "jobs-failed-phone")
    assert not await overflows(page)
    assert await hindrances(page) == []
    await page.get_by_role("button", name=t("jobs.tryTheseAgain")).click()
    question = page.get_by_role("dialog", name="Try 2 failed jobs again?")
    await question.get_by_role("button", name=t("app.cancel")).click()
    await expect(question).to_have_count(0)

    await page.get_by_role("button", name=t("jobs.tryTheseAgain")).click()
    await question.get_by_role("button", name=t("jobs.tryAgain")).click()

    await expect(page.get_by_text("2 failed jobs will run again.")).to_be_visible()
    await expect(page.get_by_text(t("jobs.noJobs"), exact=True)).to_be_visible()


async def test_a_schedule_says_what_it_does_and_when(stage: Stage) -> None:
    await stage.runtime.engine.schedule("prune_exchanges", "prune_exchanges", {}, cron="23 3 * * *")
    page = await stage.visit("ada", "jobs/schedules")
    card = page.get_by_role("region", name="prune_exchanges")
    await expect(card).to_contain_text("daily at 03:23 UTC")
    await expect(card).to_contain_text("Deletes network requests and responses")
    await card.get_by_role("button", name="Next runs of prune_exchanges").click()
    # In the time of who looks: London, whose clocks go back on the 25th.
    await expect(card.get_by_role("listitem").first).to_contain_text("Thu 22 Oct, 04:23")
    await expect(card.get_by_role("listitem").nth(4)).to_contain_text("Mon 26 Oct, 03:23")
    await snap(page, "jobs-schedules")
    assert await hindrances(page) == []


async def _fail(stage: Stage, *, times: int) -> None:
    async def send(to: str) -> None:
        raise ValueError(f"{to} has moved")

    stage.runtime.engine.declare(send, name="letters.send", retry=0)
    for _ in range(times):
        await stage.runtime.engine.enqueue("letters.send", {"to": "dee"})
    await drain(stage.runtime.engine)


async def test_the_system_says_that_no_worker_runs(stage: Stage) -> None:
    page = await stage.visit("ada", "system")
    await expect(page.get_by_text(t("system.noWorkerIsRunning"))).to_be_visible()
    await expect(page.get_by_text(t("system.noCallsToday"))).to_be_visible()
    await snap(page, "system")
    assert await hindrances(page) == []


async def test_a_hold_is_lifted_by_a_person_who_was_asked_twice(stage: Stage) -> None:
    await stage.runtime.operations.run(_hold)
    page = await stage.visit("ada", "system", viewport={"width": 390, "height": 800})
    await expect(page.get_by_text(t("app.sendingIsOnHold"))).to_be_visible()
    await snap(page, "system-held-phone")
    assert not await overflows(page)
    assert await hindrances(page) == []

    await page.get_by_role("button", name=t("system.resumeSendingDots")).click()
    await page.get_by_role("button", name=t("settings.resumeSending"), exact=True).click()

    await expect(page.get_by_text(t("app.sendingIsOnHold"))).to_have_count(0)


async def test_after_a_restore_everybody_sees_the_hold_and_the_owner_chooses(stage: Stage) -> None:
    await stage.runtime.operations.run(_restore)
    theirs = await stage.visit("ben", "queue")
    banner = theirs.get_by_role("status").filter(has_text=t("app.sendingIsOnHold"))
    await expect(banner).to_contain_text("Someone who runs this server needs to confirm")
    await snap(theirs, "held-for-everybody")
    assert await hindrances(theirs) == []
    page = await stage.visit("ada", "queue")
    await page.get_by_role("link", name=t("app.checkAndResumeSending")).click()
    alert = page.get_by_role("alert").filter(has_text=t("app.sendingIsOnHold"))
    await expect(alert).to_contain_text("1 post was due since the backup")
    await snap(page, "system-held-restore")
    await page.get_by_role("button", name=t("system.resumeSendingDots")).click()
    dialog = page.get_by_role("dialog", name=t("settings.resumeSending"))
    await expect(dialog.get_by_label(t("system.leaveAsMissed"))).to_be_checked()
    await dialog.get_by_label(t("system.moveToDrafts")).check()
    await snap(page, "system-held-choice")
    assert await hindrances(page) == []

    await dialog.get_by_role("button", name=t("settings.resumeSending"), exact=True).click()

    await expect(page.get_by_text("1 post moved to drafts.")).to_be_visible()
    await expect(page.get_by_text(t("app.sendingIsOnHold"))).to_have_count(0)
    await theirs.clock.run_for(20_000)
    await expect(banner).to_have_count(0)


async def test_who_runs_nothing_sees_neither_jobs_nor_the_system(stage: Stage) -> None:
    page = await stage.visit("ben", "jobs")
    await expect(page.get_by_text(t("jobs.onlyForThePeopleWhoRun"))).to_be_visible()
    await expect(page.get_by_role("link", name=t("app.system"))).to_have_count(0)


def _restore(tx: Tx, now: datetime) -> None:
    beat(tx, now)
    tx.run(
        """
        UPDATE delivery SET due_at = :due, slot_at = NULL
        WHERE id IN (SELECT id FROM delivery WHERE state = 'scheduled' ORDER BY due_at LIMIT 1)
        """,
        due=now - timedelta(hours=1),
    )
    message = (
        "this machine has not worked on this database before, and no other machine is at work on it"
    )
    hold(tx, now, kind=RESTORE, message=message)


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
