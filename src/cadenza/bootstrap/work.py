"""A product worker: the delivery worker, the engine's for product jobs, and the duties around them.

One process runs all of it until `stop` is set; then nothing new is claimed, what runs gets its grace,
the rest goes back. Any number of processes may run on one database. If one half breaks, the other is
stopped too and the error is raised: a supervisor starts the process again.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

from cadenza.bootstrap.after_outage import silence, space_all, space_what_is_late
from cadenza.bootstrap.jobs import QUEUE as JOB_QUEUE
from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.move_over_daily_max import DailyMaxDuty
from cadenza.bootstrap.watch_mailboxes import MailboxWatch
from cadenza.core.ids import name_worker
from cadenza.deliveries.source import QUEUE
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.worker import Worker
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import SqliteOperations


async def run_worker(
    runtime: Runtime,
    stop: asyncio.Event,
    *,
    name: str | None = None,
    started: asyncio.Event | None = None,
    hurry: asyncio.Event | None = None,
) -> None:
    """Work until `stop` is set, without a grace once `hurry` is; `started`: both halves claim."""
    name = name or name_worker()
    silent = await silence(runtime)
    await runtime.guard.enter(runtime.clock, stop)  # before anything is claimed
    await space_what_is_late(runtime, silent)
    runtime.guard.before_going_on = partial(space_all, runtime)
    await runtime.schedule_jobs()
    sender, jobs = make_delivery_worker(runtime, name), make_jobs(runtime, name)
    watch = MailboxWatch(runtime)
    jobs.duties.append(jobs.loop("waiting for mail", _patient(watch.run_once)))
    unwatch = _listen(runtime)
    parts = [asyncio.ensure_future(worker.run()) for worker in (sender, jobs)]
    told = asyncio.ensure_future(stop.wait())
    hurried = asyncio.ensure_future(_run_urgently(hurry or asyncio.Event(), sender, jobs))
    async with runtime.guard.kept(runtime.clock) as guarding:
        try:
            await asyncio.gather(sender.started.wait(), jobs.started.wait())
            if started is not None:
                started.set()
            await asyncio.wait([told, guarding, *parts], return_when=asyncio.FIRST_COMPLETED)
        finally:
            told.cancel()
            unwatch()
            await watch.close()
            sender.stop()
            jobs.stop()
            try:
                await asyncio.gather(*parts)
            finally:
                hurried.cancel()
                # A call outlives its run: what it came to is written before the process goes.
                await runtime.publisher.wait_for_calls()
            await _last_sign(runtime)


async def _run_urgently(told: asyncio.Event, *workers: Worker) -> None:
    await told.wait()
    for worker in workers:
        worker.hurry()


async def _last_sign(runtime: Runtime) -> None:
    """Let the witness know how far the database came; one that is away is met at the next start."""
    with contextlib.suppress(SqlError):
        await runtime.guard.run_once()


def make_delivery_worker(runtime: Runtime, name: str) -> Worker:
    """Make the worker that sends, with all duties that go with sending."""
    work = runtime.settings.worker
    sender = Worker(
        runtime.source,
        runtime.publisher,
        name=name,
        queues=[QUEUE],
        clock=runtime.clock,
        concurrency=work.concurrency,
        batch=work.concurrency,
        lease=timedelta(seconds=work.lease),
        poll=work.poll,
        grace=work.grace,
    )
    duties = {
        "refreshing tokens": runtime.refresher.run_once,
        "looking into doubts": runtime.reconciler.run_once,
        "telling": runtime.dispatcher.run_once,  # reminders as well
        "clearing full days": DailyMaxDuty(runtime.operations).run_once,
    }
    sender.duties += [sender.loop(name, _patient(run)) for name, run in duties.items()]
    return sender


def make_jobs(runtime: Runtime, name: str) -> Worker:
    """Make the worker that runs product jobs."""
    return runtime.engine.worker(
        [JOB_QUEUE],
        name=name,
        concurrency=max(2, runtime.settings.worker.concurrency // 4),
        grace=runtime.settings.worker.grace,
    )


def _patient(run_once: Callable[[], Awaitable[float]]) -> Callable[[], Awaitable[float]]:
    """Let a duty meet a database that is away as the engine's own duties do: a word, and again."""

    async def run() -> float:
        try:
            return await run_once()
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error

    return run


def _listen(runtime: Runtime) -> Callable[[], None]:
    """Wake the pipeline soon after another process wrote into the same SQLite file."""
    if not isinstance(runtime.operations, SqliteOperations):
        return lambda: None
    loop = asyncio.get_running_loop()

    def news() -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(runtime.source.nudge)

    return runtime.operations.database.watch(news)
