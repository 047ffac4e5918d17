"""A plan that is made again: a diff first, the same afterwards, and nothing changes its account unless asked."""

import contextlib
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from cadenza.accounts.disconnect import disconnect
from cadenza.bootstrap.plan_sequences import plan_sequence
from cadenza.deliveries.cancel_account import cancel_account
from cadenza.outreach.model import NotNow, Sequence
from cadenza.outreach.replan import SequenceReplanned, replan, replan_locks
from cadenza.sql.tx import Tx
from tests.outreach.conftest import ADA, HOME, MONDAY, NEW_YORK, Office
from tests.outreach.test_http import Desk, desk
from tests.outreach.test_limits import limit

__all__ = ["desk"]
ZONE = ZoneInfo(NEW_YORK)
LATER = MONDAY + timedelta(hours=1)


class Back(Exception):
    pass


async def again(office: Office, made: Sequence, *, dry: bool = False, **said: Any) -> Any:
    about = {"workspace_id": HOME, "sequence_id": made.id}
    shown: list[Any] = []

    def operation(tx: Tx, _: datetime) -> None:
        shown.append(replan(tx, LATER, by=ADA, **about, **said))
        if dry:
            raise Back

    locks = await office.operations.read(lambda tx, _: replan_locks(tx, HOME, made.id))
    with contextlib.suppress(Back):
        await office.operations.run(operation, locks=locks)
    return shown[-1]


async def times(office: Office, made: Sequence) -> dict[str, tuple[str, datetime]]:
    rows = await office.deliveries(made, state="scheduled")
    return {row["id"]: (row["account_id"], row["due_at"]) for row in rows}


async def lose(office: Office, account: str) -> None:
    await office.run(
        lambda tx, _: tx.run(
            "UPDATE account SET state = 'needs_reconnect' WHERE id = :id", id=account
        )
    )


def keeps_limits(rows: dict[str, tuple[str, datetime]]) -> None:
    days = Counter((id_, at.astimezone(ZONE).date()) for id_, at in rows.values())
    assert max(days.values()) <= 20
    for account in {id_ for id_, _ in rows.values()}:
        mine = sorted(at for id_, at in rows.values() if id_ == account)
        assert all(b - a >= timedelta(minutes=6) for a, b in pairwise(mine))


async def test_the_diff_of_a_dry_run_is_what_then_happens(office: Office) -> None:
    await office.account("mailbox")
    made = await office.ready("mailbox", people=50)
    await limit(office, "mailbox", "day", 40)
    before = await times(office, made)
    shown = await again(office, made, dry=True)
    assert await times(office, made) == before
    done = await again(office, made)
    assert isinstance(done, SequenceReplanned)
    assert done == shown
    after = await times(office, made)
    assert {each.delivery_id: (each.account_id, each.now_at) for each in done.moves} == {
        id_: value for id_, value in after.items() if value != before[id_]
    }
    assert len({at.astimezone(ZONE).date() for _, at in after.values()}) == 2  # it was three
    order = [id_ for id_, _ in sorted(before.items(), key=lambda item: item[1][1])]
    assert order == [id_ for id_, _ in sorted(after.items(), key=lambda item: item[1][1])]


async def test_what_a_lost_account_has_planned_stays_until_somebody_asks(office: Office) -> None:
    accounts = [await office.account(f"mailbox-{n}") for n in range(3)]
    made = await office.ready(*accounts, people=60)
    before = await times(office, made)
    await lose(office, "mailbox-1")
    await office.plan(made, now=LATER)
    assert await times(office, made) == before  # nothing moves silently
    shown = await again(office, made, dry=True, reassign=True)
    done = await again(office, made, reassign=True)
    assert done == shown
    assert len(done.moves) == 20
    assert {each.was_account_id for each in done.moves} == {"mailbox-1"}
    after = await times(office, made)
    assert {id_ for id_, _ in after.values()} == {"mailbox-0", "mailbox-2"}
    others = {id_: value for id_, value in before.items() if value[0] != "mailbox-1"}
    assert others.items() <= after.items()  # what the others had stays where it was
    assert len(after) == 60
    keeps_limits(after)
    states = Counter(row["state"] for row in await office.rows("SELECT * FROM sequence_contact"))
    assert states == {"planned": 60}


