"""Handing jobs out: one statement where nothing but plain jobs is in the way, else a short transaction.

The fast statement leases ready jobs only if no gate, no lane and no job that has just become due
comes first. When it brings nothing, one `survey` says why: then due jobs are made ready,
and lanes or a limited queue are claimed with their gates held, by the arithmetic of `gates.py`.
Gates are locked before their jobs are looked at, in a new statement: its snapshot is younger
than whatever the last holder wrote.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from cadenza.engine.gates import admit, room
from cadenza.engine.job import Claimed, Gate
from cadenza.engine.store import Batch
from cadenza.engine.stores.postgres.read_positions import START, ReadPosition, ReadPositions
from cadenza.engine.stores.postgres.rows import (
    in_order,
    opening,
    read_claimed,
    read_gate,
    read_plain,
)
from cadenza.sql.postgres import Connection

LOOK_AGAIN = timedelta(seconds=1)
LEASES_KNOWN = 10_000
LARGE = 100  # jobs: a full batch of so many is the mark of a backlog
LOOK_AROUND = 0.1  # seconds: so long under a backlog only plain jobs are looked at
LANES = 64  # looked at in one claim; those left out were served later and have their turn next


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What a worker asks for."""

    queue: str
    limit: int
    worker: str
    lease: timedelta
    alone: bool = False
    started: bool = True


