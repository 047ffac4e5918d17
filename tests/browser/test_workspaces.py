"""Several workspaces in a browser: another one is made, and one goes from one to the other."""

import pytest
from playwright.async_api import expect

from tests.browser.look import hindrances, snap
from tests.browser.stage import HOME, Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_another_workspace_is_made_and_one_goes_between_both(stage: Stage) -> None:
    page = await stage.visit("ada", "queue")
    await page.get_by_role("button", name=t("app.newWorkspace")).click()
    dialog = page.get_by_role("dialog", name=t("app.newWorkspace"))
    await dialog.get_by_role("button", name=t("app.createWorkspace")).click()
    await expect(dialog).to_contain_text(t("app.enterAName"))
    await dialog.get_by_label(t("app.name")).fill("Second brand")
    await dialog.get_by_label(t("app.timeZone")).fill("Europe/Berlin")
    await page.keyboard.press("Tab")
    await snap(page, "workspace-new")
    assert await hindrances(page) == []
    await dialog.get_by_role("button", name=t("app.createWorkspace")).click()

    await expect(page.get_by_text("Second brand is ready.")).to_be_visible()
    (row,) = await stage.rows("SELECT id, zone FROM workspace WHERE name = 'Second brand'")
    assert row["zone"] == "Europe/Berlin"
    await page.wait_for_url(f"{stage.address}/w/{row['id']}/**")
    choice = page.get_by_role("combobox", name=t("app.workspace"), exact=True)
    await expect(choice).to_have_value("Second brand")
    await snap(page, "workspace-second")

    await choice.click()
    await page.get_by_role("option", name="Concert hall").click()
    await page.wait_for_url(f"{stage.address}/w/{HOME}/**")
    await expect(choice).to_have_value("Concert hall")
