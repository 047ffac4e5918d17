"""From a weekly slot to the network: the minute comes and the post leaves; skipped slots and full days are passed over.

The clocks are moved on by a few minutes, so nobody waits for the slot: the application's own, which SQLite reads as well,
and on PostgreSQL a clock that stands before the server's on the search path. Limit: no more than five minutes at
once, or sending is held as after a clock's jump.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from cadenza.core.clock import SystemClock
from cadenza.db import schema
from tests.stories.conftest import Story, told

AHEAD = (
    "CREATE SCHEMA ahead",
    "CREATE TABLE ahead.by (span interval NOT NULL)",
    "INSERT INTO ahead.by VALUES ('0')",
    """CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT pg_catalog.clock_timestamp() + span FROM ahead.by'""",
)
PATH = "public, ahead, pg_catalog"  # the product's tables, and our clock before the server's


class Movable(SystemClock):
    """The machine's clock, some minutes ahead; a database that has a clock of its own goes with it."""

    def __init__(self, database: str) -> None:
        super().__init__()
        self._server = database if database.startswith("postgres") else None
        self._ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self._ahead

    async def begin(self) -> None:
        """Put our clock before the server's, for every connection that is opened from now on."""
        if self._server is not None:
            name = urlsplit(self._server).path.removeprefix("/")
            await self._tell(*AHEAD, f'ALTER DATABASE "{name}" SET search_path = {PATH}')

    async def move(self, ahead: timedelta) -> None:
        """Be so far ahead from now on."""
        if self._server is not None:
            await self._tell(f"UPDATE ahead.by SET span = '{ahead.total_seconds()} seconds'")
        self._ahead = ahead

    async def _tell(self, *statements: str) -> None:
        connection = await asyncpg.connect(self._server)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()


@pytest.fixture
async def clock(database: str, monkeypatch: pytest.MonkeyPatch) -> Movable:
    monkeypatch.setattr(schema, "search_path", lambda _: PATH)
    clock = Movable(database)
    await clock.begin()
    return clock


@pytest.fixture
async def story(database: str, tmp_path: Path, clock: Movable) -> AsyncIterator[Story]:
    async with told(database, tmp_path, clock=clock) as story:
        yield story


async def queue(story: Story, text: str) -> Any:
    post = (await story.post("/posts", 201, text=text))["id"]
    (account,) = story.accounts.values()
    requested = {"post_id": post, "accounts": [{"account_id": account}]}
    (answer,) = (await story.post("/queue", **requested))["answers"]
    return answer | {"post_id": post}


async def test_a_post_leaves_from_its_weekly_slot_and_not_before(
    story: Story, clock: Movable
) -> None:
    account = await story.connect("telegram")
    began = clock.now()
    west = began.hour - 12  # where it is noon: no day ends while we look
    zone, there = f"Etc/GMT{west:+d}", began - timedelta(hours=west)
    slots = [f"{there + timedelta(minutes=minutes):%H:%M}" for minutes in (3, 4)]
    given = {"slots": {str(day): slots for day in range(7)}, "zone": zone, "max_per_day": 1}
    await story.do("PUT", f"/accounts/{account}/queue/schedule", json=given)

    skipped = await story.post(f"/accounts/{account}/queue/skips", reason="a quiet minute")
    first, second = await queue(story, "From a slot"), await queue(story, "Tomorrow")
    assert (first["wall_time"][-5:], first["passed"]["skipped"]) == (slots[1], 1), first
    assert skipped["skips"][0]["at"] < first["at"]
    day = timedelta(days=1)
    tomorrow = instant(skipped["skips"][0]["at"]) + day
    assert (instant(second["at"]), second["passed"]["full_days"]) == (tomorrow, 1), second
    assert story.seen("telegram") == []

    await clock.move(instant(first["at"]) - began + timedelta(seconds=1))
    shown = await story.until(
        f"/posts/{first['post_id']}", lambda shown: shown["state"] == "published"
    )
    assert instant(shown["pills"][0]["at"]) >= instant(first["at"])
    assert story.seen("telegram") == ["From a slot"]
    days = (await story.get(f"/accounts/{account}/queue"))["days"]
    lines = {line["wall_time"][-5:]: line["kind"] for line in days[0]["lines"]}
    assert lines[slots[1]] == "sent", lines


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
