"""A restore is confirmed: a person chooses what becomes of posts that may be out already."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta

import pytest

from cadenza.bootstrap import Runtime
from cadenza.cli.run import run
from cadenza.deliveries.installation import MAYBE_SENT
from tests.bootstrap.conftest import Town
from tests.bootstrap.test_guard import go_back, lived
from tests.bootstrap.test_move_over_daily_max import SLOTS, week
from tests.bootstrap.test_work import until, working


async def confirmed(
    town: Town, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, choice: str
) -> list[str]:
    """Restore a database with two overdue posts, and confirm with a choice."""
    await week(runtime, SLOTS)
    await lived(runtime)
    await go_back(runtime)
    ids = [
        await town.post(runtime, f"due {hours} hours ago", due=timedelta(hours=-hours))
        for hours in (2, 1)
    ]
    await runtime.guard.run_once()
    monkeypatch.setenv("CADENZA_DATA", str(town.settings.data))
    monkeypatch.setenv("CADENZA_DATABASE", town.settings.database_address)
    words = ["db", "confirm", "--overdue", choice, "--json"]
    assert await asyncio.to_thread(run, words) == 0
    await runtime.guard.run_once()
    assert not runtime.source.held
    return ids


async def test_what_may_be_out_stays_missed_unless_a_person_says_otherwise(
    town: Town, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ids = await confirmed(town, runtime, monkeypatch, "check")
    rows = [await town.row(runtime, id_) for id_ in ids]
    assert {(row["state"], row["reason"]) for row in rows} == {("missed", MAYBE_SENT.text)}
    told = json.loads(capfd.readouterr().out)
    assert told == {"confirmed": "restore", "missed": 2, "moved": 0, "drafts": 0}


async def test_what_was_not_sent_goes_out_one_after_the_other(
    town: Town, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = await confirmed(town, runtime, monkeypatch, "now")
    assert json.loads(capfd.readouterr().out)["moved"] == 2
    async with working(runtime):
        await until(town, runtime, first, "sent")
    waits = await town.row(runtime, second)
    assert waits["state"] == "scheduled"
    assert town.visible() == ["due 2 hours ago"]


async def test_what_was_not_sent_takes_the_next_free_slots(
    town: Town, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await confirmed(town, runtime, monkeypatch, "next_slot")
    rows = [await town.row(runtime, id_) for id_ in ids]
    now: datetime = await runtime.operations.read(lambda _, now: now)
    assert all(row["state"] == "scheduled" and row["due_at"] > now for row in rows)
    assert rows[0]["slot_at"] < rows[1]["slot_at"]


async def test_what_may_be_out_goes_back_to_the_drafts(
    town: Town, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ids = await confirmed(town, runtime, monkeypatch, "draft")
    assert {(await town.row(runtime, id_))["state"] for id_ in ids} == {"draft"}
    assert json.loads(capfd.readouterr().out)["drafts"] == 2
