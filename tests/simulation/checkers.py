"""The promises, checked when all has healed and ended: the record against what became visible.

P1 nothing accepted is lost; P2 nothing goes out twice; P3 the record tells the truth; P4 never above a
limit; P5 never early; P6 a pause holds; P7 no forbidden move, no fence that falls; P8 a crash heals, and
no worker ends by itself; P9 a slot holds one post; P10 changes of a queue happen one at a time, nothing
that left is moved; P11 a clock that jumps holds sending; P12 no flood; P16 a refresh token is presented
once. What holds at every instant is checked in `watch.py`, what an answer promises in `users.py`, tokens in
`grants.py`.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from itertools import pairwise
from typing import Any

import msgspec

from tests.simulation.people import SHARED, seconds_of
from tests.simulation.stage import Wire
from tests.simulation.watch import NINE_FIFTY, Watch, micro

ENDED = frozenset({"sent", "failed", "canceled", "missed", "skipped"})
GRACE = 0.5
SOON = 1200.0  # what is due later than this may wait for it
RESTORED = "the database was restored since"  # a person looks for the rest of a thread
LONG = 7200.0  # a lane that is parked longer than this waits for its day


class Checks(Watch):
    """All checkers of one world."""

    async def guard(self, life: Coroutine[Any, Any, None]) -> None:
        """Live until the end or the first violation."""
        running = asyncio.ensure_future(life)
        while not running.done() and self.first is None:
            await asyncio.wait([running], timeout=30)
        if self.first is None:
            running.result()

    def after_healing(self) -> None:
        """Nothing is held any more by a worker that is gone."""
        for id_, worker in self._world.raw.execute(
            "SELECT id, worker FROM delivery WHERE leased_until IS NOT NULL AND leased_until < ?",
            (micro(self._world.stored() - 30),),
        ).fetchall():
            self.violate("P8", f"{id_} is still held by {worker}, long after its lease")

    def is_over(self) -> bool:
        return not self._live()

    def _live(self) -> list[str]:
        """Name what has not come to an end, and waits for nothing that it may wait for."""
        kinds = {account.id: account.kind for account in self._people.accounts}
        now = self._world.stored()
        return [
            f"{id_} ({state}: {reason})"
            for id_, account, state, reason, due, parked in self._world.raw.execute(
                "SELECT delivery.id, delivery.account_id, state, reason, due_at, parked_until"
                " FROM delivery JOIN lane ON lane.id = lane_id"
            ).fetchall()
            if state not in ENDED
            and not (state == "unconfirmed" and (kinds[account] == "neither" or RESTORED in reason))
            and state != "draft"
            and not (state == "scheduled" and seconds_of(due) > now + SOON)
            and not (parked is not None and seconds_of(parked) > now + LONG)
        ]

    def at_the_end(self) -> None:
        """Compare the record with what became visible."""
        self._check_calls()
        self._check_records()
        self._check_slots()
        self._check_caps()
        self._check_gaps()
        if live := self._live():
            self.violate("P1", f"no end came to {', '.join(live)}")

    def _check_calls(self) -> None:
        seen: Counter[tuple[str, int]] = Counter()
        for wire in self._world.wires:
            promised = self._people.promised.get(wire.delivery)
            at = max(wire.stored, wire.called)  # a clock that stepped back makes nobody early
            if promised is not None and at < promised.due - 0.001:
                early = promised.due - at
                self.violate("P5", f"{wire.delivery} was called {early:.3f} s early")
            if wire.visible is not None:
                seen[wire.delivery, wire.part] += 1
        known = set[str]() if (lost := self._world.lost) is None else lost.early | lost.requested
        for (id_, part), count in seen.items():
            if count > 1 and id_ not in known:
                self.violate("P2", f"{id_} part {part} is visible {count} times")

    def _check_records(self) -> None:
        rows = {
            row[0]: row[1:]
            for row in self._world.raw.execute(
                "SELECT id, state, parts_sent, reason, content FROM delivery"
            ).fetchall()
        }
        lost = self._world.lost
        parts: dict[str, set[int]] = {}
        for wire in self._world.wires:
            if wire.visible is not None:
                parts.setdefault(wire.delivery, set()).add(wire.part)
        for id_ in self._people.promised.keys() - rows.keys() - (lost.ids if lost else set()):
            self.violate("P1", f"{id_} was accepted and is gone")
        for id_, (state, sent, reason, content) in rows.items():
            visible, known = parts.get(id_, set()), len(msgspec.json.decode(sent))
            whole = 1 + len(msgspec.json.decode(content).get("parts", ()))
            called = lost is not None and id_ in lost.called
            if state == "sent" and visible != set(range(whole)) and not called:
                self.violate("P3", f"{id_} is sent with {len(visible)} of {whole} parts")
            if called and state != "sent":
                continue  # it is missed, and somebody is to look; or somebody did without looking
            if state in ENDED - {"sent"} and len(visible) > known:
                self.violate("P3", f"{id_} is {state} ({reason}) and visible")
            promised = self._people.promised.get(id_)
            if promised is not None and promised.canceled and len(visible) > known:
                self.violate("P3", f"{id_} was canceled, acknowledged, and is visible")

    def _check_slots(self) -> None:
        for account, slot, count in self._world.raw.execute(
            "SELECT account_id, slot_at, count(*) FROM delivery WHERE slot_at IS NOT NULL"
            " AND state IN ('draft', 'scheduled', 'sending', 'unconfirmed')"
            " GROUP BY account_id, slot_at HAVING count(*) > 1"
        ).fetchall():
            message = f"the slot of {account} at {seconds_of(slot):.0f} s holds {count} posts"
            self.violate("P9", message)

    def _check_caps(self) -> None:
        for account in self._people.accounts:
            calls = self._calls(account.id)
            self._check_cap(account.id, calls, account.hour_cap, 3600.0)
            self._check_cap(account.id, calls, account.day_cap, 86_400.0)
        if self._people.shared is not None:
            self._check_cap(SHARED, self._calls(SHARED), self._people.shared.hour_cap, 3600.0)

    def _check_cap(self, whose: str, calls: list[Wire], cap: int | None, length: float) -> None:
        used: Counter[int] = Counter()
        for wire in calls if cap is not None else ():
            began = self._permit_of(wire)
            if wire.visible is not None and began is not None:
                used[int((began + NINE_FIFTY) // length)] += 1
        for period, count in used.items():
            if cap is not None and count > cap:
                message = f"{whose} sent {count} in {length:.0f} s number {period}"
                self.violate("P4", f"{message}, {cap} allowed")

    def _check_gaps(self) -> None:
        for account in self._people.accounts:
            self._check_gap(account.id, account.gap)
        if self._people.shared is not None:
            self._check_gap(SHARED, self._people.shared.gap)

    def _check_gap(self, whose: str, gap: int | None) -> None:
        for before, after in pairwise(self._calls(whose)):
            end = before.ended + before.stored - before.called
            if gap is not None and after.stored < end + gap - GRACE:
                if after.stored - after.called != before.stored - before.called:
                    continue  # the clock stepped between the two
                message = (
                    f"{after.delivery} came {after.stored - end:.0f} s after {before.delivery}"
                )
                self.violate("P4", f"{message}; {gap} s is the least")

    def _calls(self, whose: str) -> list[Wire]:
        """List the calls of an account or a lane, without those that a restore made the database forget."""
        lost = set[int]() if self._world.lost is None else self._world.lost.calls
        wires = enumerate(self._world.wires)
        return [wire for n, wire in wires if whose in (wire.account, wire.lane) and n not in lost]

    def _permit_of(self, wire: Wire) -> float | None:
        rows = self._world.raw.execute(
            "SELECT began_at FROM attempt WHERE delivery_id = ? AND part = ?",
            (wire.delivery, wire.part),
        ).fetchall()
        return max(
            (at for (began,) in rows if (at := seconds_of(began)) <= wire.stored), default=None
        )
