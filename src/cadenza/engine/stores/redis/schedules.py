"""Schedules: each lies with its queue, so that firing it and inserting its jobs is one step.

`<prefix>:plans` says which queue a schedule is in. Limit: a schedule that moves to another queue is
written there first and struck off the old one afterwards; only the directory's one counts, and a
pause that was set on the old one in between follows. One that is declared while it is forgotten stands.
The note of what became of an occurrence is written right after the firing, not within it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from cadenza.engine.errors import MissingTrait
from cadenza.engine.job import Enqueued, NewJob, Schedule
from cadenza.engine.notes import firing_note
from cadenza.engine.stores.redis.connection import RedisConnection
from cadenza.engine.stores.redis.pack import (
    QUEUES,
    instant,
    pack,
    pack_job,
    pack_schedule,
    pack_uniform,
    pairs,
    read_answer,
    read_schedule,
    stamp,
    text,
    unpack,
)


class Schedules(RedisConnection):
    """The recurring part of the store, and inserting, which it shares."""

    async def insert(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add jobs in one step; in a cluster, in one step for each queue."""
        if not jobs:
            return []
        queues = dict.fromkeys(job.queue for job in jobs)
        if self._wire.cluster is None or len(queues) == 1:
            answers = await self._insert(jobs, home=jobs[0].queue) or []
        else:
            answers = await self._insert_by_queue(jobs, queues)
        self._notifier.ring(queues)
        return answers

    async def insert_uniform(
        self, template: NewJob, payloads: Callable[[], Iterator[str]], count: int
    ) -> list[Enqueued]:
        """Add many jobs that differ in their payload alone, in one step."""
        if template.lane or template.tags or template.schedule or template.rule:
            return await self.insert([replace(template, payload=each) for each in payloads()])
        head, bodies = pack_uniform(template, payloads())
        found = await self._run("insert_alike", template.queue, head, *bodies)
        self._notifier.ring([template.queue])
        first, run_at = int(found[0]), instant(found[1])
        number = self._numbers[template.queue]
        return [
            Enqueued("inserted", sequence * QUEUES + number, run_at)
            for sequence in range(first, first + count)
        ]

    async def _insert_by_queue(
        self, jobs: Sequence[NewJob], queues: Iterable[str]
    ) -> list[Enqueued]:
        answers: dict[int, Enqueued] = {}
        for queue in queues:
            places = [place for place, job in enumerate(jobs) if job.queue == queue]
            found = await self._insert([jobs[place] for place in places], home=queue) or []
            answers |= zip(places, found, strict=True)
        return [answers[place] for place in range(len(jobs))]

    async def _insert(
        self, jobs: Sequence[NewJob], *, home: str, plan: list[Any] | None = None
    ) -> list[Enqueued] | None:
        """Add jobs in one step; with a plan only if it still stands so, else None."""
        groups: dict[str, list[int]] = {}
        for place, job in enumerate(jobs):
            groups.setdefault(job.queue, []).append(place)
        for queue in {home, *groups} - self._numbers.keys():
            await self._register(queue)
        laid: list[Any] = []
        bodies: list[bytes] = []
        for queue, places in groups.items():
            packed = [pack_job(jobs[place]) for place in places]
            bodies += [body for _, body in packed]
            laid.append([self._prefix(queue), self._numbers[queue], [head for head, _ in packed]])
        keys = [self._prefix(queue) for queue in dict.fromkeys([home, *groups])]
        said = pack([laid, plan or False])
        answer = await self._do("insert", keys, self._numbers[home], said, *bodies)
        if answer is None:
            return None
        order = [place for places in groups.values() for place in places]
        found = dict(zip(order, map(read_answer, unpack(answer)), strict=True))
        return [found[place] for place in range(len(jobs))]

    async def put_schedule(self, schedule: Schedule, *, keep_paused: bool = False) -> Schedule:
        """Insert or replace by name."""
        old_queue = await self._queue_of(schedule.name)
        past: Any = b""
        if old_queue is not None and old_queue != schedule.queue:
            past = await self._plan_in(old_queue, schedule.name)
        laid = pack_schedule(schedule)
        packed = await self._run("put_plan", schedule.queue, laid, past or b"", int(keep_paused))
        put = read_schedule(packed)
        await self._enter(schedule.name, schedule.queue)
        if old_queue is not None and old_queue != schedule.queue:
            left = await self._run("drop_plan", old_queue, schedule.name, again=True)
            if keep_paused and left and read_schedule(left).paused != put.paused:
                put = await self._follow(put)
        self._notifier.ring([""])
        return put

    async def set_schedule(self, name: str, *, paused: bool) -> Schedule | None:
        """Pause or open one, if it is there; one that moves meanwhile is sought where it went."""
        sought: str | None = None
        while (queue := await self._queue_of(name)) not in (None, sought):
            packed = await self._run("set_plan", queue, name, int(paused), -1)
            if packed is not None:
                self._notifier.ring([""])
                return read_schedule(packed)
            sought = queue
        return None

    async def _follow(self, put: Schedule) -> Schedule:
        """Carry a pause over that was set where the schedule lay, unless it was changed since."""
        turned = not put.paused
        packed = await self._run("set_plan", put.queue, put.name, int(turned), put.revision)
        return put if packed is None else read_schedule(packed)

    async def drop_schedule(self, name: str) -> bool:
        """Forget a schedule, wherever it moves meanwhile; jobs that it made stay."""
        while (queue := await self._queue_of(name)) is not None:
            dropped = await self._run("drop_plan", queue, name, again=True)
            struck = await self._do("strike_plan", [self._key("plans")], 0, name, queue, again=True)
            if struck and await self._plan_in(queue, name):  # declared again between the two
                await self._enter(name, queue)
            if dropped or struck:
                return dropped is not None
        return False

    async def schedules(self, *, due_only: bool = False) -> list[Schedule]:
        """List schedules by name."""
        found = await self._wire.ask("HGETALL", self._key("plans"), again=True)
        queues = {text(name): text(queue) for name, queue in pairs(found)}
        schedules: list[Schedule] = []
        for queue in sorted(set(queues.values())):
            rows = await self._read("plans", self._prefix(queue), 0, int(due_only))
            read = map(read_schedule, filter(None, rows))
            schedules += [one for one in read if queues.get(one.name) == queue == one.queue]
        return sorted(schedules, key=lambda schedule: schedule.name)

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
        """Move a schedule on and insert its jobs, in one step."""
        queue = await self._queue_of(name)
        if queue is None:
            return None
        if self._wire.cluster and any(job.queue != queue for job in jobs):
            raise MissingTrait(
                f"in a Redis cluster the schedule {name!r} can fire into its own queue alone"
            )
        following = False if next_at is None else stamp(next_at)
        plan = [name, revision, stamp(expected), following]
        answers = await self._insert(jobs, home=queue, plan=plan)
        if answers is None:
            return None
        words = firing_note(note, answers)
        await self._run("note_plan", queue, name, stamp(expected), words, again=True)
        self._notifier.ring({job.queue for job in jobs})
        return answers

    async def _queue_of(self, name: str) -> str | None:
        found = await self._wire.ask("HGET", self._key("plans"), name, again=True)
        return None if found is None else text(found)

    async def _plan_in(self, queue: str, name: str) -> Any:
        return await self._wire.ask("HGET", f"{self._prefix(queue)}plans", name, again=True)

    async def _enter(self, name: str, queue: str) -> None:
        await self._wire.ask("HSET", self._key("plans"), name, queue, again=True, write=True)
