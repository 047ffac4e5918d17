"""A new account begins with few messages a day: the planner, the last check and what people see agree on how many."""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from cadenza.accounts.model import read_account
from cadenza.core.clock import SystemClock
from cadenza.deliveries.daily_cap import daily_cap
from cadenza.outreach.check_limits import check_limits
from cadenza.outreach.doctor import examine
from cadenza.sql.tx import Tx
from tests.outreach.conftest import HOME, MONDAY, NEW_YORK, Office
from tests.outreach.test_http import Desk, desk
from tests.outreach.test_limits import limit

__all__ = ["desk"]
ZONE = ZoneInfo(NEW_YORK)


def warming(since: datetime, **said: int) -> dict[str, Any]:
    return {"email": {"start": 2, "step": 3, "every": 1, **said, "since": since.isoformat()}}


async def sent(office: Office, account: str, *times: datetime, counts: bool = True) -> None:
    """Write calls into the ledger."""

    def add(tx: Tx, now: datetime) -> None:
        for at in times:
            tx.run(
                """
                INSERT INTO activity (workspace_id, id, account_id, action, mode, state, counts, reserved_at)
                VALUES (:home, :id, :account, 'email', 'live', 'success', :counts, :at)
                """,
                home=HOME,
                id=tx.new_id(),
                account=account,
                counts=counts,
                at=at,
            )

    await office.run(add)


async def test_planned_days_grow_with_each_active_day_up_to_the_limit(office: Office) -> None:
    await office.account("mailbox", warm_up=warming(MONDAY))
    made = await office.ready("mailbox", people=110)
    days = Counter(row["due_at"].astimezone(ZONE).date() for row in await office.deliveries(made))
    assert [days[day] for day in sorted(days)] == [2, 5, 8, 11, 14, 17, 20, 20, 13]
    found = await office.operations.read(lambda tx, _: check_limits(tx, MONDAY, workspace_id=HOME))
    assert found == []


async def test_days_without_a_message_do_not_raise_it_nor_do_those_before_it_was_set(
    office: Office,
) -> None:
    since = MONDAY - timedelta(days=20)
    await office.account("mailbox", warm_up=warming(since))
    before, first, second = (MONDAY - timedelta(days=days) for days in (25, 10, 3))
    await sent(office, "mailbox", before, first, first + timedelta(hours=15), second)
    await sent(office, "mailbox", MONDAY - timedelta(days=5), counts=False)

    def look(tx: Tx, _: datetime) -> Any:
        account = read_account(tx, HOME, "mailbox")
        assert account is not None
        return daily_cap(tx, MONDAY, account, "email", 20)

    cap = await office.operations.read(look)
    assert (cap.amount, cap.limit, cap.lowered_by, cap.active_days) == (8, 20, "warm-up", 2)


async def test_the_last_check_keeps_the_warm_up_and_says_so(office: Office) -> None:
    now = SystemClock().now()
    await office.account("mailbox", always=True, warm_up=warming(now))
    await limit(office, "mailbox", "gap", 0)
    made = await office.sequence("mailbox")
    await office.enroll(made, await office.people(4))
    await office.start(made)
    await office.work(made)
    await office.make_due()
    reached = [person for _ in range(4) for person in await office.send_due()]
    assert len(reached) == 2
    (reason,) = {row["reason"] for row in await office.deliveries(made, state="scheduled")} - {None}
    assert "2 of 2 this day, while the account warms up" in reason
    found = await office.operations.read(partial(examine, workspace_id=HOME))
    assert any("2 of 2 email today while it warms up (20 later)" in each.message for each in found)


async def test_a_network_s_ceiling_bounds_an_account_s_own_limit(office: Office) -> None:
    await office.account("linkedin", provider="unipile")
    await limit(office, "linkedin", "day", 500, action="connection_request")

    def look(tx: Tx, now: datetime) -> Any:
        account = read_account(tx, HOME, "linkedin")
        assert account is not None
        return daily_cap(tx, now, account, "connection_request", 500)

    cap = await office.operations.read(look)
    assert (cap.amount, cap.lowered_by) == (100, "network")


async def test_a_warm_up_is_set_shown_kept_and_ended_over_http(desk: Desk) -> None:
    admin = Desk(desk.place, await desk.place.client("admin"))
    path = "/accounts/account-of-ada"
    said = {"email": {"start": 5, "step": 2}}
    shown = await admin.ask("PATCH", path, warm_up=said)
    assert shown["warm_up"] == {"email": {"start": 5, "step": 2, "every": 1}}
    await admin.ask(
        "PUT", f"{path}/limits", limits=[{"action": "email", "kind": "day", "amount": 9}]
    )
    (use,) = (await admin.ask("GET", f"{path}/use"))["uses"]
    assert (use["used"], use["holds"], use["lowered_by"]) == (0, 5, "warm-up")
    (row,) = await desk.office.rows("SELECT settings FROM account WHERE id = 'account-of-ada'")
    await admin.ask("PATCH", path, warm_up=said, zone="Europe/Paris")
    (later,) = await desk.office.rows("SELECT settings FROM account WHERE id = 'account-of-ada'")
    assert row["settings"].partition('"since"')[2] == later["settings"].partition('"since"')[2]
    assert (await admin.ask("PATCH", path, warm_up={"email": None}))["warm_up"] == {}
    await admin.ask("PATCH", path, 422, warm_up={"post": {"start": 5, "step": 2}})
    await admin.ask("PATCH", path, 422, warm_up={"email": {"start": 0, "step": 2}})
