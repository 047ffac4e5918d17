"""What every part of the reference store stands on: its tables, lines, keys and gates.

Waiting jobs lie in heaps whose entries may be stale (a row's `stamp` tells), so a claim costs what
it takes and a million deferred rows cost nothing.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from cadenza.core.clock import Clock, SystemClock
from cadenza.engine.job import Gate, Schedule, Scope, State, WorkerInfo
from cadenza.engine.store import ISOLATED, Wake
from cadenza.engine.stores.memory.rows import Heap, Lease, Row, WaitingLine


class Tables:
    """The tables, and the moves that several parts make."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._ids = itertools.count(1)
        self._lease_numbers = itertools.count(1)
        self._rows: dict[int, Row] = {}
        self._lines: dict[Scope, WaitingLine] = {}
        self._lanes: dict[str, dict[str, None]] = {}  # queue -> its lanes, in turn
        self._lanes_next: set[str] = set()  # queues whose lanes get the larger half of an odd room
        self._gates: dict[Scope, Gate] = {}
        self._leases: dict[int, Lease] = {}
        self._unique: dict[str, int] = {}
        self._throttled: dict[str, tuple[datetime, int]] = {}
        self._paced: dict[str, datetime] = {}
        self._schedules: dict[str, Schedule] = {}
        self._workers: dict[str, WorkerInfo] = {}
        self._watchers: list[Wake] = []

    async def now(self) -> datetime:
        """Read the clock that was handed in."""
        return self._clock.now()

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` after each insert or change."""
        self._watchers.append(wake)
        return lambda: self._watchers.remove(wake)

    def _wake(self, queues: Iterable[str]) -> None:
        for queue in queues:
            for wake in tuple(self._watchers):
                wake(queue)

    # Lines

    def _line(self, row: Row) -> WaitingLine:
        return self._lines.setdefault(Scope(row.new.queue, row.new.lane), WaitingLine())

    def _stand(self, row: Row) -> None:
        """Put a waiting row where the next claim will find it."""
        row.stamp += 1
        heapq.heappush(self._line(row).deferred, (row.run_at, row.id, row.stamp))

    def _promote(self, line: WaitingLine, now: datetime) -> None:
        while line.deferred and line.deferred[0][0] <= now:
            _, id_, stamp = heapq.heappop(line.deferred)
            row = self._rows.get(id_)
            if row is not None and row.stamp == stamp:
                heap = line.crashed if row.crashes >= ISOLATED else line.ready
                heapq.heappush(heap, (row.new.priority, row.run_at, id_, stamp))

    def _head(self, heap: Heap) -> Row | None:
        while heap:
            row = self._rows.get(heap[0][2])
            if row is not None and row.stamp == heap[0][3]:
                return row
            heapq.heappop(heap)
        return None

    def _scopes(self, queue: str) -> list[Scope]:
        return [Scope(queue), *(Scope(queue, lane) for lane in self._lanes.get(queue, {}))]

    # Rows that run or end

    def _running(self, id_: int, lease: int, *, canceled: bool = False) -> Row | None:
        row = self._rows.get(id_)
        if row is None or row.state is not State.RUNNING or row.lease != lease:
            return None
        return None if canceled and not row.cancel_requested else row

    def _finish(self, row: Row, state: State, now: datetime) -> None:
        row.state, row.finished_at = state, now
        row.stamp += 1
        self._free_key(row)

    def _leave(self, row: Row) -> None:
        """Take a running row off its lease and its gates."""
        held = self._leases.get(row.lease)
        if held is not None:
            held.jobs.discard(row.id)
        for scope in {Scope(row.new.queue), Scope(row.new.queue, row.new.lane)}:
            gate = self._gates.get(scope)
            if gate is not None:
                self._gates[scope] = replace(gate, in_flight=max(gate.in_flight - 1, 0))

    def _free_key(self, row: Row) -> None:
        if row.unique_key is not None and self._unique.get(row.unique_key) == row.id:
            del self._unique[row.unique_key]

    # Gates

    def _count_running(self, scope: Scope) -> int:
        """A gate that is set while its jobs run must know them."""
        return sum(
            row.state is State.RUNNING
            and scope in (Scope(row.new.queue), Scope(row.new.queue, row.new.lane))
            for row in self._rows.values()
        )

    def _park(self, scope: Scope, until: datetime | None) -> None:
        gate = self._gates.get(scope, Gate(scope, in_flight=self._count_running(scope)))
        if until is not None and gate.parked_until is not None:
            until = max(until, gate.parked_until)
        self._gates[scope] = replace(gate, parked_until=until)
