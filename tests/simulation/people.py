"""Ada, Ben and Cy: they schedule, pause, resume and cancel, and remember what they were promised.

Whoever gets no answer asks again with the same id. Only what was acknowledged is a promise. What they do
with posts and queues is in `users.py`; here they hand deliveries to the pipeline as a planner does.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from cadenza.core.channels import Channel
from cadenza.core.ids import CountedIds
from cadenza.deliveries import lanes
from cadenza.deliveries.change import ChangedDelivery, cancel
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.lease_rate import set_provider_rate
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import Operations, _on_sqlite
from cadenza.sql.tx import Tx, from_microseconds, to_microseconds
from tests.simulation.grants import Grants
from tests.simulation.kernel import START
from tests.simulation.network import KINDS
from tests.simulation.stage import Stage

T = TypeVar("T")
HOME = "home"
NAMES = ("ada", "ben", "cy")
SHARED = "campaign:all"  # the lane that all accounts send by, where there is one


@dataclass(slots=True)
class Account:
    """What was set for an account."""

    id: str
    kind: str
    hour_cap: int | None
    day_cap: int | None
    gap: int | None
    rate: int | None  # an hour
    in_flight: int
    opens: (
        float | None
    )  # its hours for posts begin then, in seconds of the day; they end at `CLOSES`
    pitch: int  # minutes between two slots of its queue
    max_per_day: int | None

    @property
    def lane(self) -> str:
        return f"account:{self.id}"


@dataclass(frozen=True, slots=True)
class Limits:
    """What was set for the shared lane."""

    gap: int | None
    hour_cap: int | None


@dataclass(slots=True)
class Promised:
    """An accepted delivery, as its author knows it."""

    id: str
    account: str
    due: float
    parts: int
    canceled: bool = False


class People:
    """All that is asked of the product from outside."""

    def __init__(self, world: Stage, operations: Operations) -> None:
        self._world = world
        self._operations = operations
        tape, swarm = world.tape, world.swarm
        self.accounts = [
            Account(
                id=NAMES[n],
                kind=tape.one_of(KINDS),
                hour_cap=tape.one_of((None, 6, 3)),
                day_cap=tape.one_of((None, None, None, 4)),
                gap=tape.one_of((None, 40, 150)),
                rate=tape.one_of((None, None, 60)),
                in_flight=1 + tape.below(2) * 2,
                opens=tape.one_of((None, None, None, 35_700.0)),
                pitch=1 + tape.below(3),
                max_per_day=tape.one_of((None, None, 3)),
            )
            for n in range(swarm.accounts)
        ]
        self.shared = (
            Limits(tape.one_of((40, 100, None)), tape.one_of((3, None))) if swarm.shared else None
        )
        if swarm.app_pace or swarm.faults.get("flood"):
            for account in self.accounts:  # what is an app's is more than one account's
                account.kind = self.accounts[0].kind
        self.promised: dict[str, Promised] = {}
        self.grants: Grants | None = None  # where tokens run out
        self._ids = CountedIds("at-once")

    def settle_in(self) -> None:
        """Be there before anything else is."""
        self._now(
            "INSERT INTO workspace (id, name, zone, created_at) VALUES (?, ?, 'UTC', 0)", HOME, HOME
        )
        for account in self.accounts:
            hours = '{"hours":{"post":{"start":"09:55","end":"09:52","days":[0,1,2,3,4,5,6]}}}'
            self._now(
                "INSERT INTO account (workspace_id, id, provider, remote_id, zone, settings, created_at)"
                " VALUES (?, ?, ?, ?, 'UTC', ?, 0)",
                HOME,
                account.id,
                account.kind,
                account.id,
                "{}" if account.opens is None else hours,
            )
            self._now(
                "INSERT INTO member (workspace_id, id, email, name, role, created_at)"
                " VALUES (?, ?, ?, ?, 'editor', 0)",
                HOME,
                account.id,
                account.id,
                account.id,
            )
            for kind, amount in (
                ("hour", account.hour_cap),
                ("day", account.day_cap),
                ("gap", account.gap),
                ("rate", account.rate),
            ):
                self._limit(account.lane, "post" if self.shared is None else "*", kind, amount)
            self.at_once(
                lambda tx, now, account=account: init_account(
                    tx,
                    now,
                    workspace_id=HOME,
                    account_id=account.id,
                    in_flight_limit=account.in_flight,
                )
            )
            if self.grants is not None:
                self.grants.settle_in(HOME, account.id)
        self._share()

    def _share(self) -> None:
        """Open the shared lane, and set what all accounts of a network may do together."""
        if self.shared is not None:
            self.at_once(
                lambda tx, _: lanes.open_lane(
                    tx, workspace_id=HOME, scope=SHARED, in_flight_limit=2
                )
            )
            self._limit(SHARED, "broadcast", "gap", self.shared.gap)
            self._limit(SHARED, "broadcast", "hour", self.shared.hour_cap)
        if pace := self._world.swarm.app_pace:
            self.at_once(
                lambda tx, now: set_provider_rate(
                    tx, now, provider=self.accounts[0].kind, amount=1, per_seconds=int(pace)
                )
            )

    def _limit(self, scope: str, action: str, kind: str, amount: int | None) -> None:
        if amount is not None:
            self._now(
                "INSERT INTO budget (workspace_id, scope, action, kind, amount) VALUES (?, ?, ?, ?, ?)",
                HOME,
                scope,
                action,
                kind,
                amount,
            )

    def sign_in(self, account: Account) -> Tokens:
        """Sign in over there, to connect an account again."""
        return Tokens(access=Secret("t")) if self.grants is None else self.grants.issue(account.id)

    @property
    def lanes(self) -> list[str]:
        """Name what can be paused."""
        own = [account.lane for account in self.accounts]
        return own if self.shared is None else [*own, SHARED]

    async def plan(self) -> None:
        """Schedule deliveries now and then."""
        tape = self._world.tape
        for n in range(self._world.swarm.deliveries):
            await asyncio.sleep(tape.seconds(60))
            account = tape.one_of(self.accounts)
            parts = 1 + tape.one_of((0, 0, 0, 1, 2))
            due = self._world.stored() + tape.one_of((0.0, 1.0, 30.0, 90.0))
            new = Promised(f"d{n + 1:02}", account.id, due, parts)
            await self._schedule(new, tape.below(2), shared=bool(self.shared and tape.below(2)))

    async def _schedule(self, new: Promised, priority: int, *, shared: bool) -> None:
        more = ",".join(f'"{new.id}"' for _ in range(new.parts - 1))
        delivery = NewDelivery(
            id=new.id,
            workspace_id=HOME,
            account_id=new.account,
            channel=Channel.MASTODON,
            action=Action.BROADCAST if shared else Action.POST,
            lane_id=SHARED if shared else None,
            due_at=START + timedelta(seconds=new.due),
            content=f'{{"text":"{new.id}","parts":[{more}]}}',
            priority=priority,
        )
        if await self.insist(lambda tx, now: schedule(tx, now, [delivery])):
            self.promised[new.id] = new
            self._world.tell("people", f"{new.account} scheduled {new.id} for {new.due:.0f} s")

    async def meddle(self) -> None:
        """Pause, resume, cancel, one thing after the other."""
        tape = self._world.tape
        for _ in range(self._world.swarm.meddlings):
            await asyncio.sleep(5 + tape.seconds(120))
            if tape.below(3) == 2 and self.promised:
                await self._cancel(tape.one_of(sorted(self.promised)))
                continue
            lane = tape.one_of(self.lanes)
            await self._pause(lane)
            await asyncio.sleep(tape.seconds(200))
            await self._resume(lane)

    async def _pause(self, lane: str) -> None:
        if await self.insist(
            lambda tx, _: (lanes.pause(tx, workspace_id=HOME, scope=lane, reason="rest"), 1)
        ):
            self._world.tell("people", f"{lane} is paused")

    async def _resume(self, lane: str) -> None:
        self._world.tell("people", f"{lane} is to be resumed")
        await self.insist(lambda tx, _: (lanes.resume(tx, workspace_id=HOME, scope=lane), 1))

    async def _cancel(self, id_: str) -> None:
        answer = await self.insist(
            lambda tx, now: cancel(tx, now, workspace_id=HOME, id=id_, reason="not wanted")
        )
        if isinstance(answer, ChangedDelivery):
            self.promised[id_].canceled = True
            self._world.tell("people", f"{id_} is canceled")

    async def insist(
        self, operation: Callable[[Tx, datetime], T], locks: Sequence[str] = ()
    ) -> T | None:
        """Ask until there is an answer; give up after a while."""
        era = self._world.era
        for _ in range(5):
            try:
                answer = await self._operations.run(operation, locks=locks)
            except SqlError:
                await asyncio.sleep(1)
            else:
                return answer if era == self._world.era else None  # it may be forgotten
        return None

    def open_all(self) -> None:
        """Resume every lane, as the time of trouble is over."""
        for lane in self.lanes:
            self.at_once(lambda tx, _, lane=lane: lanes.resume(tx, workspace_id=HOME, scope=lane))

    def _now(self, sql: str, *values: object) -> None:
        self._world.raw.execute(sql, values)

    def at_once(self, operation: Callable[[Tx, datetime], object]) -> None:
        """Do something in no time, without any fault."""
        _on_sqlite(operation, self._ids)(
            self._world.raw, to_microseconds(START + timedelta(seconds=self._world.stored()))
        )


def seconds_of(microseconds: int) -> float:
    """Return a stored instant as virtual seconds."""
    return (from_microseconds(microseconds) - START).total_seconds()
