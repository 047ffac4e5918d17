"""Import and export in a browser: columns matched, every row tried before anything is made, all taken along."""

import zipfile
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from cadenza.engine.testing.drain import drain
from tests.browser.look import hindrances, overflows, snap
from tests.browser.stage import Stage
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
FILE = """Beitrag;accounts;when;Notes
The choir sings again;@hall@music.example;queue;ours
A word on the cloakroom;;;
To nobody we know;@nobody;2026-11-02 09:00;
Late but not never;@hall@music.example;2026-11-02 09:00;
"""


async def test_a_file_is_matched_tried_and_imported_without_the_row_that_is_wrong(
    stage: Stage, tmp_path: Path
) -> None:
    page = await stage.visit("ada", "data")
    await choose(page, tmp_path)
    await expect(page.get_by_role("alert")).to_contain_text("No column holds the posts' text")
    await (
        page.get_by_role("group", name=t("data.columns"))
        .get_by_label(t("data.text"), exact=True)
        .click()
    )
    await page.get_by_role("option", name="Beitrag").click()

    await expect(page.get_by_text("3 posts will be imported")).to_be_visible()
    await expect(page.get_by_text("Ignored columns: “Notes”.")).to_be_visible()
    rows = page.get_by_role("table", name=t("data.resultForEachRow"))
    await expect(row(rows, 2)).to_contain_text("Goes out Sat 24 Oct, 17:30.")
    await expect(row(rows, 3)).to_contain_text("Saved as a draft")
    await expect(row(rows, 4)).to_contain_text("Skipped. Accounts:")
    await expect(row(rows, 5)).to_contain_text("Goes out Mon 2 Nov, 09:00.")
    await snap(page, "data-tried")
    assert await hindrances(page) == []
    assert len(await stage.rows("SELECT id FROM post")) == len(stage.posts)

    await page.get_by_role("button", name="Import 3 posts, skip 1 row").click()

    await expect(page.get_by_text("3 posts imported; 1 row skipped.")).to_be_visible()
    assert len(await stage.rows("SELECT id FROM post")) == len(stage.posts) + 3
    await row(rows, 2).get_by_role("link").click()
    await expect(page.get_by_label(t("data.text"), exact=True)).to_have_value(
        "The choir sings again"
    )


async def test_all_or_nothing_makes_nothing_while_a_row_is_wrong(
    stage: Stage, tmp_path: Path
) -> None:
    page = await stage.visit("ada", "data", viewport={"width": 390, "height": 900})
    await choose(page, tmp_path, FILE.replace("Beitrag", "text"))
    await expect(page.get_by_text("3 posts will be imported")).to_be_visible()
    await page.get_by_label("All or nothing").check()
    await expect(page.get_by_text(t("data.nothingWillBeImported"))).to_be_visible()
    await expect(page.get_by_role("button", name=t("data.fixTheRowsFirst"))).to_be_disabled()
    await snap(page, "data-phone")
    assert not await overflows(page)
    assert await hindrances(page) == []

    whole = FILE.replace("Beitrag", "text").replace("@nobody", "@hall@music.example")
    await choose(
        page, tmp_path, whole.replace("2026-11-02 09:00;\nLate", "2026-11-03 09:00;\nLate")
    )
    await page.get_by_role("button", name="Import 4 posts").click()
    await expect(page.get_by_role("alert").get_by_text("4 posts imported.")).to_be_visible()
    assert len(await stage.rows("SELECT id FROM post")) == len(stage.posts) + 4

    await choose(page, tmp_path, FILE.replace("Beitrag", "text"))
    await expect(page.get_by_text("3 rows were imported before")).to_be_visible()


async def test_everything_is_packed_and_downloaded_by_an_admin_and_by_nobody_else(
    stage: Stage, tmp_path: Path
) -> None:
    page = await stage.visit("ada", "data")
    await page.get_by_role("button", name=t("data.exportEverything")).click()
    await expect(page.get_by_role("progressbar", name=t("data.exportProgress"))).to_be_attached()
    await expect(page.get_by_role("button", name=t("data.exportEverything"))).to_be_disabled()
    await page.reload()  # it is the server's, not the window's
    await expect(page.get_by_text(t("data.waitingToStartDots"))).to_be_visible()
    await snap(page, "data-export-waits")
    await drain(stage.runtime.engine)
    await page.clock.run_for(3_000)
    link = page.get_by_role("link", name="Download the export of")
    await expect(link).to_be_visible()
    await snap(page, "data-export-ready")
    assert await hindrances(page) == []
    async with page.expect_download() as downloading:
        await link.click()
    archive = tmp_path / "everything.zip"
    await (await downloading.value).save_as(archive)
    assert "posts.csv" in zipfile.ZipFile(archive).namelist()

    viewer = await stage.visit("cy", "data")
    await expect(viewer.get_by_text(t("data.onlyEditorsCanImportPosts"))).to_be_visible()
    await expect(viewer.get_by_role("button", name=t("data.exportEverything"))).to_have_count(0)


async def choose(page: Page, folder: Path, text: str = FILE) -> None:
    file = folder / "posts.csv"
    file.write_text(text, encoding="utf-8")
    async with page.expect_file_chooser() as choosing:
        await (
            page.get_by_role("button", name="Choose a")
            .or_(page.get_by_role("button", name=t("data.chooseAnotherFile")))
            .first.click()
        )
    await (await choosing.value).set_files(file)


def row(table: Locator, number: int) -> Locator:
    return table.get_by_role("row").filter(
        has=table.page.get_by_role("cell", name=str(number), exact=True)
    )
