"""A product worker: the road's worker, the engine's for product jobs, and the duties around them.

One process runs all of it until `stop` is set; then nothing new is claimed, what runs gets its grace,
the rest goes back. Any number of processes may run on one database. If one half breaks, the other is
stopped too and the error is raised: a supervisor starts the process anew.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

from cadenza.bootstrap.after_outage import silence, space_all, space_what_is_late
from cadenza.bootstrap.jobs import QUEUE as JOB_QUEUE
from cadenza.bootstrap.model import House
from cadenza.bootstrap.relieve_days import DayRelief
from cadenza.core.ids import name_worker
from cadenza.deliveries.source import QUEUE
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.worker import Worker
from cadenza.sql.errors import SqlError
from cadenza.sql.operate import SqliteOperations


async def run_worker(
    house: House,
    stop: asyncio.Event,
    *,
    name: str | None = None,
    started: asyncio.Event | None = None,
    hurry: asyncio.Event | None = None,
) -> None:
    """Work until `stop` is set, without a grace once `hurry` is; `started`: both halves claim."""
    name = name or name_worker()
    silent = await silence(house)
    await house.guard.enter(house.clock, stop)  # before anything is claimed
    await space_what_is_late(house, silent)
    house.guard.before_going_on = partial(space_all, house)
    await house.schedule_jobs()
    road, jobs = make_road(house, name), make_jobs(house, name)
    unwatch = _listen(house)
    parts = [asyncio.ensure_future(worker.run()) for worker in (road, jobs)]
    told = asyncio.ensure_future(stop.wait())
    hurried = asyncio.ensure_future(_hurry(hurry or asyncio.Event(), road, jobs))
    async with house.guard.kept(house.clock) as guarding:
        try:
            await asyncio.gather(road.started.wait(), jobs.started.wait())
            if started is not None:
                started.set()
            await asyncio.wait([told, guarding, *parts], return_when=asyncio.FIRST_COMPLETED)
        finally:
            told.cancel()
            unwatch()
            road.stop()
            jobs.stop()
            try:
                await asyncio.gather(*parts)
            finally:
                hurried.cancel()
                # A call outlives its run: what it came to is written before the process goes.
                await house.publisher.wait_for_calls()
            await _last_sign(house)


async def _hurry(told: asyncio.Event, *workers: Worker) -> None:
    await told.wait()
    for worker in workers:
        worker.hurry()


async def _last_sign(house: House) -> None:
    """Let the witness know how far the database came; one that is away is met at the next start."""
    with contextlib.suppress(SqlError):
        await house.guard.run_once()


def make_road(house: House, name: str) -> Worker:
    """Make the worker that sends, with all duties that go with sending."""
    work = house.settings.worker
    road = Worker(
        house.source,
        house.publisher,
        name=name,
        queues=[QUEUE],
        clock=house.clock,
        concurrency=work.concurrency,
        batch=work.concurrency,
        lease=timedelta(seconds=work.lease),
        poll=work.poll,
        grace=work.grace,
    )
    duties = {
        "refreshing tokens": house.refresher.run_once,
        "looking into doubts": house.reconciler.run_once,
        "telling": house.dispatcher.run_once,  # reminders as well
        "clearing full days": DayRelief(house.operations).run_once,
    }
    road.duties += [road.loop(name, _patient(run)) for name, run in duties.items()]
    return road


def make_jobs(house: House, name: str) -> Worker:
    """Make the worker that runs product jobs."""
    return house.engine.worker(
        [JOB_QUEUE],
        name=name,
        concurrency=max(2, house.settings.worker.concurrency // 4),
        grace=house.settings.worker.grace,
    )


def _patient(run_once: Callable[[], Awaitable[float]]) -> Callable[[], Awaitable[float]]:
    """Let a duty meet a database that is away as the engine's own duties do: a word, and again."""

    async def run() -> float:
        try:
            return await run_once()
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error

    return run


def _listen(house: House) -> Callable[[], None]:
    """Wake the road soon after another process wrote into the same SQLite file."""
    if not isinstance(house.operations, SqliteOperations):
        return lambda: None
    loop = asyncio.get_running_loop()

    def news() -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(house.source.nudge)

    return house.operations.database.watch(news)