class Claims:
    """The claims of one process."""

    def __init__(self, sql: Mapping[str, str], places: ReadPositions) -> None:
        self._sql = sql
        self._places = places
        self._lanes_next: set[str] = set()  # queues whose lanes get the larger half of an odd room
        self._gated: set[str] = set()  # queues where gates were in the way of the last jobs
        self._plain: dict[int, str] = {}  # leases over plain jobs alone, and their queues
        self._backlog: dict[
            str, tuple[float, bool]
        ] = {}  # large batches came: looked when, crashed

    def queue_of(self, leases: Iterable[int]) -> str | None:
        """Name the queue whose plain jobs these leases hold; None if it is not one such queue."""
        queues = {self._plain.get(lease) for lease in leases}
        return queues.pop() if len(queues) == 1 else None

    def close(self, leases: Iterable[int]) -> None:
        """Forget leases of which nothing is left in hand."""
        for lease in leases:
            self._plain.pop(lease, None)

    async def claim(self, connection: Connection, request: ClaimRequest) -> Batch:
        """Lease what may start, or say when to ask again."""
        batch = Batch(0, [])
        if not request.alone:
            batch = await self._claim_as_before(connection, request)
        if not request.alone and not batch.jobs:
            batch = await self._claim_plain(connection, request, self._places.begin(request.queue))
        if not batch.jobs:
            batch = await self._claim_other(connection, request)
        if batch.jobs:
            self._lanes_next ^= {request.queue}
        return batch

    async def _claim_other(self, connection: Connection, request: ClaimRequest) -> Batch:
        """Find out why the fast way brought nothing, and go the other ways."""
        place = self._places.look_again(request.queue)
        seen = await self.survey(connection, request.queue, place)
        promoted = seen["due"] and await connection.fetchval(
            self._sql["promote_due"], request.queue
        )
        runnable = seen["next_due"] is not None and seen["next_due"] <= seen["now"]
        if promoted or runnable or seen["lanes"]:
            batch = await self._claim_after(connection, request, seen)
            if batch.jobs:
                return batch
            seen = await self.survey(connection, request.queue, place)
        next_due = seen["next_due"]
        if place is not START:  # something may stand before the place: come back and look
            soon = seen["now"] + LOOK_AGAIN
            next_due = soon if next_due is None else min(soon, next_due)
        return Batch(0, [], next_due, crashed=seen["crashed"])

    async def survey(self, connection: Connection, queue: str, place: ReadPosition = START) -> Any:
        """Look at a queue without locking anything."""
        seen: Any = await connection.fetchrow(self._sql["survey"], queue, *place.columns)
        self._places.note_read(queue, place, seen["took"], looked=True)
        if place is START and not seen["ready"] and not seen["due"]:
            self._places.note_drained(queue, seen["now"])
        return seen

    async def _claim_after(self, connection: Connection, request: ClaimRequest, seen: Any) -> Batch:
        """Claim after a survey has shown that the fast way was not open."""
        if not (seen["gated"] or seen["lanes"] or request.alone):
            batch = await self._claim_plain(connection, request, START, promoted=True)
            if batch.jobs:
                return batch
        return await self._claim_gated(connection, request)

    async def _claim_as_before(self, connection: Connection, request: ClaimRequest) -> Batch:
        """Go at once the way that led to jobs the last time, if that was not the usual one."""
        if request.queue not in self._gated:
            return await self._claim_backlog(connection, request)
        await connection.fetchval(self._sql["promote_due"], request.queue)
        return await self._claim_gated(connection, request)

    async def _claim_backlog(self, connection: Connection, request: ClaimRequest) -> Batch:
        """Go on where one large batch after the other came; look at the rest now and then."""
        looked, crashed = self._backlog.get(request.queue, (float("-inf"), False))
        if request.limit < LARGE or self._places.watch() - looked >= LOOK_AROUND:
            return Batch(0, [])
        place = self._places.begin(request.queue)
        found = await self._fetch(connection, "claim_backlog", request, place, place.columns[:3])
        if len(found) < request.limit:
            del self._backlog[request.queue]
        return self._hand_out(found, request, crashed=crashed)

    async def _claim_plain(
        self,
        connection: Connection,
        request: ClaimRequest,
        place: ReadPosition,
        *,
        promoted: bool = False,
    ) -> Batch:
        columns = (*place.columns, promoted)
        found = await self._fetch(connection, "claim_plain", request, place, columns)
        crashed = bool(found) and found[0]["crashed"]
        if len(found) == request.limit >= LARGE:
            self._backlog[request.queue] = (self._places.watch(), crashed)
        return self._hand_out(found, request, crashed=crashed)

    async def _fetch(
        self,
        connection: Connection,
        name: str,
        request: ClaimRequest,
        place: ReadPosition,
        columns: Sequence[Any],
    ) -> list[Any]:
        """Lease by one statement from a place on, and note how dear that was."""
        begun = self._places.watch()
        found = await connection.fetch(
            self._sql[name],
            request.queue,
            request.limit,
            request.worker,
            request.lease,
            *columns,
            request.started,
        )
        if found:  # else something else may have been in the way, and nothing was read
            self._places.note_read(request.queue, place, self._places.watch() - begun)
        return found

    def _hand_out(self, found: list[Any], request: ClaimRequest, *, crashed: bool) -> Batch:
        if not found:
            return Batch(0, [])
        ordered = in_order(found)
        last = ordered[-1]
        lease: int = last[1]
        full = len(found) == request.limit
        self._places.note_taken(request.queue, ReadPosition(last[4], last[5], last[0]), full=full)
        self._plain[lease] = request.queue
        if len(self._plain) > LEASES_KNOWN:  # leases that were lost are never closed
            del self._plain[next(iter(self._plain))]
        return Batch(lease, read_plain(ordered, request.queue), crashed=crashed)

    async def _claim_gated(self, connection: Connection, request: ClaimRequest) -> Batch:
        async with connection.transaction():
            row = await connection.fetchrow(self._sql["lock_queue"], request.queue)
            woken: Any = await connection.fetchrow(self._sql["wake_lanes"], request.queue)
            hall = _GatedClaim(
                connection, self._sql, request, now=woken["now"], lease=woken["lease"]
            )
            allowed = 1 if request.alone else request.limit
            if row is not None:
                allowed = room(read_gate(row), hall.now, allowed)
            if allowed and request.alone:
                await hall.take_crashed()
            elif allowed:
                await hall.take(allowed, (allowed + (request.queue in self._lanes_next)) // 2)
            if row is not None and row["counted"] and hall.taken:
                hall.write(read_gate(row), len(hall.taken))
            await hall.close()
            if hall.taken and (hall.gates or (row is not None and row["counted"])):
                self._gated.add(request.queue)
            else:
                self._gated.discard(request.queue)
            if not hall.taken:
                return Batch(0, [])
            crashed: Any = await connection.fetchval(
                self._sql["has_crashed"], request.queue, hall.now
            )
            return Batch(hall.lease, hall.taken, crashed=crashed)


@dataclass(slots=True)
class _GatedClaim:
    """One claim under way, with the gates that it holds."""

    connection: Connection
    sql: Mapping[str, str]
    request: ClaimRequest
    now: datetime
    lease: int
    taken: list[Claimed] = field(default_factory=list)
    gates: dict[str, Gate] = field(default_factory=dict)  # of lanes held, in turn
    written: dict[str, tuple[Gate, bool]] = field(default_factory=dict)

    async def take(self, allowed: int, half: int) -> None:
        """Give lanes about half of the room first, then plain jobs, then lanes again."""
        found = await self.connection.fetch(
            self.sql["lock_lanes"], self.request.queue, self.now, LANES
        )
        ordered = sorted(found, key=lambda row: row["turn"])
        self.gates = {row["lane"]: read_gate(row) for row in ordered}
        await self._take_lanes(half)
        await self._take_plain(allowed - len(self.taken))
        await self._take_lanes(allowed - len(self.taken))

    async def take_crashed(self) -> None:
        """Take one job that must run alone, from the first lane that has one, else a plain one."""
        for row in await self.connection.fetch(
            self.sql["find_crashed"], self.request.queue, self.now
        ):
            lane = row["lane"]
            if lane:
                held = await self.connection.fetchrow(
                    self.sql["lock_lane"], self.request.queue, lane
                )
                if held is None or not room(read_gate(held), self.now, 1):
                    continue
                self.gates[lane] = read_gate(held)
            self._keep(
                await self.connection.fetch(
                    self.sql["take_crashed"], self.request.queue, lane, self.lease
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
            await self.connection.execute(self.sql["write_gates"], self.request.queue, *columns)
        if self.taken:
            ids = [job.id for job in self.taken]
            await self.connection.execute(
                self.sql["open_lease"],
                self.lease,
                self.request.lease,
                self.request.worker,
                self.request.queue,
                ids,
                self.request.started,
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
            self.request.queue,
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
                    self.sql["take_plain"], self.request.queue, wanted, self.lease
                )
            )

    def _keep(self, found: Sequence[Any], requested: Sequence[str] = ()) -> None:
        jobs = read_claimed(in_order(found), self.request.queue)
        turn = {lane: place for place, lane in enumerate(requested)}
        jobs.sort(key=lambda job: turn.get(job.lane or "", 0))
        self.taken += jobs
        started = Counter(job.lane for job in jobs if job.lane is not None)
        for lane in {**dict.fromkeys(requested), **started}:
            self.write(self.gates[lane], started[lane])
