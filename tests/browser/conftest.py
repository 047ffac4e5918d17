"""A real browser (the system's Chromium) before the built app and a real server; see `stage.py`."""

import faulthandler
import fcntl
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Error, async_playwright, expect

from cadenza.api import web_app
from tests.browser.stage import Stage, open_stage
from tests.servers.node import load_build
from tests.servers.run import skip_or_fail

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"
expect.set_options(timeout=15_000)  # as long as an act may take: a busy machine is no failure
Npm = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def built_app() -> Path:
    """The built app: from CADENZA_TEST_UI when that names a folder, else built if it is stale."""
    ready = os.environ.get("CADENZA_TEST_UI")
    if ready:
        web_app.UI = Path(ready)
        return web_app.UI
    building = load_build()
    # Building, or waiting for the process that does, takes longer than a test may: its watch is called off.
    faulthandler.cancel_dump_traceback_later()
    CACHE.mkdir(exist_ok=True)
    try:
        with (CACHE / "web.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            building.build()
    except SystemExit as reason:
        skip_or_fail("node", reason)
    if not (web_app.UI / "index.html").is_file():
        skip_or_fail("web app", "it is not built: make web")
    return web_app.UI


@pytest.fixture(scope="session")
def npm(built_app: Path) -> Iterator[Npm]:
    """Run a script of the app's package."""
    with ExitStack() as tools:
        try:
            command, environment = tools.enter_context(load_build().node_on_path())
        except SystemExit as reason:
            skip_or_fail("node", reason)
            raise

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*command, *words],
                cwd=ROOT / "web",
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        yield run


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
