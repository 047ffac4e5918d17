"""Sixteen worker processes send five sequences by four accounts, and are killed again and again.

Twenty a day and account is what the ledger counts and the most that the network saw; the gap holds from the end of
a call; nobody is written to twice; what found no room today is planned for another day. The gap is one second, the
shortest that limits know. The truth is the network's own log.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from cadenza.bootstrap import open_runtime
from cadenza.config.model import Settings
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.deliveries.reconcile import Lookup, Reconciler, UnconfirmedAttempt
from cadenza.deliveries.set_limit import Limit, set_limit
from cadenza.outreach.model import ReadyMessage
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.providers.outcome import Absent, Found
from tests.crash.nursery import Nursery
from tests.crash.test_pipeline_limits import ForkedCrew, Mark
from tests.outreach.conftest import ADA, HOME, Office

WORKERS, CONCURRENCY = 16, 4
ACCOUNTS, SEQUENCES, PEOPLE = 4, 5, 24
CAP, GAP, KILLS = 20, 1, 12

pytestmark = pytest.mark.slow


class Log:
    """What the network saw: a message's text is the person it was written for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def marks(self, kind: str) -> list[Mark]:
        rows = [line.split() for line in self.path.read_text().splitlines()]
        marks = [Mark(row[0], row[1], row[2], float(row[3])) for row in rows if len(row) == 4]
        return sorted((mark for mark in marks if mark.kind == kind), key=lambda mark: mark.at)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    opened = Nursery.open("tests.crash.outreach_program:run")
    yield opened
    opened.close()


async def furnish(office: Office) -> list[str]:
    """Sequences with ready-made messages, planned and due."""
    accounts = [await office.account(f"mailbox-{n}", always=True) for n in range(ACCOUNTS)]
    for account in accounts:
        for kind, amount in (("gap", GAP), ("day", CAP)):
            said = Limit(scope=f"account:{account}", action="email", kind=kind, amount=amount)
            await office.run(partial(set_limit, workspace_id=HOME, limit=said, by=ADA))
    for n in range(SEQUENCES):
        made = await office.sequence(*accounts, steps=[])
        people = await office.people(PEOPLE)
        messages = {
            id_: (ReadyMessage(channel=Channel.EMAIL, subject=f"to {n}", text=id_),)
            for id_ in people
        }
        await office.enroll(made, people, messages=messages)
        await office.start(made)
        await office.work(made)
    await office.make_due()
    return accounts


async def find_out(office: Office, log: Log) -> set[str]:
    """Look into unconfirmed calls at the network, as dead ones write nothing more; return which there were."""
    rows = await office.deliveries(state="unconfirmed")
    await office.run(
        lambda tx, now: tx.run(
            """
            UPDATE attempt SET deadline_at = :past
            WHERE delivery_id IN (SELECT id FROM delivery WHERE state = 'unconfirmed')
            """,
            past=now - timedelta(minutes=2),
        )
    )
    seen = {mark.delivery for mark in log.marks("begin")}

    async def look(unconfirmed: UnconfirmedAttempt) -> Lookup:
        arrived = unconfirmed.ticket.delivery.contact_id in seen
        return Lookup(Found("r") if arrived else Absent())

    await Reconciler(office.operations, look, clock=SystemClock()).run_once()
    return {row["id"] for row in rows}


async def test_killed_workers_keep_every_limit_of_five_sequences(
    database: str, tmp_path: Path, nursery: Nursery
) -> None:
    log = Log(tmp_path / "marks")
    async with open_runtime(Settings(data=tmp_path, database=database)) as runtime:
        new = NewWorkspace(id=HOME, name="Ada", zone="Europe/Berlin")
        await runtime.operations.run(
            lambda tx, now: create_workspace(tx, now, new=new, by="system")
        )
        office = Office(runtime)
        accounts = await furnish(office)
        dice, unconfirmed = random.Random(7), set[str]()
        with ForkedCrew(nursery, [database, str(log.path)], size=WORKERS, seed=11) as crew:
            async with asyncio.timeout(240):
                while True:
                    if crew.kills < KILLS and log.marks("begin"):
                        crew.kill_one()
                    await asyncio.sleep(dice.uniform(0.2, 0.6))
                    unconfirmed |= await find_out(office, log)
                    rows = await office.deliveries()
                    states = Counter(row["state"] for row in rows)
                    if (
                        states["sent"] >= ACCOUNTS * CAP
                        and not states["sending"] + states["unconfirmed"]
                        and crew.kills >= KILLS
                    ):
                        break
            await asyncio.sleep(2.5)  # whoever would go too far has time for it
        begins, ends = log.marks("begin"), {m.delivery: m.at for m in log.marks("end")}
        assert max(Counter(mark.delivery for mark in begins).values()) == 1, "written to twice"
        counted = await office.rows(
            "SELECT account_id, count(*) AS n FROM activity WHERE counts GROUP BY account_id"
        )
        assert {row["account_id"]: row["n"] for row in counted} == dict.fromkeys(accounts, CAP)
        seen = Counter(mark.account for mark in begins)
        assert all(seen[account] <= CAP for account in accounts), seen
        for account in accounts:
            mine = [mark for mark in begins if mark.account == account]
            gaps = [b.at - ends.get(a.delivery, a.at) for a, b in pairwise(mine)]
            assert min(gaps) >= GAP, (account, min(gaps))
        rows = await office.deliveries()
        states = Counter(row["state"] for row in rows)
        assert states == {"sent": ACCOUNTS * CAP, "scheduled": SEQUENCES * PEOPLE - ACCOUNTS * CAP}
        assert len(unconfirmed) <= KILLS * CONCURRENCY
        audit = await office.operations.read(audit_limits)
        assert audit.clean, audit
