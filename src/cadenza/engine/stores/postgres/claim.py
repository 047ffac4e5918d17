"""Handing jobs out: one statement where nothing but plain jobs is in the way, else a short transaction.

The fast statement leases ready jobs only if no gate, no lane and no job that has just become due
comes first. When it brings nothing, one `survey` says why: then due jobs are made ready,
and lanes or a limited queue are claimed with their gates held, by the arithmetic of `gates.py`.
Gates are locked before their jobs are looked at, in a new statement: its snapshot is younger
than whatever the last holder wrote.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cadenza.engine.gates import admit, room
from cadenza.engine.job import Claimed, Gate
from cadenza.engine.store import Batch
from cadenza.engine.stores.postgres.rows import opening, read_claimed, read_gate
from cadenza.sql.postgres import Connection

LANES = 64  # looked at in one claim; those left out were served later and have their turn next


@dataclass(frozen=True, slots=True)
class Wish:
    """What a worker asks for."""

    queue: str
    limit: int
    worker: str
    lease: timedelta
    alone: bool = False


class Claims:
    """The claims of one process."""

    def __init__(self, sql: Mapping[str, str]) -> None:
        self._sql = sql
        self._lanes_next: set[str] = set()  # queues whose lanes get the larger half of an odd room

    async def claim(self, connection: Connection, wish: Wish) -> Batch:
        """Lease what may start, or say when to ask again."""
        batch = await self._claim(connection, wish)
        if batch.jobs:
            self._lanes_next ^= {wish.queue}
        return batch

    async def _claim(self, connection: Connection, wish: Wish) -> Batch:
        if not wish.alone:
            batch = await self._claim_plain(connection, wish, promoted=False)
            if batch.jobs:
                return batch
        seen = await self._survey(connection, wish.queue)
        promoted = seen["due"] and await connection.fetchval(self._sql["promote_due"], wish.queue)
        runnable = seen["next_due"] is not None and seen["next_due"] <= seen["now"]
        if promoted or runnable or seen["lanes"]:
            batch = await self._claim_after(connection, wish, seen)
            if batch.jobs:
                return batch
            seen = await self._survey(connection, wish.queue)
        return Batch(0, [], seen["next_due"], suspects=seen["suspects"])

    async def _survey(self, connection: Connection, queue: str) -> Any:
        return await connection.fetchrow(self._sql["survey"], queue)

    async def _claim_after(self, connection: Connection, wish: Wish, seen: Any) -> Batch:
        """Claim after a survey has shown that the fast way was not open."""
        if not (seen["gated"] or seen["lanes"] or wish.alone):
            batch = await self._claim_plain(connection, wish, promoted=True)
            if batch.jobs:
                return batch
        return await self._claim_gated(connection, wish)

    async def _claim_plain(self, connection: Connection, wish: Wish, *, promoted: bool) -> Batch:
        found = await connection.fetch(
            self._sql["claim_plain"], wish.queue, wish.limit, wish.worker, wish.lease, promoted
        )
        if not found:
            return Batch(0, [])
        jobs = read_claimed(found, wish.queue)
        return Batch(found[0][1], jobs, suspects=found[0]["suspects"])

    async def _claim_gated(self, connection: Connection, wish: Wish) -> Batch:
        async with connection.transaction():
            row = await connection.fetchrow(self._sql["lock_queue"], wish.queue)
            woken: Any = await connection.fetchrow(self._sql["wake_lanes"], wish.queue)
            hall = _Hall(connection, self._sql, wish, now=woken["now"], lease=woken["lease"])
            allowed = 1 if wish.alone else wish.limit
            if row is not None:
                allowed = room(read_gate(row), hall.now, allowed)
            if allowed and wish.alone:
                await hall.take_suspect()
            elif allowed:
                await hall.take(allowed, (allowed + (wish.queue in self._lanes_next)) // 2)
            if row is not None and row["counted"] and hall.taken:
                hall.write(read_gate(row), len(hall.taken))
            await hall.close()
            if not hall.taken:
                return Batch(0, [])
            suspects: Any = await connection.fetchval(
                self._sql["has_suspects"], wish.queue, hall.now
            )
            return Batch(hall.lease, hall.taken, suspects=suspects)


@dataclass(slots=True)
class _Hall:
    """One claim under way, with the gates that it holds."""

    connection: Connection
    sql: Mapping[str, str]
    wish: Wish
    now: datetime
    lease: int
    taken: list[Claimed] = field(default_factory=list)
    gates: dict[str, Gate] = field(default_factory=dict)  # of lanes held, in turn
    written: dict[str, tuple[Gate, bool]] = field(default_factory=dict)

    async def take(self, allowed: int, half: int) -> None:
        """Give lanes about half of the room first, then plain jobs, then lanes again."""
        found = await self.connection.fetch(
            self.sql["lock_lanes"], self.wish.queue, self.now, LANES
        )
        ordered = sorted(found, key=lambda row: row["turn"])
        self.gates = {row["lane"]: read_gate(row) for row in ordered}
        await self._take_lanes(half)
        await self._take_plain(allowed - len(self.taken))
        await self._take_lanes(allowed - len(self.taken))

    async def take_suspect(self) -> None:
        """Take one job that must run alone, from the first lane that has one, else a plain one."""
        for row in await self.connection.fetch(
            self.sql["find_suspects"], self.wish.queue, self.now
        ):
            lane = row["lane"]
            if lane:
                held = await self.connection.fetchrow(self.sql["lock_lane"], self.wish.queue, lane)
                if held is None or not room(read_gate(held), self.now, 1):
                    continue
                self.gates[lane] = read_gate(held)
            self._keep(
                await self.connection.fetch(
                    self.sql["take_suspect"], self.wish.queue, lane, self.lease
                )
            )
            if self.taken:
                return

    async def close(self) -> None:
        """Write the gates and the lease."""
        if self.written:
            changed = [
                (
                    lane,
                    gate.in_flight,
                    gate.next_start,
                    opening(gate, served=served),
                    served is not None,
                )
                for lane, (gate, started) in self.written.items()
                for served in [self.now if started and lane else None]
            ]
            columns = [list(column) for column in zip(*changed, strict=True)]
            await self.connection.execute(self.sql["write_gates"], self.wish.queue, *columns)
        if self.taken:
            ids = [job.id for job in self.taken]
            await self.connection.execute(
                self.sql["open_lease"],
                self.lease,
                self.wish.lease,
                self.wish.worker,
                self.wish.queue,
                ids,
            )

    def write(self, gate: Gate, started: int) -> None:
        """Note that a gate has to be written, after so many starts."""
        lane = gate.scope.lane or ""
        after = admit(gate, self.now, started) if started else gate
        already = self.written.get(lane, (gate, False))[1]
        self.written[lane] = (after, already or started > 0)
        if lane:
            self.gates[lane] = after

    async def _take_lanes(self, wanted: int) -> None:
        rooms = {lane: room(gate, self.now, wanted) for lane, gate in self.gates.items()}
        open_ = [lane for lane, count in rooms.items() if count > 0]
        if wanted <= 0 or not open_:
            return
        found = await self.connection.fetch(
            self.sql["take_lanes"],
            self.wish.queue,
            open_,
            [rooms[lane] for lane in open_],
            wanted,
            self.lease,
        )
        self._keep(found, open_)

    async def _take_plain(self, wanted: int) -> None:
        if wanted > 0:
            self._keep(
                await self.connection.fetch(
                    self.sql["take_plain"], self.wish.queue, wanted, self.lease
                )
            )

    def _keep(self, found: Sequence[Any], asked: Sequence[str] = ()) -> None:
        jobs = read_claimed(found, self.wish.queue)
        turn = {lane: place for place, lane in enumerate(asked)}
        jobs.sort(key=lambda job: turn.get(job.lane or "", 0))
        self.taken += jobs
        started = Counter(job.lane for job in jobs if job.lane is not None)
        for lane in {**dict.fromkeys(asked), **started}:
            self.write(self.gates[lane], started[lane])
