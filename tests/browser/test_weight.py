"""How heavy the app is: what a browser must load before the start screen stands, and each file behind it."""

import gzip
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import expect

from tests.browser.stage import TEXTS, Stage

START = 320_000  # bytes of gzipped JavaScript until the queue stands; plurals and texts take about 14,000
FILE = 150_000  # of any one file that is loaded then or later


@pytest.mark.asyncio(loop_scope="session")
async def test_the_start_screen_stands_after_little_is_loaded(
    stage: Stage, built_app: Path
) -> None:
    page = await stage.visit("ada", "queue?account=mastodon")
    requested: set[str] = set()
    page.on("request", lambda request: requested.add(urlsplit(request.url).path.removeprefix("/")))

    await page.reload()
    await expect(page.get_by_role("button", name=f"Move: {TEXTS[5]}")).to_be_visible()

    scripts = [path for path in requested if path.endswith(".js")]
    assert any("Queue" in path for path in scripts), "the screen's own file is missing"
    weights = {path: _weight(built_app / path) for path in scripts}
    assert sum(weights.values()) < START, weights


def test_no_file_is_heavy(built_app: Path) -> None:
    heavy = {
        path.name: weight
        for path in (built_app / "assets").glob("*.js")
        if (weight := _weight(path)) > FILE
    }
    assert heavy == {}


def _weight(path: Path) -> int:
    return len(gzip.compress(path.read_bytes(), compresslevel=9))
