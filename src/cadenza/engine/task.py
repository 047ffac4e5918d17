"""A handler with a name: what can be enqueued.

`Task` keeps the handler, its signature and its options; `using` gives a copy with other options for
one enqueue. Nothing here touches a store: the engine does.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from cadenza.core.ids import Random
from cadenza.engine.hooks import Hooks
from cadenza.engine.job import Debounce, Enqueued, NewJob, Pace, Rule, Throttle, Unique
from cadenza.engine.options import Options
from cadenza.engine.payload import Signature, read_signature
from cadenza.engine.store import Store, UniformInserts


class TaskOwner(Protocol):
    """Whoever keeps the jobs of a task: the engine."""

    store: Store
    rng: Random
    hooks: Hooks


class Task:
    """A named handler, sync or async, with the options its jobs start from."""

    __slots__ = ("_engine", "_prepared", "handler", "is_async", "name", "options", "signature")

    def __init__(
        self, engine: TaskOwner, name: str, handler: Callable[..., Any], options: Options
    ) -> None:
        self._engine = engine
        self.name = name
        self.handler = handler
        self.options = options
        self.signature: Signature = read_signature(name, handler)
        self.is_async = inspect.iscoroutinefunction(handler)
        self._prepared = Prepared(engine, self, options)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the handler itself, as a plain function."""
        return self.handler(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Task {self.name}>"

    def using(self, **options: object) -> "Prepared":
        """Choose options for the jobs enqueued next: `task.using(delay=60).enqueue(...)`."""
        return Prepared(self._engine, self, self.options.with_(options))

    async def enqueue(self, **payload: object) -> Enqueued:
        """Add a job of this task."""
        return await self._prepared.enqueue(**payload)

    async def enqueue_many(self, payloads: Iterable[Mapping[str, object]]) -> list[Enqueued]:
        """Add many jobs of this task in one transaction."""
        return await self._prepared.enqueue_many(payloads)


class Prepared:
    """A task with the options of one enqueue."""

    __slots__ = ("_engine", "_overrides", "options", "task")

    def __init__(self, engine: TaskOwner, task: Task, options: Options) -> None:
        self._engine = engine
        self.task = task
        self.options = options
        self._overrides = options.overrides(task.options)

    async def enqueue(self, **payload: object) -> Enqueued:
        """Add one job."""
        (answer,) = await self._engine.store.insert([self.job(payload)])
        return answer

    async def enqueue_many(self, payloads: Iterable[Mapping[str, object]]) -> list[Enqueued]:
        """Add many jobs in one transaction; if one payload is refused, none is added."""
        store, given = self._engine.store, list(payloads)
        if not given or self.options.has_rule or not isinstance(store, UniformInserts):
            return await store.insert([self.job(payload) for payload in given])
        encode = self.task.signature.encode
        return await store.insert_uniform(
            self.job(given[0]), lambda: map(encode, given), len(given)
        )

    def job(self, payload: Mapping[str, object]) -> NewJob:
        """Make the job as a store takes it; everything is checked here."""
        carry = self._engine.hooks.carry
        return new_job(
            self.task.name,
            self.task.signature.encode(payload),
            self.options,
            overrides=self.options.overrides(self.task.options, carry())
            if carry
            else self._overrides,
            rng=self._engine.rng,
        )


def new_job(
    name: str, payload: str, options: Options, *, overrides: str | None, rng: Random
) -> NewJob:
    """Put a checked payload and checked options together."""
    return NewJob(
        task=name,
        payload=payload,
        queue=options.queue,
        priority=options.priority,
        run_at=options.run_at,
        delay=options.delay if options.run_at is None else None,
        lane=options.lane,
        limit=options.limit,
        rule=_rule(name, options, rng) if options.has_rule else None,
        tags=options.tags,
        options=overrides,
    )


def _rule(task: str, options: Options, rng: Random) -> Rule | None:
    """Return the rule with a key of this task's own, so that two tasks never collide on one."""
    match options.unique or options.throttle or options.debounce or options.pace:
        case Unique(key, while_):
            return Unique(f"{task}:{key}", while_)
        case Throttle(key, period):
            return Throttle(f"{task}:{key}", period)
        case Debounce(key, wait, max_wait):
            return Debounce(f"{task}:{key}", wait, max_wait)
        case Pace(key, step):  # a pace may span tasks: an account's messages of all kinds
            return Pace(key, step + options.jitter * rng.fraction())
        case None:
            return None