async def test_people_of_a_disconnected_account_come_back_by_another(office: Office) -> None:
    await office.account("mailbox-0")
    await office.account("mailbox-1")
    made = await office.ready("mailbox-0", "mailbox-1", people=10)

    def let_go(tx: Tx, now: datetime) -> None:
        disconnect(tx, now, workspace_id=HOME, account_id="mailbox-1", reason="the box was closed")
        cancel_account(
            tx, now, workspace_id=HOME, account_id="mailbox-1", reason="the box was closed"
        )

    await office.run(let_go)
    states = Counter(row["state"] for row in await office.rows("SELECT * FROM sequence_contact"))
    assert states == {"planned": 5, "stopped": 5}
    done = await again(office, made, reassign=True)
    assert len(done.moves) == 5
    after = await times(office, made)
    assert len(after) == 10
    assert {id_ for id_, _ in after.values()} == {"mailbox-0"}
    keeps_limits(after)
    states = Counter(row["state"] for row in await office.rows("SELECT * FROM sequence_contact"))
    assert states == {"planned": 10}


async def test_without_another_account_everything_stays_and_is_said(office: Office) -> None:
    await office.account("mailbox")
    made = await office.ready("mailbox", people=3)
    before = await times(office, made)
    await lose(office, "mailbox")
    done = await again(office, made, reassign=True)
    assert [each.now_at for each in done.moves] == [None] * 3
    assert await times(office, made) == before


async def test_what_was_sent_never_moves(office: Office) -> None:
    await office.account("mailbox", always=True)
    made = await office.sequence("mailbox")
    await office.enroll(made, await office.people(2))
    await office.start(made)
    await office.work(made)
    await office.make_due()
    (reached,) = await office.send_due()
    (sent,) = await office.deliveries(made, contact_id=reached)
    done = await again(office, made)
    assert sent["id"] not in {each.delivery_id for each in done.moves}
    assert (await office.deliveries(made, contact_id=reached)) == [sent]


async def test_a_draft_has_nothing_to_plan_again(office: Office) -> None:
    await office.account("mailbox")
    assert isinstance(await again(office, await office.sequence("mailbox")), NotNow)


async def test_accounts_are_chosen_by_label_and_join_and_leave_with_it(desk: Desk) -> None:
    office = desk.office
    for n in range(3):
        await office.account(f"box-{n}", labels=["Sales"] if n < 2 else [])
    hello = await desk.template("Hello")
    steps = [{"variants": [{"template_id": hello}]}]
    made = await desk.ask(
        "POST", "/sequences", 201, name="Autumn", steps=steps, account_labels=["sales"]
    )
    assert made["account_ids"] == ["box-0", "box-1"]
    admin = Desk(desk.place, await desk.place.client("admin"))
    shown = await admin.ask("PATCH", "/accounts/box-2", labels=["Sales"])
    assert shown["labels"] == ["Sales"]
    await admin.ask("PATCH", "/accounts/box-0", labels=[])
    people = await office.people(4)
    path = f"/sequences/{made['id']}"
    await desk.ask("POST", f"{path}/contacts", contact_ids=people)
    await desk.ask("POST", f"{path}/start")
    await plan_sequence(desk.place.runtime, {"workspace_id": HOME, "sequence_id": made["id"]})
    senders = Counter(row["account_id"] for row in await office.deliveries())
    assert senders == {"box-1": 2, "box-2": 2}
    await desk.ask("PATCH", path, 422, account_ids=["box-0"])


async def test_a_plan_is_made_again_over_http_with_a_dry_run_first(desk: Desk) -> None:
    for n in range(2):
        await desk.office.account(f"box-{n}")
    hello = await desk.template("Hello")
    steps = [{"variants": [{"template_id": hello}]}]
    made = await desk.ask(
        "POST", "/sequences", 201, name="Autumn", steps=steps, account_ids=["box-0", "box-1"]
    )
    path = f"/sequences/{made['id']}"
    await desk.ask("POST", f"{path}/contacts", contact_ids=await desk.office.people(6))
    await desk.ask("POST", f"{path}/replan", 409)
    await desk.ask("POST", f"{path}/start")
    await desk.work()
    shown = await desk.ask("POST", f"{path}/replan?dry_run=true", account_id="box-0", reassign=True)
    assert (shown["moved"], shown["reassigned"]) == (3, 3)
    assert Counter(row["account_id"] for row in await desk.office.deliveries())["box-0"] == 3
    done = await desk.ask("POST", f"{path}/replan", account_id="box-0", reassign=True)
    assert {each["delivery_id"] for each in done["moves"]} == {
        each["delivery_id"] for each in shown["moves"]
    }
    assert {row["account_id"] for row in await desk.office.deliveries()} == {"box-1"}
    report = await desk.ask("GET", f"{path}/report")
    assert report["people"]["planned"] == 6
