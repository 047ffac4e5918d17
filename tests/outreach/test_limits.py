"""Limits when sending: the cap, the hours and the gap are asked again, and what is refused finds another day."""

import contextlib
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from cadenza.deliveries.set_limit import Limit, set_limit
from cadenza.outreach import run
from cadenza.outreach.check_limits import check_limits, repair_limits
from cadenza.outreach.doctor import examine
from cadenza.outreach.find_time import Limit as Why
from tests.outreach.conftest import ADA, HOME, MONDAY, NEW_YORK, Office, mail

ZONE = ZoneInfo(NEW_YORK)


async def limit(
    office: Office, account: str, kind: str, amount: int, action: str = "email"
) -> None:
    said = Limit(scope=f"account:{account}", action=action, kind=kind, amount=amount)
    await office.run(partial(set_limit, workspace_id=HOME, limit=said, by=ADA))


async def test_a_cap_reached_at_send_goes_to_the_next_allowed_day_without_a_burnt_attempt(
    office: Office,
) -> None:
    await office.account("mailbox", always=True)
    made = await office.sequence("mailbox")
    await office.enroll(made, await office.people(2))
    await office.start(made)
    await office.work(made)
    await limit(office, "mailbox", "day", 1)
    await limit(office, "mailbox", "gap", 0)
    await office.make_due()
    for _ in range(2):
        await office.send_due()
    (left,) = [row for row in await office.deliveries(made) if row["state"] == "scheduled"]
    today = datetime.now(UTC).astimezone(ZONE).date()
    assert left["due_at"].astimezone(ZONE).date() == today + timedelta(days=1)
    assert (left["attempts"], left["deferrals"]) == (0, 1)
    assert "1 of 1 this day" in left["reason"]
    (lane,) = await office.rows("SELECT * FROM lane WHERE id = :id", id=left["lane_id"])
    assert lane["parked_until"] is None  # only the message moved


async def test_the_minimum_gap_is_waited_for_in_place(office: Office) -> None:
    await office.account("mailbox", always=True)
    made = await office.sequence("mailbox")
    await office.enroll(made, await office.people(2))
    await office.start(made)
    await office.work(made)
    await office.make_due()
    assert len(await office.send_due()) == 1
    before = {row["id"]: row["due_at"] for row in await office.deliveries(made)}
    assert await office.send_due() == []
    assert {row["id"]: row["due_at"] for row in await office.deliveries(made)} == before


async def test_an_account_s_own_limit_comes_before_the_usual_one(office: Office) -> None:
    await office.account("mailbox")
    await limit(office, "mailbox", "day", 7)
    made = await office.ready("mailbox", people=20)
    days = Counter(row["due_at"].astimezone(ZONE).date() for row in await office.deliveries(made))
    assert sorted(days.values()) == [6, 7, 7]


async def test_the_usual_limits_are_those_of_the_document(office: Office) -> None:
    await office.account("linkedin", provider="unipile")
    rows = await office.rows("SELECT * FROM budget WHERE kind = 'day'")
    assert {row["action"]: row["amount"] for row in rows} == {
        "email": 20,
        "message": 50,
        "connection_request": 20,
        "inmail": 30,
    }


async def test_five_sequences_share_the_day_of_four_accounts(office: Office) -> None:
    accounts = [await office.account(f"mailbox-{n}") for n in range(4)]
    for _ in range(5):
        await office.ready(*accounts, people=40)
    days = Counter(
        (row["account_id"], row["due_at"].astimezone(ZONE).date())
        for row in await office.deliveries()
    )
    assert sum(days.values()) == 200
    assert max(days.values()) <= 20
    for account in accounts:
        mine = [row["due_at"] for row in await office.deliveries(account_id=account)]
        assert all(b - a >= timedelta(minutes=6) for a, b in pairwise(sorted(mine)))


