"""Handing jobs out: lanes in turn, plain jobs beside them, crashed jobs alone; and when to ask again."""

import heapq
from datetime import datetime, timedelta

from cadenza.engine.gates import admit, opens_at, room
from cadenza.engine.job import Claimed, Gate, Scope, State, While
from cadenza.engine.store import Batch
from cadenza.engine.stores.memory.rows import Lease, Row, WaitingLine
from cadenza.engine.stores.memory.tables import Tables


class Claims(Tables):
    """The way to a worker."""

    async def claim(
        self,
        queue: str,
        *,
        limit: int,
        worker: str,
        lease: timedelta,
        alone: bool = False,
        started: bool = True,
    ) -> Batch:
        """Lease runnable jobs, as many as the queue has room for."""
        now = self._clock.now()
        number = next(self._lease_numbers)
        whole = self._gates.get(Scope(queue), Gate(Scope(queue)))
        allowed = room(whole, now, 1 if alone else limit)
        taken = self._choose(queue, allowed, now, alone=alone) if allowed else []
        if not taken:
            return Batch(0, [], self._next_due(queue, now), crashed=self._has_crashed(queue, now))
        if Scope(queue) in self._gates:
            self._gates[Scope(queue)] = admit(whole, now, len(taken))
        ids = {row.id for row in taken}
        self._leases[number] = Lease(worker, now + lease, ids, set(ids) if started else set())
        jobs = [self._hand_out(row, number) for row in taken]
        return Batch(number, jobs, crashed=self._has_crashed(queue, now))

    def _choose(self, queue: str, allowed: int, now: datetime, *, alone: bool) -> list[Row]:
        """Take for lanes half of the room first, then plain jobs, then lanes again.

        Of an odd room lanes get the larger half every other time, so one place starves neither.
        """
        lanes = [Scope(queue, lane) for lane in self._lanes.get(queue, {})]
        half = (allowed + (queue in self._lanes_next)) // 2
        taken = self._take_lanes(lanes, half, now, alone=alone)
        taken += self._take(Scope(queue), allowed - len(taken), now, alone=alone)
        taken += self._take_lanes(lanes, allowed - len(taken), now, alone=alone)
        if taken:
            self._lanes_next ^= {queue}
        return taken

    def _take_lanes(
        self, lanes: list[Scope], wanted: int, now: datetime, *, alone: bool
    ) -> list[Row]:
        """Take from each lane in turn, and let those that were served go behind."""
        taken: list[Row] = []
        for scope in lanes:
            if len(taken) >= wanted:
                break
            gate = self._gates[scope]
            rows = self._take(scope, room(gate, now, wanted - len(taken)), now, alone=alone)
            if rows:
                self._gates[scope] = admit(gate, now, len(rows))
                turn = self._lanes[scope.queue]
                turn[scope.lane or ""] = turn.pop(scope.lane or "")
            taken += rows
        return taken

    def _take(self, scope: Scope, wanted: int, now: datetime, *, alone: bool) -> list[Row]:
        line = self._lines.get(scope)
        if line is None or wanted <= 0:
            return []
        self._promote(line, now)
        heap = line.crashed if alone else line.ready
        taken: list[Row] = []
        while heap and len(taken) < wanted:
            _, _, id_, stamp = heapq.heappop(heap)
            row = self._rows.get(id_)
            if row is not None and row.stamp == stamp:
                row.stamp += 1
                taken.append(row)
        return taken

    def _hand_out(self, row: Row, lease: int) -> Claimed:
        row.state, row.lease = State.RUNNING, lease
        if row.unique_key is not None and row.unique_while is While.QUEUED:
            self._free_key(row)
        return Claimed(
            id=row.id,
            lease=lease,
            task=row.new.task,
            payload=row.payload,
            queue=row.new.queue,
            attempts=row.attempts,
            crashes=row.crashes,
            run_at=row.run_at,
            lane=row.new.lane,
            options=row.new.options,
            schedule=row.new.schedule,
            snoozes=row.snoozes,
            progress=row.progress,
        )

    def _has_crashed(self, queue: str, now: datetime) -> bool:
        """Say whether a claim alone would find one; behind a closed gate it would not."""
        if not room(self._gates.get(Scope(queue), Gate(Scope(queue))), now, 1):
            return False
        for scope in self._scopes(queue):
            line = self._lines.get(scope)
            if line is None or (scope in self._gates and not room(self._gates[scope], now, 1)):
                continue
            self._promote(line, now)
            if self._head(line.crashed) is not None:
                return True
        return False

    async def next_due(self, queue: str) -> datetime | None:
        """Look at the heads of the queue's lines."""
        return self._next_due(queue, self._clock.now())

    def _next_due(self, queue: str, now: datetime) -> datetime | None:
        whole = self._gates.get(Scope(queue), Gate(Scope(queue)))
        opening = opens_at(whole, now)
        if opening is None:
            return None
        found: list[datetime] = []
        for scope in self._scopes(queue):
            gate = self._gates.get(scope, Gate(scope))
            opens = opens_at(gate, now)
            head = self._first_due(self._lines.get(scope), now)
            if opens is not None and head is not None:
                found.append(max(opens, head, opening))
        return min(found, default=None)

    def _first_due(self, line: WaitingLine | None, now: datetime) -> datetime | None:
        if line is None:
            return None
        self._promote(line, now)
        if self._head(line.ready) or self._head(line.crashed):
            return now
        while line.deferred:
            run_at, id_, stamp = line.deferred[0]
            row = self._rows.get(id_)
            if row is not None and row.stamp == stamp:
                return run_at
            heapq.heappop(line.deferred)
        return None
