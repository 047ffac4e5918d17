"""Moves things with the mouse and by keys, as people do: who sees no effect tries again.

What is grabbed may be drawn again in that very moment, and the keys of what was picked up are heard a little later
than it is announced. So every act here ends when its effect is on the screen, and fails when it never is.
"""

from collections.abc import Sequence

from playwright.async_api import Locator, Page, expect

TRIES = 5
SOON = 3_000  # milliseconds that an effect may take before the act is done again


async def drag(
    page: Page,
    what: Locator,
    to: Locator,
    *,
    hint: Locator,
    message: str,
    at: Sequence[tuple[float, float]] = ((20, 12),),
) -> None:
    """Hold `what` over `to` until the hint says so; the mouse stays down. Each place `at` it is tried in turn."""
    for _ in range(TRIES):
        await what.hover(position={"x": 12, "y": 6})  # waits until it stands still
        await page.mouse.down()
        for x, y in (*at, *at):
            await _move_over(page, to, x, y)
            if await shows(hint, message):
                return
        if any(await hint.all_inner_texts()):
            break  # it is in the hand, and over no such place
        await page.mouse.up()
    await expect(hint).to_contain_text(message)


async def press(page: Page, key: str, *, hint: Locator, message: str) -> None:
    """Press a key until the hint says what it did."""
    for _ in range(TRIES):
        await page.keyboard.press(key)
        if await shows(hint, message):
            return
    await expect(hint).to_contain_text(message)


async def type_time(where: Page | Locator, label: str, place: str, day: str, time: str) -> None:
    """Fill in a day, and type a time key by key as people do, on the clock of a place."""
    await where.get_by_label(f"{label}: date").fill(day)
    field = where.get_by_label(f"{label}: time in {place}")
    await field.fill("")
    await field.press_sequentially(time)


async def shows(place: Locator, message: str) -> bool:
    """Say whether the words come up soon."""
    try:
        await expect(place).to_contain_text(message, timeout=SOON)
    except AssertionError:
        return False
    return True


async def _move_over(page: Page, to: Locator, x: float, y: float) -> None:
    box = await to.bounding_box()
    assert box is not None, "there is nothing to drag it to"
    await page.mouse.move(box["x"] + x, box["y"] + y, steps=10)
    await page.mouse.move(box["x"] + x + 1, box["y"] + y)  # a hand is never quite still
