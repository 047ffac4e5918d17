"""Several planners and workers at once, on real connections: no place is booked twice, no person written to twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cadenza.bootstrap import open_runtime
from cadenza.bootstrap.plan_sequences import plan_sequence
from cadenza.config.model import Settings
from cadenza.deliveries.permit import Permitted
from cadenza.deliveries.set_limit import Limit, set_limit
from cadenza.outreach import plan as planning
from cadenza.outreach.model import StopCause, account_lock, sequence_lock
from cadenza.outreach.plan import plan_account
from cadenza.outreach.stop import stop_for
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.providers.outcome import Sent, Unconfirmed
from cadenza.sql.tx import Tx
from tests.outreach.checker import doubles
from tests.outreach.conftest import ADA, HOME, MONDAY, NEW_YORK, Office

ZONE = ZoneInfo(NEW_YORK)


class Died(Exception):
    """The process."""


@pytest.fixture
async def offices(product_database: str, tmp_path: Path) -> AsyncIterator[list[Office]]:
    """Two processes' worth of connections to one PostgreSQL database."""
    settings = Settings(data=tmp_path, database=product_database)
    async with open_runtime(settings) as one, open_runtime(settings) as two:
        new = NewWorkspace(id=HOME, name="Ada", zone="Europe/Berlin")
        await one.operations.run(lambda tx, now: create_workspace(tx, now, new=new, by="system"))
        yield [Office(one), Office(two)]


async def test_two_planners_never_book_the_same_place(offices: list[Office]) -> None:
    one, two = offices
    await one.account("mailbox")
    made = []
    for _ in range(4):
        sequence = await one.sequence("mailbox")
        await one.enroll(sequence, await one.people(30))
        await one.start(sequence)
        made.append(sequence)
    payloads = [{"workspace_id": HOME, "sequence_id": each.id} for each in made]
    await asyncio.gather(
        *(plan_sequence(office.runtime, payload) for payload in payloads for office in (one, two))
    )
    rows = await one.deliveries()
    assert len(rows) == 120
    assert doubles((row["sequence_id"], row["contact_id"], row["step"]) for row in rows) == []
    days = Counter(row["due_at"].astimezone(ZONE).date() for row in rows)
    assert max(days.values()) <= 20
    dues = sorted(row["due_at"] for row in rows)
    assert all(b - a >= timedelta(minutes=6) for a, b in pairwise(dues))


async def test_without_the_lock_two_planners_do_book_the_same_place(
    offices: list[Office], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: this is what the lock is for."""
    one, two = offices
    await one.account("mailbox")
    take = planning._take

    def slowly(tx: Tx, *rest: Any) -> set[str]:
        tx.all("SELECT pg_sleep(0.5)")
        return take(tx, *rest)

    monkeypatch.setattr(planning, "_take", slowly)
    chunks: list[Any] = []
    for office in (one, two):
        sequence = await one.sequence("mailbox")
        await one.enroll(sequence, await one.people(30))
        await one.start(sequence)
        about = {"workspace_id": HOME, "sequence_id": sequence.id}
        await one.run(partial(planning.assign_chunk, **about), now=MONDAY)
        chunk = partial(plan_account, account_id="mailbox", **about)
        chunks.append(office.run(chunk, now=MONDAY))
    await asyncio.gather(*chunks)
    days = Counter(row["due_at"].astimezone(ZONE).date() for row in await one.deliveries())
    assert max(days.values()) == 40


async def test_a_crash_in_the_middle_of_planning_goes_on_where_it_stopped(office: Office) -> None:
    await office.account("mailbox")
    made = await office.sequence("mailbox")
    await office.enroll(made, await office.people(60))
    shown = await office.preview(made)
    await office.start(made)
    about = {"workspace_id": HOME, "sequence_id": made.id}
    locks = [sequence_lock(HOME, made.id), account_lock(HOME, "mailbox")]
    await office.run(partial(planning.assign_chunk, **about), now=MONDAY, locks=locks)
    chunk = partial(plan_account, account_id="mailbox", limit=25, **about)
    await office.run(chunk, now=MONDAY, locks=locks)

    def crash(tx: Any, now: Any) -> None:
        chunk(tx, now)
        raise Died

    with pytest.raises(Died):
        await office.run(crash, now=MONDAY, locks=locks)
    assert len(await office.deliveries(made)) == 25
    await office.plan(made)
    rows = await office.deliveries(made)
    assert [each.at for each in shown.times] == [row["due_at"] for row in rows]


async def test_a_stop_and_a_planner_at_once_leave_nothing_to_send(offices: list[Office]) -> None:
    one, two = offices
    await one.account("mailbox", always=True)
    for _ in range(5):
        made = await one.sequence("mailbox")
        (ada,) = await one.people(1)
        await one.enroll(made, [ada])
        await one.start(made)
        payload = {"workspace_id": HOME, "sequence_id": made.id}

        def reply(tx: Any, now: Any, contact: str = ada) -> Any:
            return stop_for(tx, now, HOME, contact, StopCause.REPLY)

        await asyncio.gather(plan_sequence(one.runtime, payload), two.run(reply))
        states = [row["state"] for row in await one.deliveries(made)]
        assert states in ([], ["canceled"])


async def test_many_workers_keep_a_cap_of_twenty_over_five_sequences(offices: list[Office]) -> None:
    """16 workers, five sequences, four accounts; a tenth of the calls is never answered."""
    one, _ = offices
    accounts = [await one.account(f"mailbox-{n}", always=True) for n in range(4)]
    made = [await one.sequence(*accounts) for _ in range(5)]
    for sequence in made:
        await one.enroll(sequence, await one.people(24))
        await one.start(sequence)
        await one.work(sequence)
    for account in accounts:
        said = Limit(scope=f"account:{account}", action="email", kind="gap", amount=0)
        await one.run(partial(set_limit, workspace_id=HOME, limit=said, by=ADA))
    reached: Counter[tuple[str, str]] = Counter()
    by_account: Counter[str] = Counter()

    async def work(office: Office, number: int) -> None:
        for turn in range(3):
            for ticket in await office.claim(limit=3):
                answer = await office.permit(ticket)
                if isinstance(answer, Permitted):
                    key = (ticket.delivery.sequence_id or "", ticket.delivery.contact_id or "")
                    reached[key] += 1
                    by_account[ticket.delivery.account_id] += 1
                    lost = (number + turn) % 10 == 0
                    outcome = Unconfirmed("no answer") if lost else Sent(f"<{ticket.id}>")
                    await office.settle(ticket, answer.attempt_id, outcome)

    for _ in range(25):
        await one.make_due()
        await asyncio.gather(*(work(offices[n % 2], n) for n in range(16)))
        if min(by_account[account] for account in accounts) == 20:
            break
    await one.make_due()
    await asyncio.gather(*(work(offices[n % 2], n) for n in range(16)))
    assert max(reached.values()) == 1, "nobody is written to twice in a step"
    assert dict(by_account) == dict.fromkeys(accounts, 20)
    counted = await one.rows(
        "SELECT account_id, count(*) AS n FROM activity WHERE counts GROUP BY 1"
    )
    assert {row["account_id"]: row["n"] for row in counted} == dict(by_account)
    rows = await one.deliveries()
    states = Counter(row["state"] for row in rows)
    assert sum(states.values()) == 120, "none is lost"
    assert states["sent"] + states["unconfirmed"] == sum(by_account.values())
