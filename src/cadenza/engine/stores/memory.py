"""The reference store: the semantics of all stores, in plain Python, in one process.

Every method runs without awaiting, so each is atomic in its event loop; that is its transaction.
Waiting jobs lie in heaps whose entries may be stale (a row's `stamp` tells), so a claim costs what
it takes and a million deferred rows cost nothing. Nothing survives the process: tests, rehearsals,
and work that may be lost.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from cadenza.core.clock import Clock, SystemClock
from cadenza.engine.gates import admit, opens_at, room
from cadenza.engine.job import (
    Claimed,
    Debounce,
    Enqueued,
    Filter,
    Gate,
    Job,
    Limit,
    NewJob,
    Pace,
    Schedule,
    Scope,
    State,
    Tally,
    Throttle,
    Unique,
    While,
    WorkerInfo,
)
from cadenza.engine.notes import cancel_note, crash_note, firing_note
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Batch, Changed, Renewal, Rescue, Traits, Wake

SILENT = timedelta(hours=1)  # a worker not heard of for so long is forgotten


@dataclass(slots=True)
class _Row:
    """A live or finished job; `suspect` ones are claimed alone."""

    id: int
    new: NewJob
    state: State
    created_at: datetime
    run_at: datetime
    payload: str
    unique_key: str | None = None
    unique_while: While = While.LIVE
    stamp: int = 0  # rises when the row moves: older heap entries are then stale
    attempts: int = 0
    crashes: int = 0
    snoozes: int = 0
    lease: int = 0
    cancel_requested: bool = False
    progress: str | None = None
    output: str | None = None
    errors: tuple[str, ...] = ()
    finished_at: datetime | None = None


@dataclass(slots=True)
class _Lease:
    worker: str
    until: datetime
    jobs: set[int]


_Heap = list[tuple[int, datetime, int, int]]  # priority, run_at, id, stamp


@dataclass(slots=True)
class _Line:
    """Where jobs of one queue or lane stand: due ones, and those not yet due."""

    ready: _Heap = field(default_factory=list)
    deferred: list[tuple[datetime, int, int]] = field(default_factory=list)
    suspects: _Heap = field(default_factory=list)


class MemoryStore:
    """Jobs in this process's memory."""

    traits = Traits(
        name="memory", durable=False, notifies=True, joins_transactions=False, many_processes=False
    )

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._ids = itertools.count(1)
        self._lease_numbers = itertools.count(1)
        self._rows: dict[int, _Row] = {}
        self._lines: dict[Scope, _Line] = {}
        self._lanes: dict[str, dict[str, None]] = {}  # queue -> its lanes, in turn
        self._lanes_next: set[str] = set()  # queues whose lanes get the larger half of an odd room
        self._gates: dict[Scope, Gate] = {}
        self._leases: dict[int, _Lease] = {}
        self._unique: dict[str, int] = {}
        self._throttled: dict[str, tuple[datetime, int]] = {}
        self._paced: dict[str, datetime] = {}
        self._schedules: dict[str, Schedule] = {}
        self._workers: dict[str, WorkerInfo] = {}
        self._watchers: list[Wake] = []

    async def open(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing to let go of; what was stored stays until the process ends."""

    async def now(self) -> datetime:
        """Read the clock that was handed in."""
        return self._clock.now()

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` after each insert or change."""
        self._watchers.append(wake)
        return lambda: self._watchers.remove(wake)

    # Taking jobs in

    async def insert(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add jobs one after the other at one instant."""
        now = self._clock.now()
        return self._insert(jobs, now)

    def _insert(self, jobs: Sequence[NewJob], now: datetime) -> list[Enqueued]:
        answers = [self._insert_one(job, now) for job in jobs]
        self._wake({job.queue for job in jobs})
        return answers

    def _insert_one(self, job: NewJob, now: datetime) -> Enqueued:
        run_at = job.run_at or now + (job.delay or timedelta())
        match job.rule:
            case Unique(key):
                if (taken := self._unique.get(key)) is not None:
                    return Enqueued("existing", taken, self._rows[taken].run_at)
            case Throttle(key):
                until, first = self._throttled.get(key, (now, 0))
                if until > now:
                    return Enqueued("throttled", first, until=until)
            case Debounce(key, wait, max_wait):
                run_at = now + (wait if max_wait is None else min(wait, max_wait))
                if (taken := self._unique.get(key)) is not None:
                    return self._push_back(self._rows[taken], job, run_at)
            case Pace(key, step):
                run_at = max(self._paced.get(key, run_at), run_at)
                self._paced[key] = run_at + step
            case None:
                pass
        row = _Row(next(self._ids), job, State.WAITING, now, run_at, job.payload)
        self._rows[row.id] = row
        self._take_key(row, now)
        if job.lane is not None:
            self._open_lane(job)
        self._stand(row)
        return Enqueued("inserted", row.id, run_at)

    def _push_back(self, row: _Row, job: NewJob, run_at: datetime) -> Enqueued:
        """Let the newest of a debounced key win, but not wait for ever."""
        if row.state is State.RUNNING:  # a unique job of that key, in a worker's hands
            return Enqueued("existing", row.id, row.run_at)
        rule = job.rule
        if isinstance(rule, Debounce) and rule.max_wait is not None:
            run_at = min(run_at, row.created_at + rule.max_wait)
        row.payload, row.run_at = job.payload, run_at
        self._stand(row)
        return Enqueued("debounced", row.id, run_at)

    def _take_key(self, row: _Row, now: datetime) -> None:
        match row.new.rule:
            case Unique(key, while_):
                row.unique_key, row.unique_while = key, while_
                self._unique[key] = row.id
            case Debounce(key):
                row.unique_key, row.unique_while = key, While.QUEUED
                self._unique[key] = row.id
            case Throttle(key, period):
                self._throttled[key] = (now + period, row.id)
            case _:
                pass

    def _open_lane(self, job: NewJob) -> None:
        scope = Scope(job.queue, job.lane)
        self._lanes.setdefault(job.queue, {}).setdefault(job.lane or "", None)
        gate = self._gates.get(scope, Gate(scope))
        self._gates[scope] = replace(gate, limit=job.limit) if job.limit else gate

    def _line(self, row: _Row) -> _Line:
        return self._lines.setdefault(Scope(row.new.queue, row.new.lane), _Line())

    def _stand(self, row: _Row) -> None:
        """Put a waiting row where the next claim will find it."""
        row.stamp += 1
        heapq.heappush(self._line(row).deferred, (row.run_at, row.id, row.stamp))

    def _promote(self, line: _Line, now: datetime) -> None:
        while line.deferred and line.deferred[0][0] <= now:
            _, id_, stamp = heapq.heappop(line.deferred)
            row = self._rows.get(id_)
            if row is not None and row.stamp == stamp:
                heap = line.suspects if row.crashes else line.ready
                heapq.heappush(heap, (row.new.priority, row.run_at, id_, stamp))

    # Handing jobs out

    async def claim(
        self, queue: str, *, limit: int, worker: str, lease: timedelta, alone: bool = False
    ) -> Batch:
        """Lease runnable jobs, as many as the queue has room for."""
        now = self._clock.now()
        number = next(self._lease_numbers)
        whole = self._gates.get(Scope(queue), Gate(Scope(queue)))
        allowed = room(whole, now, 1 if alone else limit)
        taken = self._choose(queue, allowed, now, alone=alone) if allowed else []
        if not taken:
            return Batch(0, [], self._next_due(queue, now), suspects=self._has_suspects(queue, now))
        if Scope(queue) in self._gates:
            self._gates[Scope(queue)] = admit(whole, now, len(taken))
        self._leases[number] = _Lease(worker, now + lease, {row.id for row in taken})
        jobs = [self._hand_out(row, number) for row in taken]
        return Batch(number, jobs, suspects=self._has_suspects(queue, now))

    def _choose(self, queue: str, allowed: int, now: datetime, *, alone: bool) -> list[_Row]:
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
    ) -> list[_Row]:
        """Take from each lane in turn, and let those that were served go behind."""
        taken: list[_Row] = []
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

    def _take(self, scope: Scope, wanted: int, now: datetime, *, alone: bool) -> list[_Row]:
        line = self._lines.get(scope)
        if line is None or wanted <= 0:
            return []
        self._promote(line, now)
        heap = line.suspects if alone else line.ready
        taken: list[_Row] = []
        while heap and len(taken) < wanted:
            _, _, id_, stamp = heapq.heappop(heap)
            row = self._rows.get(id_)
            if row is not None and row.stamp == stamp:
                row.stamp += 1
                taken.append(row)
        return taken

    def _hand_out(self, row: _Row, lease: int) -> Claimed:
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

    def _has_suspects(self, queue: str, now: datetime) -> bool:
        """Say whether a claim alone would find one; behind a closed gate it would not."""
        if not room(self._gates.get(Scope(queue), Gate(Scope(queue))), now, 1):
            return False
        for scope in self._scopes(queue):
            line = self._lines.get(scope)
            if line is None or (scope in self._gates and not room(self._gates[scope], now, 1)):
                continue
            self._promote(line, now)
            if self._head(line.suspects) is not None:
                return True
        return False

    def _scopes(self, queue: str) -> list[Scope]:
        return [Scope(queue), *(Scope(queue, lane) for lane in self._lanes.get(queue, {}))]

    def _head(self, heap: _Heap) -> _Row | None:
        while heap:
            row = self._rows.get(heap[0][2])
            if row is not None and row.stamp == heap[0][3]:
                return row
            heapq.heappop(heap)
        return None

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

    def _first_due(self, line: _Line | None, now: datetime) -> datetime | None:
        if line is None:
            return None
        self._promote(line, now)
        if self._head(line.ready) or self._head(line.suspects):
            return now
        while line.deferred:
            run_at, id_, stamp = line.deferred[0]
            row = self._rows.get(id_)
            if row is not None and row.stamp == stamp:
                return run_at
            heapq.heappop(line.deferred)
        return None

    # Leases

    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        """Extend what this worker still holds; a lease that has run out may be renewed until it is rescued."""
        now = self._clock.now()
        lost: set[int] = set()
        cancel: set[int] = set()
        for number in leases:
            held = self._leases.get(number)
            if held is None or held.worker != worker:
                lost.add(number)
                continue
            held.until = now + lease
            cancel |= {id_ for id_ in held.jobs if self._running(id_, number, canceled=True)}
        return Renewal(frozenset(lost), frozenset(cancel))

    def _running(self, id_: int, lease: int, *, canceled: bool = False) -> _Row | None:
        row = self._rows.get(id_)
        if row is None or row.state is not State.RUNNING or row.lease != lease:
            return None
        return None if canceled and not row.cancel_requested else row

    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        """Write each outcome whose lease still holds."""
        now = self._clock.now()
        refused: list[Settlement] = []
        queues: set[str] = set()
        for settlement in settlements:
            row = self._running(settlement.id, settlement.lease)
            if row is None:
                refused.append(settlement)
                continue
            queues.add(row.new.queue)
            self._write(row, settlement, now)
        for number in closed:
            self._leases.pop(number, None)
        self._wake(queues)
        return refused

    def _write(self, row: _Row, settlement: Settlement, now: datetime) -> None:
        self._leave(row)
        verdict = settlement.verdict
        if settlement.error is not None:
            row.errors = (*row.errors, settlement.error)
        if verdict in (Verdict.DONE, Verdict.RETRY, Verdict.FAILED):
            row.attempts += 1
        waits_again = verdict in (Verdict.RETRY, Verdict.SNOOZE, Verdict.RELEASED)
        if waits_again and row.cancel_requested:
            verdict, waits_again = Verdict.CANCELED, False
        if waits_again:
            self._wait_again(row, settlement, now)
        else:
            row.output = settlement.output
            self._finish(row, State(verdict.value), now)
            if verdict is Verdict.DONE and not settlement.keep:
                del self._rows[row.id]
        if settlement.park is not None:  # last: a new gate counts what runs, and this row has left
            self._park(settlement.park.scope, now + settlement.park.wait)

    def _wait_again(self, row: _Row, settlement: Settlement, now: datetime) -> None:
        row.state = State.WAITING
        if settlement.verdict is Verdict.SNOOZE:
            row.snoozes += 1
        if settlement.verdict is not Verdict.RELEASED:
            row.run_at = settlement.at or now + (settlement.delay or timedelta())
        self._stand(row)

    def _finish(self, row: _Row, state: State, now: datetime) -> None:
        row.state, row.finished_at = state, now
        row.stamp += 1
        self._free_key(row)

    def _leave(self, row: _Row) -> None:
        """Take a running row off its lease and its gates."""
        held = self._leases.get(row.lease)
        if held is not None:
            held.jobs.discard(row.id)
        for scope in {Scope(row.new.queue), Scope(row.new.queue, row.new.lane)}:
            gate = self._gates.get(scope)
            if gate is not None:
                self._gates[scope] = replace(gate, in_flight=max(gate.in_flight - 1, 0))

    def _free_key(self, row: _Row) -> None:
        if row.unique_key is not None and self._unique.get(row.unique_key) == row.id:
            del self._unique[row.unique_key]

    async def rescue(self, *, crash_limit: int) -> Rescue:
        """Take back the jobs of leases that ran out."""
        now = self._clock.now()
        returned: list[int] = []
        buried: list[int] = []
        for number in [n for n, held in self._leases.items() if held.until <= now]:
            for id_ in sorted(self._leases[number].jobs):
                row = self._running(id_, number)
                if row is not None:
                    (buried if self._take_back(row, crash_limit, now) else returned).append(id_)
            del self._leases[number]
        self._wake({self._rows[id_].new.queue for id_ in returned})
        return Rescue(tuple(returned), tuple(buried))

    def _take_back(self, row: _Row, crash_limit: int, now: datetime) -> bool:
        """Count a crash; say whether it was one too many."""
        self._leave(row)
        row.crashes += 1
        if row.cancel_requested:
            self._finish(row, State.CANCELED, now)
            return False
        if row.crashes >= crash_limit:
            row.errors = (*row.errors, crash_note(row.crashes, now))
            self._finish(row, State.FAILED, now)
            return True
        row.state = State.WAITING
        self._stand(row)
        return False

    # Looking and changing

    async def get(self, ids: Sequence[int]) -> list[Job]:
        """Show these jobs."""
        return [self._show(self._rows[id_]) for id_ in ids if id_ in self._rows]

    async def find(self, wanted: Filter) -> list[Job]:
        """List by walking all; the reference is not in a hurry."""
        rows = sorted(self._rows.values(), key=lambda row: -row.id)
        found = (row for row in rows if _fits(row, wanted))
        return [self._show(row) for row in itertools.islice(found, wanted.limit)]

    def _show(self, row: _Row) -> Job:
        held = self._leases.get(row.lease) if row.state is State.RUNNING else None
        return Job(
            id=row.id,
            queue=row.new.queue,
            task=row.new.task,
            state=row.state,
            payload=row.payload,
            priority=row.new.priority,
            created_at=row.created_at,
            run_at=row.run_at,
            attempts=row.attempts,
            crashes=row.crashes,
            snoozes=row.snoozes,
            lane=row.new.lane,
            unique_key=row.unique_key,
            tags=row.new.tags,
            options=row.new.options,
            schedule=row.new.schedule,
            lease=row.lease,
            lease_until=held.until if held else None,
            worker=held.worker if held else None,
            cancel_requested=row.cancel_requested,
            progress=row.progress,
            output=row.output,
            errors=row.errors,
            finished_at=row.finished_at,
        )

    async def tally(self) -> list[Tally]:
        """Count by queue and state."""
        counts: dict[tuple[str, State], int] = {}
        for row in self._rows.values():
            key = (row.new.queue, row.state)
            counts[key] = counts.get(key, 0) + 1
        return [Tally(queue, state, count) for (queue, state), count in sorted(counts.items())]

    async def cancel(self, ids: Sequence[int], *, reason: str) -> list[Changed]:
        """Cancel waiting jobs at once, ask for running ones."""
        now = self._clock.now()
        return [self._cancel_one(id_, reason, now) for id_ in ids]

    def _cancel_one(self, id_: int, reason: str, now: datetime) -> Changed:
        row = self._rows.get(id_)
        if row is None:
            return "unknown"
        if row.state is State.RUNNING:
            if not row.cancel_requested:
                row.cancel_requested = True
                row.errors = (*row.errors, cancel_note(reason, now))
            self._wake({""})
            return "requested"
        if row.state is not State.WAITING:
            return "unchanged"
        row.errors = (*row.errors, cancel_note(reason, now))
        self._finish(row, State.CANCELED, now)
        return "changed"

    async def revive(self, ids: Sequence[int]) -> list[Changed]:
        """Let finished jobs wait anew and waiting ones go now."""
        now = self._clock.now()
        answers: list[Changed] = [self._revive_one(id_, now) for id_ in ids]
        self._wake({self._rows[id_].new.queue for id_ in ids if id_ in self._rows})
        return answers

    def _revive_one(self, id_: int, now: datetime) -> Changed:
        row = self._rows.get(id_)
        if row is None:
            return "unknown"
        if row.state is State.RUNNING:
            return "unchanged"
        if row.state.finished:
            row.state, row.finished_at, row.output = State.WAITING, None, None
            row.attempts = row.crashes = row.snoozes = 0
            row.cancel_requested, row.unique_key = False, None
        row.run_at = min(row.run_at, now)
        self._stand(row)
        return "changed"

    async def report(self, id: int, lease: int, progress: str) -> bool:
        """Write progress under the fence."""
        row = self._running(id, lease)
        if row is None:
            return False
        row.progress = progress
        return True

    # Gates

    async def set_gate(
        self,
        scope: Scope,
        *,
        paused: bool | None = None,
        reason: str | None = None,
        limit: Limit | None = None,
        park: timedelta | None = None,
    ) -> Gate:
        """Change what is given, and wake the queue."""
        now = self._clock.now()
        gate = self._gates.get(scope, Gate(scope, in_flight=self._count_running(scope)))
        if paused is not None:
            gate = replace(gate, paused=paused, reason=reason if paused else None)
        if limit is not None:
            gate = replace(gate, limit=limit)
        self._gates[scope] = gate
        if scope.lane is not None:
            self._lanes.setdefault(scope.queue, {}).setdefault(scope.lane, None)
        if park is not None:
            self._park(scope, now + park if park > timedelta() else None)
        self._wake({scope.queue})
        return self._gates[scope]

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

    async def gates(self) -> list[Gate]:
        """Show every gate."""
        return sorted(self._gates.values(), key=lambda gate: str(gate.scope))

    # Schedules

    async def put_schedule(self, schedule: Schedule) -> Schedule:
        """Replace by name, keep what is known of the past, and the place in an unchanged recurrence."""
        old = self._schedules.get(schedule.name)
        if old is not None:
            schedule = replace(
                schedule, revision=old.revision + 1, last_at=old.last_at, last_note=old.last_note
            )
            if schedule.recurrence == old.recurrence:
                schedule = replace(schedule, next_at=old.next_at)
        self._schedules[schedule.name] = schedule
        self._wake({""})
        return schedule

    async def drop_schedule(self, name: str) -> bool:
        """Forget a schedule; jobs that it made stay."""
        return self._schedules.pop(name, None) is not None

    async def schedules(self, *, due_only: bool = False) -> list[Schedule]:
        """List schedules by name."""
        now = self._clock.now()
        found = sorted(self._schedules.values(), key=lambda schedule: schedule.name)
        if not due_only:
            return found
        return [s for s in found if not s.paused and s.next_at is not None and s.next_at <= now]

    async def fire(
        self,
        name: str,
        *,
        revision: int,
        expected: datetime,
        next_at: datetime | None,
        note: str | None,
        jobs: Sequence[NewJob],
    ) -> list[Enqueued] | None:
        """Move on and insert, unless somebody else did."""
        schedule = self._schedules.get(name)
        if schedule is None or (schedule.revision, schedule.next_at) != (revision, expected):
            return None
        answers = self._insert(jobs, self._clock.now())
        self._schedules[name] = replace(
            schedule, next_at=next_at, last_at=expected, last_note=firing_note(note, answers)
        )
        return answers

    # Housekeeping

    async def prune(self, *, done: timedelta, failed: timedelta, limit: int) -> int:
        """Forget what finished long ago."""
        now = self._clock.now()
        old = [
            row.id
            for row in self._rows.values()
            if row.finished_at is not None
            and now - row.finished_at > (failed if row.state is State.FAILED else done)
        ][:limit]
        for id_ in old:
            del self._rows[id_]
        self._throttled = {key: mark for key, mark in self._throttled.items() if mark[0] > now}
        self._paced = {key: free for key, free in self._paced.items() if free > now}
        return len(old)

    async def beat(self, worker: WorkerInfo) -> None:
        """Remember a worker's last word."""
        now = self._clock.now()
        self._workers[worker.name] = replace(worker, seen_at=now)
        for name in [w.name for w in self._workers.values() if now - w.seen_at > SILENT]:
            del self._workers[name]

    async def workers(self) -> list[WorkerInfo]:
        """List workers by name."""
        return sorted(self._workers.values(), key=lambda worker: worker.name)

    async def vital_signs(self) -> dict[str, str]:
        """Say the one thing that matters here."""
        return {"store": "memory", "durability": "none: everything is gone when the process ends"}

    def _wake(self, queues: Iterable[str]) -> None:
        for queue in queues:
            for wake in tuple(self._watchers):
                wake(queue)


def _fits(row: _Row, wanted: Filter) -> bool:
    return (
        (wanted.queue is None or row.new.queue == wanted.queue)
        and (wanted.task is None or row.new.task == wanted.task)
        and (not wanted.states or row.state in wanted.states)
        and (wanted.tag is None or wanted.tag in row.new.tags)
        and (wanted.lane is None or row.new.lane == wanted.lane)
        and (wanted.schedule is None or row.new.schedule == wanted.schedule)
        and (wanted.before is None or row.id < wanted.before)
    )
