"""A day is a local date: 23 or 25 hours long, or without its midnight, it has its posts a day and no more."""

from datetime import UTC, datetime

import pytest

from cadenza.queues.add import Queued
from cadenza.queues.model import NoRoom
from tests.queues.conftest import DAILY, Desk


@pytest.mark.parametrize(
    ("zone", "first", "second", "same_day"),
    [
        # 25 hours: 00:30 and 23:30 of one Sunday are 24 hours apart.
        ("America/New_York", (2026, 11, 1, 4, 30), (2026, 11, 2, 4, 30), True),
        # 23 hours: 00:30 of the Sunday and of the Monday are 23 hours apart.
        ("Europe/Berlin", (2027, 3, 27, 23, 30), (2027, 3, 28, 22, 30), False),
        # No midnight: 23:59 of the Thursday, then 01:00 of the Friday, a minute later.
        ("Africa/Cairo", (2027, 4, 29, 21, 59), (2027, 4, 29, 22, 0), False),
    ],
)
async def test_posts_a_day_are_counted_by_the_local_date(
    desk: Desk,
    zone: str,
    first: tuple[int, int, int, int, int],
    second: tuple[int, int, int, int, int],
    same_day: bool,
) -> None:
    await desk.week(slots=DAILY, zone=zone, max_per_day=1)
    instants = [datetime(*numbers, tzinfo=UTC) for numbers in (first, second)]
    answers = [(await desk.add(to=instant)).answers[0] for instant in instants]
    assert isinstance(answers[0], Queued)
    assert isinstance(answers[1], NoRoom if same_day else Queued), answers[1]