async def test_one_account_outside_its_hours_stops_nobody_else(office: Office) -> None:
    now = datetime.now(UTC)
    closed = {"start": "00:00", "end": "00:01", "days": [(now.isoweekday() + 3) % 7]}
    await office.account("asleep", hours={"email": closed})
    await office.account("awake", always=True)
    made = await office.sequence("asleep", "awake")
    await office.enroll(made, await office.people(2))
    await office.start(made)
    await office.work(made)
    await office.make_due()
    assert len(await office.send_due()) == 1
    (left,) = [row for row in await office.deliveries(made) if row["state"] == "scheduled"]
    assert left["account_id"] == "asleep"
    assert left["due_at"] > now + timedelta(days=1)


async def test_a_lowered_limit_is_found_and_repaired_as_the_dry_run_said(office: Office) -> None:
    await office.account("mailbox")
    made = await office.ready("mailbox", people=50)
    assert (
        await office.operations.read(lambda tx, _: check_limits(tx, MONDAY, workspace_id=HOME))
        == []
    )
    await limit(office, "mailbox", "day", 5)
    found = await office.operations.read(lambda tx, _: check_limits(tx, MONDAY, workspace_id=HOME))
    assert sum(each.messages for each in found) == 15 + 15 + 5
    assert {each.limit for each in found} == {Why.DAY_CAP}

    class Back(Exception):
        pass

    shown: list[Any] = []

    def try_it(tx: Any, now: datetime) -> None:
        shown.extend(repair_limits(tx, MONDAY, workspace_id=HOME, by=ADA))
        raise Back

    with contextlib.suppress(Back):
        await office.run(try_it)
    before = {row["id"]: row["due_at"] for row in await office.deliveries(made)}
    done = await office.run(partial(repair_limits, workspace_id=HOME, by=ADA), now=MONDAY)
    assert done == shown
    after = {row["id"]: row["due_at"] for row in await office.deliveries(made)}
    assert {each.delivery_id for each in done} == {
        id_ for id_ in after if after[id_] != before[id_]
    }
    days = Counter(at.astimezone(ZONE).date() for at in after.values())
    assert set(days.values()) == {5}
    assert (
        await office.operations.read(lambda tx, _: check_limits(tx, MONDAY, workspace_id=HOME))
        == []
    )


async def test_the_doctor_says_what_keeps_messages_and_what_to_do(office: Office) -> None:
    await office.account("mailbox", always=True)
    await office.run(
        lambda tx, now: tx.run(
            "DELETE FROM budget WHERE scope = 'account:mailbox' AND action = 'email' AND kind = 'day'"
        )
    )
    made = await office.sequence("mailbox")
    await office.run(
        lambda tx, now: tx.run(
            "DELETE FROM budget WHERE scope = 'account:mailbox' AND action = 'email' AND kind = 'day'"
        )
    )
    await office.enroll(made, await office.people(2))
    await office.start(made)
    await office.work(made)
    await office.change(run.pause, made)
    found = await office.operations.read(lambda tx, now: examine(tx, now, workspace_id=HOME))
    codes = {each.code for each in found if each.is_problem}
    assert codes >= {"no_limit", "paused"}
    assert all(each.what_to_do for each in found if each.is_problem)


async def test_follow_ups_have_their_places_before_new_people(office: Office) -> None:
    await office.account("mailbox")
    version = await office.template()
    steps = [mail(version), mail(version, wait_days=2)]
    made = await office.sequence("mailbox", steps=steps)
    await office.enroll(made, await office.people(100))
    shown = await office.preview(made)
    by_day = {day.day: day for day in shown.days}
    assert all(day.planned + day.others + day.expected <= 20 for day in by_day.values())
    assert sum(day.expected for day in shown.days) == 100
    await office.start(made, now=MONDAY)
    await office.plan(made, limit=9)
    rows = await office.deliveries(made)
    assert [each.at for each in shown.times] == [row["due_at"] for row in rows]
