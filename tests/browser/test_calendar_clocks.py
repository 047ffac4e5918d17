"""The week in which clocks change, in a browser: in spring and in autumn everything stands at its wall time."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from cadenza.sql.tx import Tx
from tests.browser.carry import drag
from tests.browser.look import hindrances, snap
from tests.browser.stage import OPENS, TEXTS, Stage, open_stage
from tests.browser.test_calendar import entry, hint, settled, times_of
from tests.browser.test_calendar_days import READ
from tests.browser.texts import t

pytestmark = pytest.mark.asyncio(loop_scope="session")
TALL = {"width": 1280, "height": 2000}
# Words and upper edge of everything in the grid of hours, and the edge of each hour's own label.
STANDING = """() => {
  const top = (each) => each.getBoundingClientRect().top;
  const margin = document.querySelector('.calendar').getBoundingClientRect().left + 60;
  const isHour = (each) => each.childElementCount === 0 && /^\\d\\d$/.test(each.textContent) && each.getBoundingClientRect().right < margin;
  const hours = [...document.querySelectorAll('.calendar *')].filter(isHour);
  const things = document.querySelectorAll('.calendar-entry[data-kind=entry], .calendar-entry[data-kind=ghost]');
  return {
    hours: Object.fromEntries(hours.map((each) => [each.textContent, top(each)])),
    things: [...things].map((each) => [each.textContent, top(each)]),
  };
}"""


@dataclass(frozen=True)
class Season:
    """A Sunday on which clocks change in Berlin, and the week before it."""

    opens: datetime
    name: str  # of the Sunday
    message: str
    night: dict[str, str]  # instants around the change, and what clocks show then
    slot: str  # the instant of 17:30
    hand: str  # the instant of 13:00


AUTUMN = Season(
    OPENS,
    "Sun 25 Oct",
    "Clocks go back one hour on this day",
    {
        "2026-10-25 00:30": "02:30 (1st)",
        "2026-10-25 01:30": "02:30 (2nd)",
        "2026-10-25 02:30": "03:30",
    },
    "2026-10-25 16:30",
    "2026-10-25 12:00",
)

SPRING = Season(
    datetime(2027, 3, 24, 8, tzinfo=UTC),
    "Sun 28 Mar",
    "Clocks go forward one hour on this day",
    {"2027-03-28 00:30": "01:30", "2027-03-28 01:00": "03:00", "2027-03-28 02:30": "04:30"},
    "2027-03-28 15:30",
    "2027-03-28 11:00",
)


@pytest.fixture(params=[AUTUMN, SPRING], ids=["autumn", "spring"])
def season(request: pytest.FixtureRequest) -> Season:
    return request.param


@pytest_asyncio.fixture(loop_scope="session")
async def stage(browser: Browser, tmp_path: Path, season: Season) -> AsyncIterator[Stage]:
    async with open_stage(browser, tmp_path, opens=season.opens) as stage:
        yield stage


async def test_what_goes_out_around_the_change_stands_at_its_wall_time(
    stage: Stage, season: Season
) -> None:
    await stage.runtime.operations.run(lambda tx, _: _place(tx, stage, season))
    page = await stage.visit("ada", "calendar", viewport=TALL)
    await settled(page)
    await expect(page.get_by_text(season.message)).to_be_visible()
    for number, wall in enumerate(season.night.values()):
        await expect(entry(page, TEXTS[3 + number])).to_contain_text(wall)
    await expect(page.locator(".calendar-entry", has_text="17:30 free").first).to_be_visible()

    assert [each for each in await page.evaluate(READ) if not each["whole"]] == []

    off = await distances(page)

    assert len(off) > 10
    assert max(off.values()) - min(off.values()) < 3, off
    await snap(page, f"calendar-clocks-{season.opens:%B}".lower())
    assert await hindrances(page) == []


async def test_a_post_is_dragged_to_the_day_of_the_change_and_keeps_the_wall_time(
    stage: Stage, season: Season
) -> None:
    page = await stage.visit("ada", "calendar", viewport=TALL)
    await page.get_by_role("combobox", name=t("calendar.accounts")).fill("hall@music")
    await page.get_by_role("option", name="@hall@music.example").click()
    free = page.locator(".calendar-entry[data-kind=ghost]")
    await expect(free.filter(has_text="hall.example")).to_have_count(0)  # the other account's
    await settled(page)
    sunday = free.filter(has_text="17:30").last
    slot = f"Takes the slot {season.name}, 17:30."
    await drag(page, entry(page, TEXTS[5]), sunday, hint=hint(page), message=slot)
    await page.mouse.up()
    await expect(page.get_by_text(f"Now goes out {season.name}, 17:30 ")).to_be_visible()
    assert await times_of(stage, stage.posts[5]) == [(season.slot, season.slot)]

    await expect(free.filter(has_text="17:30")).to_have_count(1)  # Saturday's alone
    await settled(page)
    hours = (await page.evaluate(STANDING))["hours"]
    await drag(
        page,
        entry(page, TEXTS[4]),
        free.filter(has_text="09:00").last,
        hint=hint(page),
        message=f"{season.name}, 13:00 is between slots",
        at=[(20, hours["13"] - hours["09"])],
    )
    await page.mouse.up()
    await expect(page.get_by_text(f"Now goes out {season.name}, 13:00 ")).to_be_visible()
    assert await times_of(stage, stage.posts[4]) == [(season.hand, None)]
    await expect(entry(page, TEXTS[4])).to_contain_text("13:00")
    off = await distances(page)
    assert max(off.values()) - min(off.values()) < 3, off


async def distances(page: Page) -> dict[str, float]:
    """How far below its hour's label each thing stands, after its minutes are taken off: for all the same."""
    seen = await page.evaluate(STANDING)
    hours: dict[str, float] = seen["hours"]
    pitch = (hours["20"] - hours["10"]) / 10
    return {
        f"{number} {words}": top - hours[words[:2]] - pitch * int(words[3:5]) / 60
        for number, (words, top) in enumerate(seen["things"])
    }


def _place(tx: Tx, stage: Stage, season: Season) -> None:
    """Time three posts by hand in the night of the change."""
    for post, instant in zip(stage.posts[3:], season.night, strict=True):
        tx.run(
            "UPDATE delivery SET due_at = :at, slot_at = NULL WHERE post_id = :post",
            at=datetime.fromisoformat(f"{instant}+00:00"),
            post=post,
        )
