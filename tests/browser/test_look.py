"""Our own way of looking at a page: not before it has come to rest."""

import pytest
from playwright.async_api import Browser

from tests.browser.look import still

pytestmark = pytest.mark.asyncio(loop_scope="session")

# As a drawer opens: it is there first, unseen, and begins to fade in some frames later.
UNSEEN = '<p style="opacity: 0; transition: opacity 300ms">Here</p>'
FADE = """() => {
  const later = (frames) => requestAnimationFrame(() =>
    frames ? later(frames - 1) : (document.querySelector("p").style.opacity = 1));
  later(8);
}"""


async def test_what_has_not_begun_to_fade_in_is_waited_for(browser: Browser) -> None:
    page = await browser.new_page()
    await page.set_content(UNSEEN)
    await page.evaluate(FADE)
    await still(page)
    assert await page.evaluate("getComputedStyle(document.querySelector('p')).opacity") == "1"
    await page.close()
