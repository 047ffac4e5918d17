"""A year of five slots a week in twelve zones, filled post by post, against the plain library."""

from datetime import UTC, datetime, time, timedelta
from importlib import resources
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from cadenza.core.channels import Channel
from cadenza.queues.add import Queued, add_pieces
from cadenza.queues.schedule import write
from tests.queues.conftest import ADA, HOME, piece
from tests.queues.inline import Inline, people

ZONES = (
    "America/New_York",
    "America/St_Johns",
    "America/Santiago",
    "America/Havana",
    "Europe/Berlin",
    "Europe/Dublin",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Auckland",
)
# Days and times where clocks change in some of these zones.
SLOTS = {"0": ["00:00", "02:30", "02:15"], "5": ["00:30"], "3": ["12:00"]}
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def expected(name: str) -> list[datetime]:
    """Every wall time of the year as the standard library reads it, in a gap with the offset before."""
    # The rules of the package, not of the machine: the two may be of different years.
    source = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    with source.open("rb") as file:
        zone = ZoneInfo.from_file(file, key=name)
    found: set[datetime] = set()
    day = START.date() - timedelta(days=2)
    while day <= START.date() + timedelta(days=368):
        for text in SLOTS.get(str(day.isoweekday() % 7), ()):
            wall = datetime.combine(day, time.fromisoformat(text), tzinfo=zone)
            found.add(wall.astimezone(UTC))
        day += timedelta(days=1)
    low, high = START + timedelta(minutes=1), START + timedelta(days=366)
    return sorted(instant for instant in found if low <= instant <= high)


@pytest.mark.parametrize("zone", ZONES)
def test_a_filled_year_has_every_slot_once_and_in_order(zone: str, tmp_path: Path) -> None:
    world = Inline(tmp_path)
    world.run(lambda tx, now: people(tx, now, {"ada": zone}), START)
    world.run(
        lambda tx, now: write(tx, now, workspace_id=HOME, account_id="ada", slots=SLOTS, by=ADA),
        START,
    )
    got: list[datetime] = []
    while True:
        pieces = piece(f"p{len(got)}", ["ada"], [Channel.MASTODON])
        added = world.run(
            lambda tx, now, p=pieces: add_pieces(tx, now, workspace_id=HOME, pieces=p, by=ADA),
            START,
        )
        (answer,) = added.answers
        if not isinstance(answer, Queued):
            break
        got.append(answer.at)
    world.close()
    assert got == expected(zone)
    assert 255 <= len(got) <= 266
