"""Sixteen worker processes, killed again and again: every limit holds to the last piece, and is used up.

The truth is what the network saw; doubts that a kill leaves are looked into there.
"""

import asyncio
import contextlib
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Self

import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries import lanes
from cadenza.deliveries.audit_limits import audit_limits
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.lease_rate import set_provider_rate
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.permit import LATEST
from cadenza.deliveries.reconcile import Lookup, Reconciler, UnconfirmedAttempt
from cadenza.deliveries.schedule import schedule
from cadenza.deliveries.set_limit import Limit, set_limit
from cadenza.providers.outcome import Absent, Found
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx
from tests.crash.nursery import Nursery, Worker
from tests.crash.pipeline_program import PROVIDER

HOME = "home"
WORKERS = 16
CAP = 20

pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of what the network saw."""

    kind: str
    delivery: str
    account: str
    at: float


class ForkedCrew:
    """Keeps `size` worker processes running; kills them with -9."""

    def __init__(self, nursery: Nursery, words: list[str], *, size: int, seed: int) -> None:
        self._words = words
        self._size = size
        self._dice = random.Random(seed)
        self._nursery = nursery
        self._workers: list[Worker] = []
        self.kills = 0

    def __enter__(self) -> Self:
        self._fill()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            with contextlib.suppress(ProcessLookupError):
                worker.send(signal.SIGTERM)
        for worker in self._workers:
            if not worker.wait(15):
                worker.kill()

    def _fill(self) -> None:
        self._workers = [worker for worker in self._workers if worker.alive]
        while len(self._workers) < self._size:
            self._workers.append(self._nursery.hire(self._words))

    def kill_one(self) -> None:
        victim = self._dice.choice(self._workers)
        with contextlib.suppress(ProcessLookupError):
            victim.kill()
        self.kills += 1
        self._fill()


class Ground:
    """A database that many processes work on, and the network's book."""

    def __init__(self, address: str, operations: Operations, book: Path, nursery: Nursery) -> None:
        self.nursery = nursery
        self.address = address
        self.operations = operations
        self.book = book
        book.touch()

    def marks(self, kind: str) -> list[Mark]:
        rows = [line.split() for line in self.book.read_text().splitlines()]
        marks = [Mark(row[0], row[1], row[2], float(row[3])) for row in rows]
        return sorted((mark for mark in marks if mark.kind == kind), key=lambda mark: mark.at)

    async def fill(self, accounts: int, campaigns: list[str], deliveries: int) -> None:
        def add(tx: Tx, now: datetime) -> None:
            tx.run(
                "INSERT INTO workspace (id, name, zone, created_at) VALUES (:home, 'h', 'UTC', :now)",
                home=HOME,
                now=now,
            )
            for n in range(accounts):
                tx.run(
                    """
                    INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
                    VALUES (:home, :id, :provider, :id, 'UTC', :now)
                    """,
                    home=HOME,
                    id=f"account-{n}",
                    provider=PROVIDER,
                    now=now,
                )
                init_account(tx, now, workspace_id=HOME, account_id=f"account-{n}")
            for lane in campaigns:
                lanes.open_lane(tx, workspace_id=HOME, scope=lane, in_flight_limit=4)
            new = [
                NewDelivery(
                    id=f"d{n:03}",
                    workspace_id=HOME,
                    account_id=f"account-{n % accounts}",
                    lane_id=campaigns[n // accounts % len(campaigns)],
                    channel=Channel.WEBHOOK,
                    action=Action.POST,
                    due_at=now,
                    content=f'{{"text":"d{n:03}"}}',
                )
                for n in range(deliveries)
            ]
            schedule(tx, now, new)

        await self.operations.run(add)

    async def limit(self, scope: str, kind: str, amount: int, per: int | None = None) -> None:
        limit = Limit(scope=scope, action="post", kind=kind, amount=amount, per_seconds=per)
        await self.operations.run(
            lambda tx, now: set_limit(tx, now, workspace_id=HOME, limit=limit, by="member:ada")
        )

    async def rows(self, sql: str) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(sql))

    async def find_out_unconfirmed(self) -> None:
        """Ask the book; deadlines are brought forward, as dead calls write nothing more."""
        seen = {mark.delivery for mark in self.marks("begin")}

        async def find_out(unconfirmed: UnconfirmedAttempt) -> Lookup:
            return Lookup(Found("r") if unconfirmed.ticket.id in seen else Absent())

        await self.operations.run(
            lambda tx, now: tx.run(
                """
                UPDATE attempt SET deadline_at = :past WHERE delivery_id IN (
                    SELECT id FROM delivery WHERE state = 'unconfirmed'
                )
                """,
                past=now - timedelta(minutes=2),
            )
        )
        await Reconciler(self.operations, find_out, clock=SystemClock()).run_once()

    async def work(self, *, kills: int, sent: int, seconds: float, every: float = 0.4) -> None:
        """Let sixteen work and be killed until so many are sent and nothing is unconfirmed or in hand."""
        dice = random.Random(7)
        with ForkedCrew(
            self.nursery, [self.address, str(self.book)], size=WORKERS, seed=11
        ) as crew:
            async with asyncio.timeout(seconds):
                while True:
                    if crew.kills < kills and self.marks("begin"):
                        crew.kill_one()
                    await asyncio.sleep(dice.uniform(0.5 * every, 1.5 * every))
                    await self.find_out_unconfirmed()
                    states = Counter(
                        row["state"] for row in await self.rows("SELECT state FROM delivery")
                    )
                    if states["sent"] >= sent and not states["sending"] + states["unconfirmed"]:
                        break
            await asyncio.sleep(1.0)  # whoever would go too far has time for it

    async def check(self, sent: int) -> None:
        states = Counter(row["state"] for row in await self.rows("SELECT state FROM delivery"))
        assert states["sent"] == sent
        calls = Counter(mark.delivery for mark in self.marks("begin"))
        assert set(calls.values()) == {1}, "a delivery was called twice"
        assert len(calls) == sent
        audit = await self.operations.read(audit_limits)
        assert audit.clean, audit


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    opened = Nursery.open("tests.crash.pipeline_program:run")
    yield opened
    opened.close()


