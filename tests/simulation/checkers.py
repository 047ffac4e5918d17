"""The promises, checked: some after every write, the rest when all has healed and ended.

P1 nothing accepted is lost; P2 nothing goes out twice; P3 the record tells the truth; P4 never above a
limit; P5 never early; P6 a pause holds; P7 no forbidden move, no fence that falls; P8 a crash heals, and
no worker ends by itself. The networks' log is the truth that the database is compared with.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.model import TRANSITIONS
from cadenza.sql.tx import to_microseconds
from tests.simulation.kernel import START
from tests.simulation.people import People, seconds_of
from tests.simulation.stage import Stage, Wire

ENDED = frozenset({"sent", "failed", "canceled", "missed", "skipped"})
CALL_BY = 30.0  # seconds after a permit by which the call has begun, at the very latest
GRACE = 0.5
_TRIGGER = """
CREATE TRIGGER sim_watch AFTER UPDATE OF state, lease, leased_until ON delivery
WHEN old.state <> new.state OR old.lease <> new.lease
    OR (old.leased_until IS NULL) <> (new.leased_until IS NULL)
BEGIN INSERT INTO sim_move VALUES (
    new.id, old.state, new.state, old.lease, new.lease,
    old.leased_until IS NOT NULL, new.leased_until IS NOT NULL, old.worker
); END
"""
_LANES = """
SELECT id, in_flight, held FROM (
    SELECT lane.id, in_flight, (
        SELECT count(*) FROM delivery WHERE delivery.lane_id = lane.id AND leased_until IS NOT NULL
    ) AS held FROM lane
) WHERE in_flight <> held
"""
_LEDGER = """
SELECT scope, period, taken, counted FROM (
    SELECT bucket.scope, period, taken, (
        SELECT count(*) FROM activity
        WHERE 'account:' || activity.account_id = bucket.scope AND counts
            AND strftime('%Y-%m-%dT%HZ', reserved_at / 1000000, 'unixepoch') = period
    ) AS counted FROM bucket WHERE kind = 'hour'
) WHERE taken <> counted
"""


class Violated(Exception):
    """A promise is broken; the run ends."""


@dataclass(frozen=True, slots=True)
class Violation:
    """Which promise, and how."""

    promise: str
    says: str


class Checks:
    """All checkers of one world."""

    def __init__(self, world: Stage, people: People) -> None:
        self._world = world
        self._people = people
        self._seen_moves = 0
        self._changes = -1
        self.first: Violation | None = None

    async def guard(self, life: Coroutine[Any, Any, None]) -> None:
        """Live until the end or the first violation."""
        running = asyncio.ensure_future(life)
        while not running.done() and self.first is None:
            await asyncio.wait([running], timeout=30)
        if self.first is None:
            running.result()

    def violate(self, promise: str, says: str) -> None:
        """Keep the first violation, and tell it."""
        if self.first is None:
            self.first = Violation(promise, says)
            self._world.tell("BROKEN", f"{promise}: {says}")

    def watch(self) -> None:
        """Have every move written down by the database itself."""
        raw = self._world.raw
        raw.execute(
            "CREATE TABLE sim_move (id, before, after, old, new, was_held, is_held, worker)"
        )
        raw.execute(_TRIGGER)

    # After every write

    def after_write(self) -> None:
        raw = self._world.raw
        if raw.total_changes == self._changes:
            return
        self._changes = raw.total_changes
        for rowid, *move in raw.execute(
            "SELECT rowid, * FROM sim_move WHERE rowid > ?", (self._seen_moves,)
        ).fetchall():
            self._seen_moves = rowid
            self._check_move(*move)
        for lane, counted, held in raw.execute(_LANES).fetchall():
            self.violate("P4", f"{lane} counts {counted} in flight, and {held} are held")
        for account, period, taken, counted in raw.execute(_LEDGER).fetchall():
            self.violate("P4", f"{account}'s {period} counts {taken}, the ledger {counted}")

    def _check_move(
        self,
        id_: str,
        before: str,
        after: str,
        old: int,
        new: int,
        was_held: bool,
        is_held: bool,
        worker: str | None,
    ) -> None:
        self._world.tell("move", f"{id_} {before} -> {after}, lease {old} -> {new}")
        if before != after and (State(before), State(after)) not in TRANSITIONS:
            self.violate("P7", f"{id_} went from {before} to {after}")
        if new < old or (is_held and not was_held and new == old):
            self.violate("P7", f"the fence of {id_} did not rise from {old} to {new}")
        here = self._world.host_name()
        if was_held and not is_held and new == old and worker != here:
            self.violate("P7", f"{here} let go of {id_}, which {worker} holds")

    # When all has healed

    def after_healing(self) -> None:
        """Nothing is held any more by a worker that is gone."""
        for id_, worker in self._world.raw.execute(
            "SELECT id, worker FROM delivery WHERE leased_until IS NOT NULL AND leased_until < ?",
            ((self._micro(self._world.now() - 30)),),
        ).fetchall():
            self.violate("P8", f"{id_} is still held by {worker}, long after its lease")

    def is_over(self) -> bool:
        return not self._live()

    def _live(self) -> list[str]:
        kinds = {account.id: account.kind for account in self._people.accounts}
        return [
            f"{id_} ({state}: {reason})"
            for id_, account, state, reason in self._world.raw.execute(
                "SELECT id, account_id, state, reason FROM delivery"
            ).fetchall()
            if state not in ENDED and not (state == "unconfirmed" and kinds[account] == "neither")
        ]

    def at_the_end(self) -> None:
        """Compare the record with what became visible."""
        self._check_calls()
        self._check_records()
        self._check_pauses()
        self._check_hours()
        self._check_gaps()
        if live := self._live():
            self.violate("P1", f"no end came to {', '.join(live)}")

    def _check_calls(self) -> None:
        seen: Counter[tuple[str, int]] = Counter()
        for wire in self._world.wires:
            promised = self._people.promised.get(wire.delivery)
            if promised is not None and wire.called < promised.due - 0.001:
                early = promised.due - wire.called
                self.violate("P5", f"{wire.delivery} was called {early:.3f} s early")
            if wire.visible is not None:
                seen[wire.delivery, wire.part] += 1
        for (id_, part), count in seen.items():
            if count > 1:
                self.violate("P2", f"{id_} part {part} is visible {count} times")

    def _check_records(self) -> None:
        rows = {
            row[0]: row[1:]
            for row in self._world.raw.execute(
                "SELECT id, state, parts_sent, reason FROM delivery"
            ).fetchall()
        }
        parts: dict[str, set[int]] = {}
        for wire in self._world.wires:
            if wire.visible is not None:
                parts.setdefault(wire.delivery, set()).add(wire.part)
        for promised in self._people.promised.values():
            if promised.id not in rows:
                self.violate("P1", f"{promised.id} was accepted and is gone")
                continue
            state, sent, reason = rows[promised.id]
            visible = parts.get(promised.id, set())
            if state == "sent" and visible != set(range(promised.parts)):
                self.violate(
                    "P3", f"{promised.id} is sent with {len(visible)} of {promised.parts} parts"
                )
            known = 0 if sent == "[]" else sent.count(",") + 1
            if state in ENDED - {"sent"} and len(visible) > known:
                self.violate("P3", f"{promised.id} is {state} ({reason}) and visible")
            if promised.canceled and len(visible) > known:
                self.violate("P3", f"{promised.id} was canceled, acknowledged, and is visible")

    def _check_pauses(self) -> None:
        lanes = self._world.raw.execute(
            "SELECT delivery.lane_id, attempt.delivery_id, began_at FROM attempt"
            " JOIN delivery ON delivery.id = delivery_id WHERE part = 0"
        ).fetchall()
        for closed in self._people.pauses:
            end = self._world.now() if closed.reopened is None else closed.reopened
            for lane, id_, began in lanes:
                if lane == closed.lane and closed.acknowledged < seconds_of(began) < end:
                    self.violate("P6", f"{id_} was permitted while {lane} was paused")
            for wire in self._world.wires:
                late = closed.acknowledged + CALL_BY
                mine = f"account:{wire.account}" == closed.lane
                if mine and not wire.part and late < wire.called < end:
                    self.violate(
                        "P6", f"{wire.delivery} was called long after {closed.lane}'s pause"
                    )

    def _check_hours(self) -> None:
        for account in self._people.accounts:
            if account.hour_cap is None:
                continue
            used: Counter[int] = Counter()
            for wire in self._calls(account.id):
                began = self._permit_of(wire)
                if wire.visible is not None and began is not None:
                    used[int((began + 3000) // 3600)] += 1  # the world starts at ten to the hour
            for hour, count in used.items():
                if count > account.hour_cap:
                    says = f"{account.id} sent {count} in hour {hour}, {account.hour_cap} allowed"
                    self.violate("P4", says)

    def _check_gaps(self) -> None:
        for account in self._people.accounts:
            calls = self._calls(account.id)
            for before, after in pairwise(calls):
                end = before.ended
                if account.gap is not None and after.called < end + account.gap - GRACE:
                    says = (
                        f"{after.delivery} came {after.called - end:.0f} s after {before.delivery}"
                    )
                    self.violate("P4", f"{says}; {account.gap} s is the least")

    def _calls(self, account: str) -> list[Wire]:
        return [wire for wire in self._world.wires if wire.account == account]

    def _permit_of(self, wire: Wire) -> float | None:
        rows = self._world.raw.execute(
            "SELECT began_at FROM attempt WHERE delivery_id = ? AND part = ?",
            (wire.delivery, wire.part),
        ).fetchall()
        return max(
            (at for (began,) in rows if (at := seconds_of(began)) <= wire.called), default=None
        )

    def _micro(self, at: float) -> int:
        return to_microseconds(START + timedelta(seconds=at))
