"""Puts a worker together for an engine's jobs: executor, heartbeat with a word to people, duties."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from cadenza.core.clock import Clock
from cadenza.core.ids import Random, name_worker
from cadenza.engine.executor import Executor
from cadenza.engine.hooks import Hooks
from cadenza.engine.job import WorkerInfo
from cadenza.engine.loops.prune import Pruner
from cadenza.engine.loops.recur import Recurrer
from cadenza.engine.meters import Meters
from cadenza.engine.store import Store
from cadenza.engine.task import Task
from cadenza.engine.threads import Threads
from cadenza.engine.worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """What a worker needs to know of the engine it works for."""

    store: Store
    tasks: Mapping[str, Task]
    clock: Clock
    rng: Random
    hooks: Hooks
    keep_done: timedelta
    keep_failed: timedelta


def build_worker(
    engine: WorkerOptions,
    queues: Sequence[str],
    *,
    name: str | None,
    concurrency: int,
    schedules: bool,
    **settings: Any,
) -> Worker:
    """Make a worker that runs this engine's tasks."""
    meters = Meters()
    threads = Threads(concurrency)
    worker = Worker(
        engine.store,
        make_executor(engine, threads),
        name=name or name_worker(),
        queues=queues,
        clock=engine.clock,
        concurrency=concurrency,
        hooks=engine.hooks,
        meters=meters,
        threads=threads,
        **settings,
    )
    worker.heartbeat.announce = _announcer(engine, worker)
    if schedules:
        recurrer = Recurrer(engine.store, meters=meters)
        worker.duties.append(worker.loop("schedules", recurrer.run_once))
    pruner = Pruner(engine.store, done=engine.keep_done, failed=engine.keep_failed)
    worker.duties.append(worker.loop("retention", pruner.run_once))
    return worker


def make_executor(engine: WorkerOptions, threads: Threads) -> Executor:
    """Make what runs this engine's tasks."""
    return Executor(
        engine.tasks,
        clock=engine.clock,
        rng=engine.rng,
        hooks=engine.hooks,
        report=engine.store.report,
        threads=threads,
        keep_done=engine.keep_done > timedelta(),
    )


def _announcer(engine: WorkerOptions, worker: Worker) -> Callable[[float], Awaitable[None]]:
    started = engine.clock.now()

    async def announce(skew: float) -> None:
        await engine.store.beat(
            WorkerInfo(
                name=worker.name,
                queues=() if worker.is_stopping else worker.queues,
                tasks=tuple(sorted(engine.tasks)),
                concurrency=worker.concurrency,
                started_at=started,
                seen_at=engine.clock.now(),
                running=worker.inventory.busy,
                version=version("cadenza"),
                skew=skew,
            )
        )

    return announce
