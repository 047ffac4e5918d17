"""Jobs in Redis or Valkey: many processes, one truth, as durable as the server is set to be.

Each method is one script (see lua/), atomic on the server, whose clock decides; all keys of a
queue lie in one slot, so a cluster works, and lanes, limits and unique keys are counted per queue.
A step that was cut off is repeated only if that does no harm; what a lost claim took comes back
when its lease runs out. Limit: what spans queues is one step per queue.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from cadenza.core.clock import Clock
from cadenza.engine.job import Filter, Gate, Job, Limit, Scope, State, Tally, WorkerInfo
from cadenza.engine.notes import cancel_note, crash_note
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Batch, Changed, Renewal, Rescue, TakeOver
from cadenza.engine.stores.redis.inspect_jobs import PAGE, fits, indexes
from cadenza.engine.stores.redis.pack import (
    QUEUES,
    instant,
    micros,
    name_id,
    pack,
    pack_limit,
    pack_settlement,
    read_claimed,
    read_gate,
    read_job,
    read_words,
    read_worker,
    text,
)
from cadenza.engine.stores.redis.schedules import Schedules
from cadenza.engine.stores.redis.standby import Standby

SILENT = timedelta(hours=1)  # a worker not heard of for so long is forgotten
LEASES = 100  # that one step of a rescue takes back, as rescue.lua says
PRUNED = 1000  # jobs that one step of a prune deletes
_CRASHES = 987_654_321  # stands for the number of crashes in a note until it is known
_STATES = (State.WAITING, State.RUNNING, State.DONE, State.FAILED, State.CANCELED)


class RedisStore(Schedules):
    """Jobs under a prefix of a Redis or Valkey server, or of a cluster."""

    def __init__(
        self,
        address: str,
        *,
        prefix: str | None = None,
        replicas: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(address, prefix=prefix, replicas=replicas, clock=clock)
        self._standing = Standby(
            self._notifier, self.prefix, self._queue_at, release=self.settle, clock=self._clock
        )

    async def close(self) -> None:
        """Let go of every connection."""
        await self._standing.close()
        await super().close()

    def _queue_at(self, number: int) -> str:
        """Name the queue that an id or a lease belongs to; one that we claim from is known."""
        return self._names[number % QUEUES]

    # Handing jobs out

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
        """Lease up to `limit` runnable jobs, or say when to ask again."""
        channel, stands = self._standing.word(queue, worker)
        found = await self._run(
            "claim",
            queue,
            limit,
            worker,
            micros(lease),
            int(alone),
            channel,
            stands,
            int(started),
        )
        if found[0] is None:
            _, due, crashed = found
            return Batch(0, [], None if due is None else instant(due), crashed=bool(crashed))
        number, *taken, crashed, drained, due = found
        jobs = read_claimed(queue, int(number), taken)
        next_due = None if due is None else instant(due)
        return Batch(int(number), jobs, next_due, crashed=bool(crashed), drained=bool(drained))

    def stand_by(
        self, worker: str, take: TakeOver, *, idle: Callable[[], bool], most: int
    ) -> Callable[[], None]:
        """Hand lone jobs to a worker as they come in; not in a cluster, where it hears of them."""
        if self._wire.cluster is not None:
            return lambda: None
        return self._standing.add(worker, take, idle=idle, most=most)

    async def next_due(self, queue: str) -> datetime | None:
        """Look at the heads of the queue's lines."""
        due = await self._read("next_due", self._prefix(queue), 0)
        return None if due is None else instant(due)

    async def start(self, jobs: Mapping[int, Sequence[int]]) -> None:
        """Mark jobs as started, a queue's in one step."""
        for queue, numbers in (await self._by_queue(list(jobs), int)).items():
            if queue is not None:
                begun = [[name_id(n), [name_id(id_) for id_ in jobs[n]]] for n in numbers]
                await self._run("start", queue, pack(begun), again=True)

    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        """Extend leases, and hear of cancels."""
        lost: set[int] = set()
        cancel: set[int] = set()
        for queue, numbers in (await self._by_queue(leases, int)).items():
            if queue is None:
                lost.update(numbers)
                continue
            names = map(name_id, numbers)
            gone, requested = await self._run(
                "renew", queue, worker, micros(lease), *names, again=True
            )
            lost.update(map(int, gone))
            cancel.update(map(int, requested))
        return Renewal(frozenset(lost), frozenset(cancel))

    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        """Write outcomes under their fences, a queue's in one step; return those refused."""
        leases = await self._by_queue(closed, int)
        groups = await self._by_queue(settlements, lambda settlement: settlement.id)
        refused = groups.pop(None, [])
        leases.pop(None, None)
        for queue in dict.fromkeys([*groups, *leases]):
            if queue is None:
                continue
            written = groups.get(queue, [])
            laid = pack([pack_settlement(one, queue=queue) for one in written])
            names = pack([name_id(lease) for lease in leases.get(queue, [])])
            places = await self._run("settle", queue, laid, names, again=True)
            missed = {place - 1 for place in places}
            refused += [one for place, one in enumerate(written) if place in missed]
            await self._park_elsewhere(
                queue, [one for place, one in enumerate(written) if place not in missed]
            )
            self._notifier.ring([queue])
        return refused

    async def _park_elsewhere(self, queue: str, settled: list[Settlement]) -> None:
        for park in [one.park for one in settled if one.park is not None]:
            if park.scope.queue != queue:
                await self.set_gate(park.scope, park=park.wait)

    async def rescue(self, *, crash_limit: int) -> Rescue:
        """Take back what expired leases hold, some leases at a time."""
        returned: list[int] = []
        buried: list[int] = []
        for queue in await self._read_queues():
            while True:
                now, expired = await self._read("now", self._prefix(queue), 0)
                if not expired:
                    break
                note = crash_note(_CRASHES, instant(now))
                _, back, dead = await self._run("rescue", queue, crash_limit, note, _CRASHES)
                returned += map(int, back)
                buried += map(int, dead)
                self._notifier.ring([queue])
        return Rescue(tuple(returned), tuple(buried))

    # Looking and changing

    async def get(self, ids: Sequence[int]) -> list[Job]:
        """Return the jobs of these ids that exist."""
        found: dict[int, Job] = {}
        for queue, numbers in (await self._by_queue(ids, int)).items():
            if queue is not None:
                found |= {job.id: job for job in await self._rows(queue, map(name_id, numbers))}
        return [found[id_] for id_ in ids if id_ in found]

    async def _rows(self, queue: str, names: Iterable[str]) -> list[Job]:
        names = list(names)
        jobs: list[Job] = []
        for first in range(0, len(names), PAGE):
            part = names[first : first + PAGE]
            rows = await self._read("rows", self._prefix(queue), 0, *part)
            jobs += [read_job(queue, row) for row in rows]
        return jobs

    async def find(self, wanted: Filter) -> list[Job]:
        """List jobs, newest first."""
        queues = [wanted.queue] if wanted.queue is not None else await self._read_queues()
        found: list[Job] = []
        for queue in queues:
            found += await self._find_in(queue, wanted)
        return sorted(found, key=lambda job: -job.id)[: wanted.limit]

    async def _find_in(self, queue: str, wanted: Filter) -> list[Job]:
        below = "+inf" if wanted.before is None else name_id(wanted.before)
        lists = [name for names in indexes(wanted) for name in ("+", *names)][1:]
        found: list[Job] = []
        while len(found) < wanted.limit:
            ids = await self._read("page", self._prefix(queue), 0, below, PAGE, *lists)
            if not ids:
                break
            rows = await self._rows(queue, [text(id_) for id_ in ids])
            found += [job for job in rows if fits(job, wanted)]
            below = text(ids[-1])
        return found[: wanted.limit]

    async def tally(self) -> list[Tally]:
        """Count by queue and state; nothing is walked."""
        found: list[Tally] = []
        for queue in await self._read_queues():
            counts = await self._read("tally", self._prefix(queue), 0)
            pairs = zip(_STATES, counts, strict=True)
            found += [Tally(queue, state, count) for state, count in pairs if count]
        return sorted(found, key=lambda tally: (tally.queue, tally.state))

    async def cancel(self, ids: Sequence[int], *, reason: str) -> list[Changed]:
        """Cancel waiting jobs, ask the workers of running ones to stop."""
        note = cancel_note(reason, await self.now())
        answers: dict[int, Changed] = {}
        for queue, numbers in (await self._by_queue(ids, int)).items():
            if queue is not None:
                words = await self._run("cancel", queue, note, *map(name_id, numbers))
                answers |= read_words(numbers, words)
        self._notifier.ring([""])
        return [answers.get(id_, "unknown") for id_ in ids]

    async def revive(self, ids: Sequence[int]) -> list[Changed]:
        """Let finished jobs wait again and waiting ones go now."""
        answers: dict[int, Changed] = {}
        for queue, numbers in (await self._by_queue(ids, int)).items():
            if queue is not None:
                words = await self._run("revive", queue, *map(name_id, numbers))
                answers |= read_words(numbers, words)
                self._notifier.ring([queue])
        return [answers.get(id_, "unknown") for id_ in ids]

    async def report(self, id: int, lease: int, progress: str) -> bool:
        """Write progress under the fence."""
        (queue,) = await self._by_queue([id], int)
        if queue is None:
            return False
        return bool(
            await self._run("report", queue, name_id(id), name_id(lease), progress, again=True)
        )

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
        change: dict[str, object] = {}
        if paused is not None:
            change["paused"] = paused
        if reason is not None:
            change["reason"] = reason
        if limit is not None:
            change["limit"] = pack_limit(limit)
        if park is not None:
            change["park"] = micros(park)
        laid = pack([scope.lane or False, change])
        packed = await self._run("gate", scope.queue, laid, again=True)
        self._notifier.ring([scope.queue])
        return read_gate(scope, packed)

    async def gates(self) -> list[Gate]:
        """Show every gate."""
        found: list[Gate] = []
        for queue in await self._read_queues():
            pairs = await self._read("gates", self._prefix(queue), 0)
            for field, packed in zip(pairs[::2], pairs[1::2], strict=True):
                name = text(field)
                lane = None if name == "=" else name[1:]
                found.append(read_gate(Scope(queue, lane), packed))
        return sorted(found, key=lambda gate: str(gate.scope))

    # Housekeeping

    async def prune(self, *, done: timedelta, failed: timedelta, limit: int) -> int:
        """Delete finished jobs that are old enough, some at a time, and marks of long ago."""
        went = 0
        for queue in await self._read_queues():
            while True:
                step = min(PRUNED, limit - went)
                count = await self._run(
                    "prune", queue, micros(done), micros(failed), step, again=True
                )
                went += count
                if count < step or went >= limit:
                    break
        return went

    async def beat(self, worker: WorkerInfo) -> None:
        """Write a worker's last word."""
        word = msgspec.json.encode(worker)
        await self._do(
            "beat", [self._key("workers")], 0, worker.name, word, micros(SILENT), again=True
        )

    async def workers(self) -> list[WorkerInfo]:
        """List workers by name."""
        found = await self._wire.ask("HVALS", self._key("workers"), again=True)
        return sorted(map(read_worker, found), key=lambda worker: worker.name)
