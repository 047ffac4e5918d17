"""A real browser (the system's Chromium) before the built app and a real server; see `stage.py`."""

import importlib.util
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Error, async_playwright

from cadenza.api import pages
from tests.browser.stage import Stage, open_stage
from tests.servers.run import skip_or_fail

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def built_app() -> Path:
    """The built app: from CADENZA_TEST_UI when that names a folder, else built if it is stale."""
    ready = os.environ.get("CADENZA_TEST_UI")
    if ready:
        pages.UI = Path(ready)
        return pages.UI
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    building = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(building)
    try:
        building.build()
    except SystemExit as reason:
        skip_or_fail("node", reason)
    return pages.UI


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(built_app: Path) -> AsyncIterator[Browser]:
    path = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if path is None:
        skip_or_fail("chromium", "no chromium on PATH; Debian: apt install chromium")
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
        except Error as reason:
            skip_or_fail("chromium", reason)
            raise
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def stage(browser: Browser, tmp_path: Path) -> AsyncIterator[Stage]:
    async with open_stage(browser, tmp_path) as stage:
        yield stage
