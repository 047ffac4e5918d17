"""Outreach under account limits, as document 003 asks for it: over HTTP and the command line, mail by simulated Unipile."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cadenza.cli.run import run
from tests.stories.conftest import Story

EASTERN = ZoneInfo("America/New_York")


async def mailbox(story: Story, **settings: Any) -> str:
    account = await story.connect("unipile")
    await story.do("PATCH", f"/accounts/{account}", json={"zone": "America/New_York", **settings})
    return account


async def limit(story: Story, account: str, **amounts: int) -> None:
    """Set limits of mail; the others stay."""
    now = (await story.get(f"/accounts/{account}/limits"))["limits"]
    kept = [each for each in now if (each["action"], each["kind"]) not in _keys(amounts)]
    new = [{"action": "email", "kind": kind, "amount": amount} for kind, amount in amounts.items()]
    await story.do("PUT", f"/accounts/{account}/limits", json={"limits": [*kept, *new]})


def _keys(amounts: dict[str, int]) -> set[tuple[str, str]]:
    return {("email", kind) for kind in amounts}


async def sequence(story: Story, account: str, people: int) -> str:
    """A sequence of one message to each, written for them."""
    made = await story.post("/sequences", 201, name="Roleplay", account_ids=[account])
    messages: list[dict[str, str]] = []
    for n in range(people):
        address = {"channel": "email", "address": f"person{n}@example.org"}
        contact = await story.post("/contacts", 201, first_name=f"P{n}", addresses=[address])
        messages.append({"contact_id": contact["id"], "subject": "Hi", "text": f"Hello {n}"})
    await story.post(f"/sequences/{made['id']}/messages", messages=messages)
    return made["id"]


async def planned(story: Story, id_: str) -> list[datetime]:
    shown = await story.get(f"/sequences/{id_}/plan")
    return sorted(datetime.fromisoformat(each["at"]) for each in shown["times"])


async def test_a_fresh_account_sends_twenty_mails_a_day_in_office_hours_with_gaps(
    story: Story,
) -> None:
    account = await mailbox(story)
    kept = (await story.get(f"/accounts/{account}/limits"))["limits"]
    caps = {each["action"]: each["amount"] for each in kept if each["kind"] == "day"}
    assert caps == {"email": 20, "message": 50, "connection_request": 20, "inmail": 30}
    times = await planned(story, await sequence(story, account, 45))
    walls = [at.astimezone(EASTERN) for at in times]
    assert len(walls) == 45
    assert max(Counter(wall.date() for wall in walls).values()) <= 20
    assert all(9 <= wall.hour < 18 and wall.isoweekday() <= 5 for wall in walls)
    assert all(b - a >= timedelta(minutes=6) for a, b in pairwise(times))


async def test_an_account_s_own_limit_comes_before_the_default(story: Story) -> None:
    account = await mailbox(story)
    await limit(story, account, day=3)
    times = await planned(story, await sequence(story, account, 10))
    days = Counter(at.astimezone(EASTERN).date() for at in times)
    assert max(days.values()) == 3


async def test_at_the_cap_a_message_goes_to_the_next_day_and_the_ledger_says_why(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    account = await mailbox(story, hours={"email": None})
    await limit(story, account, day=3, gap=0)
    await story.post(f"/accounts/{account}/external-sends", 201, action="email", count=1)
    id_ = await sequence(story, account, 3)
    await story.post(f"/sequences/{id_}/start")
    await story.until(f"/sequences/{id_}/report", lambda seen: seen["people"]["planned"] == 3)
    rows = (await story.get("/deliveries?state=scheduled"))["items"]
    assert len(rows) == 3
    for row in rows:  # by hand: that passes hours, and no limit
        await story.post(f"/deliveries/{row['id']}/publish-now")
    await story.until(
        f"/sequences/{id_}/report",
        lambda seen: sum(line["sent"] for line in seen["lines"]) == 2,
    )
    assert len(story.seen("unipile")) == 2
    (left,) = (await story.get("/deliveries?state=scheduled"))["items"]
    waiting = await story.until(
        f"/deliveries/{left['id']}", lambda seen: seen["reason"] is not None
    )
    today = datetime.now(EASTERN).date()
    moved = datetime.fromisoformat(waiting["due_at"]).astimezone(EASTERN).date()
    assert moved == today + timedelta(days=1)
    assert waiting["attempts"] == 0
    assert "3 of 3 this day" in waiting["reason"]
    uses = (await story.get(f"/accounts/{account}/use"))["uses"]
    (day,) = [
        each
        for each in uses
        if (each["limit"]["action"], each["limit"]["kind"]) == ("email", "day")
    ]
    assert day["used"] == 3  # one elsewhere, two of ours
    scopes = ["accounts:read", "sequences:read", "sequences:write", "workspace:read"]
    key = await story.post("/keys", 201, name="terminal", role="editor", scopes=scopes)
    there = ("--server", str(story.ada.base_url), "--key", key["key"])
    assert await asyncio.to_thread(run, ["limits", "check", *there]) == 0
    assert "keeps the limits" in capsys.readouterr().out
    assert await asyncio.to_thread(run, ["limits", "show", account, *there]) == 0
    assert "3 per day" in capsys.readouterr().out
    assert await asyncio.to_thread(run, ["outreach", "report", "Roleplay", *there]) == 0
    assert "sent" in capsys.readouterr().out


async def test_outside_its_hours_nothing_is_sent_and_doctor_says_so(story: Story) -> None:
    now = datetime.now(EASTERN)
    other = {"start": "09:00", "end": "18:00", "days": [(now.isoweekday() + 3) % 7]}
    account = await mailbox(story, hours={"email": other})
    id_ = await sequence(story, account, 2)
    await story.post(f"/sequences/{id_}/start")
    await story.until(f"/sequences/{id_}/report", lambda seen: seen["people"]["planned"] == 2)
    rows = (await story.get("/deliveries?state=scheduled"))["items"]
    days = {
        datetime.fromisoformat(row["due_at"]).astimezone(EASTERN).isoweekday() % 7 for row in rows
    }
    assert days == set(other["days"])
    found = await story.get("/outreach/doctor")
    assert "outside_hours" in {each["code"] for each in found}
    assert story.seen("unipile") == []
