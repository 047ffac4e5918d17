"""The engine as an application holds it: declare tasks, enqueue jobs, look, change, schedule.

One `Engine` per store. It checks everything at the door, so that bad input stores nothing; the
store keeps, the worker (`worker.py`) runs. Limits and pauses live in the store and act on all
workers from their commit on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Self, overload

import msgspec

from cadenza.core.clock import Clock, SystemClock
from cadenza.core.ids import Random, SystemRandom
from cadenza.core.recurrence import Overlap, Preview, next_occurrence, preview
from cadenza.engine.build_worker import WorkerOptions, build_worker
from cadenza.engine.encode import to_json
from cadenza.engine.errors import EngineError, InvalidJob, MissingTrait, UnknownName, unknown
from cadenza.engine.hooks import Hooks
from cadenza.engine.job import (
    Enqueued,
    Filter,
    Gate,
    Job,
    Limit,
    NewJob,
    Schedule,
    Scope,
    State,
    Tally,
    WorkerInfo,
)
from cadenza.engine.options import Options, check_limit, check_name, duration, instant
from cadenza.engine.recurring import (
    MOMENT,
    dump_recurrence,
    load_recurrence,
    make_recurrence,
    parse_missed,
    succeed,
)
from cadenza.engine.store import Changed, Store, check_traits
from cadenza.engine.stores.open import open_store
from cadenza.engine.task import Prepared, Task, new_job
from cadenza.engine.why import Why, explain
from cadenza.engine.worker import Worker


class Engine:
    """Tasks, and the store that keeps their jobs.

    `store` is a `Store` or an address: `memory://`, `sqlite:///jobs.sqlite3`, `postgresql://…`.
    `needs` names traits (see `Traits`) that the application rests on: a store without one of them
    is refused when it is opened.
    """

    def __init__(
        self,
        store: Store | str,
        *,
        clock: Clock | None = None,
        rng: Random | None = None,
        hooks: Hooks | None = None,
        keep_done: timedelta | float = timedelta(days=7),
        keep_failed: timedelta | float = timedelta(days=90),
        needs: Iterable[str] = (),
    ) -> None:
        self.clock = clock or SystemClock()
        self.rng = rng or SystemRandom()
        self.hooks = hooks or Hooks()
        self.store: Store = open_store(store, clock=self.clock) if isinstance(store, str) else store
        self.keep_done = duration("keep_done", keep_done, most=timedelta.max)
        self.keep_failed = duration("keep_failed", keep_failed, most=timedelta.max)
        self.needs = frozenset(needs)
        self.tasks: dict[str, Task] = {}

    async def open(self) -> Self:
        """Connect to the store and bring its schema up to date."""
        await self.store.open()
        try:
            check_traits(self.store.traits, self.needs)  # some are known only by the open store
        except EngineError:
            await self.store.close()
            raise
        return self

    async def close(self) -> None:
        """Let go of the store."""
        await self.store.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Declaring

    @overload
    def task(self, handler: Callable[..., Any], /) -> Task: ...

    @overload
    def task(
        self, /, *, name: str | None = None, **options: object
    ) -> Callable[[Callable[..., Any]], Task]: ...

    def task(
        self,
        handler: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        **options: object,
    ) -> Task | Callable[[Callable[..., Any]], Task]:
        """Declare a handler, sync or async: `@engine.task` or `@engine.task(queue="mail", retry=5)`."""
        if handler is not None:
            return self.declare(handler, name=name, **options)
        return lambda function: self.declare(function, name=name, **options)

    def declare(
        self, handler: Callable[..., Any], *, name: str | None = None, **options: object
    ) -> Task:
        """Declare a handler without decorating it."""
        name = str(name or getattr(handler, "__name__", ""))
        check_name("task name", name)
        if name in self.tasks:
            message = f"task {name!r} is declared already, by {self.tasks[name].handler!r}: give one another name"
            raise InvalidJob(message)
        task = Task(self, name, handler, Options().with_(options))
        self._refuse_split_pace(task)
        self.tasks[name] = task
        return task

    def _refuse_split_pace(self, task: Task) -> None:
        """A pace may span tasks; where the store counts keys by queue, they must share the queue."""
        mine = task.options
        if self.store.traits.keys_span_queues or mine.pace is None:
            return
        for other in self.tasks.values():
            theirs = other.options
            if theirs.pace and theirs.pace.key == mine.pace.key and theirs.queue != mine.queue:
                message = (
                    f"tasks {other.name!r} and {task.name!r} share the pace {mine.pace.key!r}, but the "
                    f"{self.store.traits.name} store counts keys in each queue apart: give both one queue"
                )
                raise MissingTrait(message)

    # Enqueueing

    async def enqueue(
        self, task: Task | str, payload: Mapping[str, object] | None = None, **options: object
    ) -> Enqueued:
        """Add one job; the answer says what became of it."""
        (answer,) = await self.store.insert([self.job(task, payload, **options)])
        return answer

    async def enqueue_many(
        self, task: Task | str, payloads: Iterable[Mapping[str, object]], **options: object
    ) -> list[Enqueued]:
        """Add many jobs of one task in one transaction; all or none."""
        known = self.tasks.get(task) if isinstance(task, str) else task
        if known is not None:
            return await known.using(**options).enqueue_many(payloads)
        return await self.store.insert(self.jobs(task, payloads, **options))

    def job(
        self, task: Task | str, payload: Mapping[str, object] | None = None, **options: object
    ) -> NewJob:
        """Make a job without adding it: for `Store.insert` of several kinds at once, or on your own connection."""
        (job,) = self.jobs(task, [payload or {}], **options)
        return job

    def jobs(
        self, task: Task | str, payloads: Iterable[Mapping[str, object]], **options: object
    ) -> list[NewJob]:
        """Make jobs without adding them. A task that only its name is known of is not checked here."""
        known = self.tasks.get(task) if isinstance(task, str) else task
        if known is not None:
            prepared = Prepared(self, known, known.options.with_(options))
            return [prepared.job(payload) for payload in payloads]
        chosen = Options().with_(options)
        carry = self.hooks.carry
        name = str(task)
        check_name("task name", name)
        return [
            new_job(
                name,
                to_json(payload, what=f"the payload of task {name!r}"),
                chosen,
                overrides=chosen.overrides(Options(), carry() if carry else None),
                rng=self.rng,
            )
            for payload in payloads
        ]

    # Running

    def worker(
        self,
        queues: Sequence[str] = ("default",),
        *,
        name: str | None = None,
        concurrency: int = 20,
        schedules: bool = True,
        **settings: Any,
    ) -> Worker:
        """Make a worker for these queues: `await engine.worker().run()`.

        Settings: `batch`, `lease`, `poll`, `grace`, `crash_limit` (see `Worker`).
        """
        return build_worker(
            WorkerOptions(
                store=self.store,
                tasks=self.tasks,
                clock=self.clock,
                rng=self.rng,
                hooks=self.hooks,
                keep_done=self.keep_done,
                keep_failed=self.keep_failed,
            ),
            queues,
            name=name,
            concurrency=concurrency,
            schedules=schedules,
            **settings,
        )

    # Looking

    async def get(self, id: int) -> Job:
        """Show one job, live or finished."""
        found = await self.store.get([id])
        if not found:
            message = f"no job {id} is known; finished jobs are deleted after a time"
            raise UnknownName(message)
        return found[0]

    async def find(self, **wanted: Any) -> list[Job]:
        """List jobs, newest first: by queue, task, states, tag, lane, schedule; `before` pages on."""
        return await self.store.find(Filter(**wanted))

    async def output(self, id: int) -> object:
        """Return what a done job returned."""
        text = (await self.get(id)).output
        return None if text is None else msgspec.json.decode(text)

    async def why(self, id: int) -> Why:
        """Say why a job does not run now, when it may, and who can change that."""
        return explain(
            await self.get(id),
            gates=await self.store.gates(),
            workers=await self.store.workers(),
            now=await self.store.now(),
        )

    async def tally(self) -> list[Tally]:
        """Count jobs by queue and state."""
        return await self.store.tally()

    async def gates(self) -> list[Gate]:
        """List the queues and lanes that are or were paused, parked or limited."""
        return await self.store.gates()

    async def workers(self) -> list[WorkerInfo]:
        """List the workers that were heard of lately."""
        return await self.store.workers()

    # Changing

    async def cancel(self, *ids: int, reason: str = "canceled by request") -> list[Changed]:
        """Cancel waiting jobs; ask the workers of running ones to stop."""
        return await self.store.cancel(ids, reason=reason)

    async def retry(self, *ids: int) -> list[Changed]:
        """Run finished jobs again, waiting ones now."""
        return await self.store.revive(ids)

    async def redrive(
        self, *, queue: str | None = None, task: str | None = None, limit: int = 1000
    ) -> list[int]:
        """Bring failed jobs back from the dead letter, newest first; return their ids."""
        failed = await self.store.find(
            Filter(queue=queue, task=task, states=(State.FAILED,), limit=limit)
        )
        ids = [job.id for job in failed]
        if ids:
            await self.store.revive(ids)
        return ids

    async def pause(
        self, queue: str, lane: str | None = None, *, reason: str = "paused by request"
    ) -> Gate:
        """Claim nothing more of a queue or lane, on all machines, over restarts, until `resume`."""
        return await self.store.set_gate(_scope(queue, lane), paused=True, reason=reason)

    async def resume(self, queue: str, lane: str | None = None) -> Gate:
        """Open a paused or parked queue or lane."""
        return await self.store.set_gate(_scope(queue, lane), paused=False, park=timedelta())

    async def limit(self, queue: str, lane: str | None = None, *, limit: Limit) -> Gate:
        """Limit a queue or lane: how many at once, how many per time."""
        check_limit(limit)
        return await self.store.set_gate(_scope(queue, lane), limit=limit)

    async def park(self, queue: str, lane: str | None = None, *, wait: timedelta | float) -> Gate:
        """Let nothing of a queue or lane start for a while."""
        return await self.store.set_gate(_scope(queue, lane), park=duration("wait", wait))

    # Schedules

    async def schedule(
        self,
        name: str,
        task: Task | str,
        payload: Mapping[str, object] | None = None,
        *,
        cron: str | None = None,
        dialect: str = "standard",
        every: timedelta | float | None = None,
        zone: str = "UTC",
        gap: str = "shift",
        fold: str = "first",
        missed: str = "once",
        overlap: str = "skip",
        anchor: datetime | None = None,
        repeat_until: datetime | None = None,
        jitter: timedelta | float = 0,
        paused: bool | None = None,
        after: datetime | None = None,
        **options: object,
    ) -> Schedule:
        """Let a task recur; the same name replaces the schedule.

        A program may say it at each start: unless the times changed, a run that was missed while
        it was down is still made up, and without `paused` a paused one stays so. A new one begins
        with the first occurrence later than `after`, or than now. `dialect="mongodb-cron"` reads
        cron as that Node package does.
        """
        check_name("schedule name", name)
        recurrence = make_recurrence(
            cron=cron,
            every=every,
            zone=zone,
            gap=gap,
            fold=fold,
            anchor=anchor,
            repeat_until=repeat_until,
            jitter=jitter,
            dialect=dialect,
        )
        parse_missed(missed)
        if overlap not in set(Overlap):
            message = unknown("overlap policy", overlap, set(Overlap))
            raise InvalidJob(message)
        job = self.job(task, payload, **options)
        if job.tags or job.limit is not None:
            message = (
                "a schedule's jobs take no tags, and no limit: limit the lane with Engine.limit"
            )
            raise InvalidJob(message)
        if job.rule is not None or job.run_at is not None or job.delay is not None:
            message = "a schedule's jobs take no run_at, delay, unique, throttle, debounce or pace: the schedule decides"
            raise InvalidJob(message)
        now = await self.store.now()
        since = now if after is None else max(now, instant("after", after))
        wanted = Schedule(
            name=name,
            task=job.task,
            recurrence=dump_recurrence(recurrence),
            payload=job.payload,
            queue=job.queue,
            priority=job.priority,
            lane=job.lane,
            options=job.options,
            overlap=overlap,
            missed=missed,
            paused=paused or False,
            next_at=next_occurrence(recurrence, since),
        )
        known = {schedule.name: schedule for schedule in await self.store.schedules()}
        old = known.get(name)
        if old is not None and succeed(old, wanted, paused=paused) == old:
            return old
        return await self.store.put_schedule(wanted, keep_paused=paused is None)

    async def unschedule(self, name: str) -> None:
        """Forget a schedule; jobs that it made stay."""
        if not await self.store.drop_schedule(name):
            raise UnknownName(
                unknown("schedule", name, [s.name for s in await self.store.schedules()])
            )

    async def schedules(self) -> list[Schedule]:
        """List schedules by name."""
        return await self.store.schedules()

    async def pause_schedule(self, name: str) -> Schedule:
        """Fire nothing of a schedule until it is resumed."""
        return await self._set_schedule(name, paused=True)

    async def resume_schedule(self, name: str) -> Schedule:
        """Let a schedule fire again; what it missed is decided by its `missed` policy."""
        return await self._set_schedule(name, paused=False)

    async def preview(self, name: str, n: int = 5) -> tuple[Preview, ...]:
        """Show a schedule's next occurrences, marked where clocks change."""
        schedule = await self._schedule(name)
        since = await self.store.now()
        if schedule.next_at is not None:  # it may begin later than its recurrence would
            since = max(since, schedule.next_at - MOMENT)
        return preview(load_recurrence(schedule.recurrence), since, n)

    async def _set_schedule(self, name: str, *, paused: bool) -> Schedule:
        changed = await self.store.set_schedule(name, paused=paused)
        if changed is None:
            known = [schedule.name for schedule in await self.store.schedules()]
            raise UnknownName(unknown("schedule", name, known))
        return changed

    async def _schedule(self, name: str) -> Schedule:
        found = {schedule.name: schedule for schedule in await self.store.schedules()}
        if name not in found:
            raise UnknownName(unknown("schedule", name, found))
        return found[name]


def _scope(queue: str, lane: str | None) -> Scope:
    check_name("queue", queue)
    if lane is not None:
        check_name("lane", lane)
    return Scope(queue, lane)