@pytest.fixture
async def ground(database: str, tmp_path: Path, nursery: Nursery) -> AsyncIterator[Ground]:
    async with open_product(database, clock=SystemClock()) as operations:
        yield Ground(database, operations, tmp_path / "marks", nursery)


async def test_a_cap_of_twenty_lets_exactly_twenty_out(ground: Ground) -> None:
    await ground.fill(1, [f"campaign:{n}" for n in range(WORKERS)], 3 * WORKERS)
    await ground.limit("account:account-0", "day", CAP)
    await ground.work(kills=10, sent=CAP, seconds=120, every=0.2)
    await ground.check(CAP)


async def test_a_gap_is_never_shorter_whoever_dies(ground: Ground) -> None:
    await ground.fill(1, [f"campaign:{n}" for n in range(WORKERS)], WORKERS)
    await ground.limit("account:account-0", "gap", 1)
    await ground.limit("account:account-0", "day", 6)
    await ground.work(kills=5, sent=6, seconds=150)
    await ground.check(6)
    begins, ends = ground.marks("begin"), {m.delivery: m.at for m in ground.marks("end")}
    gaps = [after.at - ends.get(before.delivery, before.at) for before, after in pairwise(begins)]
    assert min(gaps) >= 1.0, gaps


async def test_a_campaign_its_accounts_and_their_provider_hold_together(ground: Ground) -> None:
    """Each of the three binds: the accounts' days in all, the campaign's rate and day, the provider's rate."""
    slow, quick, rate = "campaign:slow", "campaign:quick", 3
    caps = {"account-0": 4, "account-1": 6, "account-2": 8}
    await ground.fill(len(caps), [slow, quick], 60)
    await ground.limit(slow, "rate", 1, per=1)
    await ground.limit(slow, "day", 5)
    for account, cap in caps.items():
        await ground.limit(f"account:{account}", "day", cap)
    await ground.operations.run(
        lambda tx, now: set_provider_rate(tx, now, provider=PROVIDER, amount=rate, per_seconds=1)
    )
    await ground.work(kills=8, sent=sum(caps.values()), seconds=150)
    await ground.check(sum(caps.values()))
    assert Counter(mark.account for mark in ground.marks("begin")) == caps

    # What began, by the database's own clock: whoever was killed between it and the call counts too.
    began = await ground.rows(
        """
        SELECT attempt.began_at, delivery.lane_id FROM attempt
        JOIN delivery ON delivery.id = attempt.delivery_id ORDER BY attempt.began_at
        """
    )
    of_slow = [row["began_at"] for row in began if row["lane_id"] == slow]
    sent_by_slow = await ground.rows(
        f"SELECT id FROM delivery WHERE state = 'sent' AND lane_id = '{slow}'"
    )
    assert len(sent_by_slow) <= 5
    apart = [(after - before).total_seconds() for before, after in pairwise(of_slow)]
    assert min(apart, default=1.0) >= 1.0, apart
    instants = [row["began_at"].timestamp() for row in began]
    for seconds in (1.0, 2.0, 3.0):
        allowed = rate * (seconds + LATEST.total_seconds()) + 1
        assert most_within(instants, seconds) <= allowed, (seconds, instants)
    # In the long run the rate itself: what is late by two seconds at most cannot pile up.
    span = instants[-1] - instants[0]
    assert len(instants) <= rate * (span + LATEST.total_seconds()) + 1, instants


def most_within(times: list[float], seconds: float) -> int:
    return max(sum(begin <= at < begin + seconds for at in times) for begin in times)
