"""APScheduler 3 on SQLite: SQLAlchemy job store, WAL and FULL, ten threads.

A job added by another process does not wake its scheduler, so ours is nudged every 20 ms; two
schedulers on one store would run jobs twice, so it has one worker only.
"""

import asyncio
import signal
from datetime import UTC, datetime
from typing import Any

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy import create_engine, event, text

from bench import payload
from bench.adapter import Adapter, Handle, Ready

NUDGE = 0.02
handlers: list[Handle] = []


def noop(n: int, pad: str) -> None:
    """Handle one job; APScheduler finds this function by its name."""
    handlers[0](n)


class Apscheduler(Adapter):
    """Jobs with a date trigger."""

    def make(self) -> BackgroundScheduler:
        """Make a scheduler on the file."""
        self.engine = create_engine(f"sqlite:///{self.place.file}")

        @event.listens_for(self.engine, "connect")
        def set_pragmas(connection: Any, _: Any) -> None:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")

        return BackgroundScheduler(
            jobstores={"default": SQLAlchemyJobStore(engine=self.engine)},
            executors={"default": ThreadPoolExecutor(10)},
            job_defaults={"misfire_grace_time": None},
            timezone=UTC,
        )

    async def open(self) -> None:
        """Start paused: a producer that never runs anything."""
        self.scheduler = self.make()
        self.scheduler.start(paused=True)

    def add(self, number: int, at: datetime) -> None:
        """Add one job."""
        self.scheduler.add_job(noop, "date", run_date=at, args=(number, payload.padding(number)))

    async def enqueue_one(self, number: int) -> None:
        """Add one that is due now."""
        self.add(number, datetime.now(UTC))

    async def enqueue_at(self, number: int, due: float) -> None:
        """Add one for later."""
        self.add(number, datetime.fromtimestamp(due, UTC))

    async def left(self) -> int:
        """Count stored jobs: finished ones are removed."""
        with self.engine.connect() as connection:
            return connection.execute(text("SELECT count(*) FROM apscheduler_jobs")).scalar_one()

    async def close(self) -> None:
        """Stop the producer's scheduler."""
        self.scheduler.shutdown(wait=False)

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Run the scheduler and nudge it."""
        stopping: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: stopping.append(number))
        handlers.append(handle)
        scheduler = self.make()
        ready()
        scheduler.start()
        while not stopping:
            await asyncio.sleep(NUDGE)
            scheduler.wakeup()
        scheduler.shutdown()


SYSTEM = Apscheduler
