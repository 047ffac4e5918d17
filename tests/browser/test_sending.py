"""A post that really leaves, seen in a browser: a worker runs, the networks are simulated, the clock is the machine's."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from cadenza.demo.cast import Cast, assemble
from tests.browser.at_work import open_at_work
from tests.browser.look import hindrances, snap
from tests.browser.stage import HOME, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
WORDS = "We open the season on Friday"


@pytest_asyncio.fixture(loop_scope="session")
async def cast() -> AsyncIterator[Cast]:
    cast = await assemble()
    yield cast
    await cast.simulator.close()


@pytest_asyncio.fixture(loop_scope="session")
async def working(browser: Browser, tmp_path: Path, cast: Cast) -> AsyncIterator[Stage]:
    async with open_at_work(browser, tmp_path, cast) as stage:
        yield stage


async def test_a_post_turns_from_scheduled_to_sent_before_ones_eyes(
    working: Stage, cast: Cast
) -> None:
    page = await working.visit("ada", "accounts")
    await plan_for_tomorrow(page, working, cast)
    ben = await working.visit("ben", "activity")
    await expect(ben.get_by_text("Nothing has been sent yet.")).to_be_visible()
    await page.get_by_role("link", name=t("app.activity")).click()
    await page.get_by_text(t("activity.upcoming"), exact=True).click()
    await page.get_by_role("button", name=WORDS).click()
    drawer = page.get_by_role("dialog", name=t("activity.details"))
    await expect(drawer.get_by_text(t("ui.scheduled"), exact=True)).to_be_visible()

    await drawer.get_by_role("button", name=t("activity.publishNow")).click()
    question = page.get_by_role("dialog", name=t("activity.publishNowQuestion"))
    await question.get_by_role("button", name=t("activity.publishNow")).click()

    await expect(drawer.get_by_text(t("ui.sent"), exact=True)).to_be_visible()
    line = ben.get_by_role("main").get_by_role("listitem").filter(has_text=WORDS)
    await expect(line).to_contain_text(t("ui.sent"))
    assert cast.simulator.visible(cast.roles["telegram"].simulated)[0].text == WORDS
    await expect(drawer.get_by_text("Attempt 1: The network took it.", exact=True)).to_be_visible()
    said = re.compile(r"^It was sent \w{3} \d+ \w+, \d\d:\d\d Berlin\.$")
    await expect(drawer.get_by_text(said)).to_be_visible()
    await snap(page, "activity-sent")
    assert await hindrances(page) == []


async def test_the_system_shows_who_works_and_what_the_networks_said(
    working: Stage, cast: Cast
) -> None:
    page = await working.visit("ada", "system")
    workers = page.get_by_role("region", name=t("system.workers"))
    await expect(workers.get_by_role("row").nth(1)).to_contain_text("product")
    await expect(page.get_by_text(t("system.noCallsToday"))).to_be_visible()
    delivery = await plan_for_tomorrow(page, working, cast)
    await ask(page, working, f"deliveries/{delivery}/publish-now")

    networks = page.get_by_role("region", name=t("system.networks"))
    await expect(networks).to_contain_text("1 of 1 call sent")
    await snap(page, "system-at-work")
    assert await hindrances(page) == []


async def plan_for_tomorrow(page: Page, working: Stage, cast: Cast) -> str:
    """Connect Ada's account and give it a post; return the delivery."""
    typed = dict(cast.roles["telegram"].typed)
    (account,) = (await ask(page, working, "connect/telegram", fields=typed))["accounts"]
    post = await ask(page, working, "posts", text=WORDS)
    tomorrow = (working.runtime.clock.now() + timedelta(days=1)).isoformat()
    places = [{"account_id": account["id"]}]
    planned = await ask(page, working, f"posts/{post['id']}/schedule", at=tomorrow, accounts=places)
    (place,) = planned["places"]
    return place["delivery_id"]


async def ask(page: Page, working: Stage, path: str, **body: Any) -> Any:
    """Ask the server as the page would."""
    answer = await page.request.post(
        f"{working.address}/api/v1/workspaces/{HOME}/{path}",
        data=body,
        headers={"x-cadenza-csrf": "1"},
    )
    assert answer.ok, await answer.text()
    return await answer.json()
