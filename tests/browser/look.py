"""Looks at a page: with axe for what hinders people, and with a camera for us (`.cache/screenshots`)."""

from pathlib import Path
from typing import Any

from playwright.async_api import Page

ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = ROOT / ".cache" / "screenshots"
# What opens is there first, and begins to move some frames later: on a busy machine that is a long moment.
# So a page is still when nothing has moved for this many frames, however long they take.
FRAMES = 12
STILL = """async (frames) => {
  const moves = () => document.getAnimations().some(
    (each) => each.playState === 'running' && each.effect?.getComputedTiming().endTime !== Infinity);
  for (let quiet = 0; quiet < frames; quiet = moves() ? 0 : quiet + 1)
    await new Promise((next) => requestAnimationFrame(next));
}"""
RUN = "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"


async def still(page: Page) -> None:
    """Wait until nothing fades or slides any more."""
    await page.evaluate(STILL, FRAMES)


async def hindrances(page: Page) -> list[str]:
    """Return what axe calls serious or critical, with the first element of each."""
    # A policy forbids foreign scripts in the page; evaluating the text is not one.
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    await still(page)  # what fades in or out has little contrast for a moment
    found: list[dict[str, Any]] = await page.evaluate(RUN)
    return [
        f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]} ({len(each['nodes'])} in all)"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


async def snap(page: Page, name: str, *, whole: bool = True) -> None:
    """Keep a picture of the page, or of the window alone: a resize ends a drag."""
    await still(page)  # half faded in, a dialogue shows nobody how it looks
    SHOTS.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=SHOTS / f"{name}.png", full_page=whole)


async def overflows(page: Page) -> bool:
    """Say whether the page is wider than its window."""
    return await page.evaluate(
        "() => document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"
    )
