"""The engine's store on one SQLite file.

Every method is one operation of this folder, run as one transaction by `SqliteDatabase`, where
many callers share a durable commit. What is told after it (wake-ups) is told once it is on the
disk. Other processes' commits are noticed within `WATCH` seconds by looking at the file's version.
SQLite's own clock is the machine's, handed in; so all processes of a file must share a machine.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from importlib.resources import files
from typing import TypeVar

from cadenza.core.clock import Clock, SystemClock
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.job import (
    Enqueued,
    Filter,
    Gate,
    Job,
    Limit,
    NewJob,
    Schedule,
    Scope,
    Tally,
    WorkerInfo,
)
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Batch, Changed, Renewal, Rescue, Traits, Wake
from cadenza.engine.stores.sqlite.change import cancel, prune, revive
from cadenza.engine.stores.sqlite.claim import ClaimRequest, claim
from cadenza.engine.stores.sqlite.gates import list_gates, set_gate
from cadenza.engine.stores.sqlite.insert import insert_jobs
from cadenza.engine.stores.sqlite.inspect_jobs import find, get, tally
from cadenza.engine.stores.sqlite.leases import renew, report, rescue, start
from cadenza.engine.stores.sqlite.next_due import next_due
from cadenza.engine.stores.sqlite.schedules import (
    beat,
    drop_schedule,
    fire,
    list_schedules,
    list_workers,
    put_schedule,
    set_schedule,
)
from cadenza.engine.stores.sqlite.settle import settle
from cadenza.engine.stores.sqlite.values import span, to_instant_or_none
from cadenza.sql.errors import SqlError
from cadenza.sql.migrate import read_migrations
from cadenza.sql.sqlite import SqliteDatabase

Result = TypeVar("Result")
_Operation = Callable[[sqlite3.Connection, int], Result]


class SqliteStore:
    """Jobs in a SQLite file, or in `:memory:` for a simulation."""

    traits = Traits(
        name="sqlite", durable=True, notifies=True, joins_transactions=True, many_processes=True
    )

    def __init__(
        self, path: str, *, clock: Clock | None = None, database: SqliteDatabase | None = None
    ) -> None:
        """Open `path` in `open`; or share a `database` that its owner opens and closes."""
        self._path = path
        self._clock = clock or SystemClock()
        self._owns = database is None
        self._opened = database
        self._lanes_next: set[str] = set()  # queues whose lanes get the larger half of an odd room
        self._watchers: list[Wake] = []
        self._stop_watching: Callable[[], None] | None = None

    @property
    def database(self) -> SqliteDatabase:
        """The database, for operations that want to insert jobs in their own transaction."""
        if self._opened is None:
            raise StoreUnavailable(f"{self._path} is not open; call open() first.")
        return self._opened

    async def open(self) -> None:
        """Open the file and bring the schema up to date."""
        try:
            if self._opened is None:
                self._opened = SqliteDatabase(self._path, clock=self._clock)
            folder = files("cadenza.engine.stores.sqlite") / "migrations"
            self._opened.migrate("engine", read_migrations(folder))
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error

    async def close(self) -> None:
        """Finish what was asked; close the file if it is ours."""
        if self._stop_watching is not None:
            self._stop_watching()
            self._stop_watching = None
        if self._owns and self._opened is not None:
            self._opened.close()
            self._opened = None

    async def now(self) -> datetime:
        """Read the machine's clock, as it was handed in."""
        return self._clock.now()

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` after this process's changes, and after any commit of another one."""
        self._watchers.append(wake)
        if self._stop_watching is None:
            loop = asyncio.get_running_loop()
            news = partial(_tell, loop, partial(self._wake, [""]))
            self._stop_watching = self.database.watch(news)
        return lambda: self._watchers.remove(wake)

    async def insert(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add jobs one after the other at one instant."""
        answers = await self._run(lambda tx, now: insert_jobs(tx, now, jobs))
        self._wake({job.queue for job in jobs})
        return answers

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
        """Lease runnable jobs: lanes get half of the room first, then plain jobs, then lanes again."""
        lanes_first = queue in self._lanes_next
        requested = ClaimRequest(queue, limit, worker, span(lease), alone, started, lanes_first)
        handed = await self._run(lambda tx, now: claim(tx, now, requested))
        if handed.count:
            self._lanes_next ^= {queue}
        return handed.to_batch()

    async def start(self, jobs: Mapping[int, Sequence[int]]) -> None:
        """Mark jobs as started, with whatever else is being written."""
        await self._run(lambda tx, now: start(tx, now, jobs))

    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        """Extend what this worker still holds, ahead of all other work."""
        return await self._run(
            lambda tx, now: renew(tx, now, worker, leases, span(lease)), urgent=True
        )

    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        """Write each outcome whose lease still holds."""
        written = await self._run(lambda tx, now: settle(tx, now, settlements, closed))
        self._wake(written.queues)
        return written.refused

    async def rescue(self, *, crash_limit: int) -> Rescue:
        """Take back the jobs of leases that ran out, some leases at a time."""
        rescued, queues = await self._run(lambda tx, now: rescue(tx, now, crash_limit))
        self._wake(queues)
        return rescued

    async def next_due(self, queue: str) -> datetime | None:
        """Look at the heads of the queue's indexes."""
        return to_instant_or_none(await self._read(lambda tx, now: next_due(tx, now, queue)))

    async def get(self, ids: Sequence[int]) -> list[Job]:
        """Show these jobs."""
        return await self._read(lambda tx, now: get(tx, now, ids))

    async def find(self, wanted: Filter) -> list[Job]:
        """List jobs, newest first."""
        return await self._read(lambda tx, now: find(tx, now, wanted))

    async def tally(self) -> list[Tally]:
        """Count by queue and state."""
        return await self._read(tally)

    async def cancel(self, ids: Sequence[int], *, reason: str) -> list[Changed]:
        """Cancel waiting jobs at once, ask for running ones."""
        answers = await self._run(lambda tx, now: cancel(tx, now, ids, reason))
        if "requested" in answers:
            self._wake([""])
        return answers

    async def revive(self, ids: Sequence[int]) -> list[Changed]:
        """Let finished jobs wait again and waiting ones go now."""
        answers, queues = await self._run(lambda tx, now: revive(tx, now, ids))
        self._wake(queues)
        return answers

    async def report(self, id: int, lease: int, progress: str) -> bool:
        """Write progress under the fence."""
        return await self._run(lambda tx, now: report(tx, now, id, lease, progress))

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
        gate = await self._run(
            lambda tx, now: set_gate(
                tx, now, scope, paused=paused, reason=reason, limit=limit, wait=park
            )
        )
        self._wake([scope.queue])
        return gate

    async def gates(self) -> list[Gate]:
        """Show every gate."""
        return await self._read(list_gates)

    async def put_schedule(self, schedule: Schedule, *, keep_paused: bool = False) -> Schedule:
        """Replace by name, keep what is known of the past."""
        kept = await self._run(
            lambda tx, now: put_schedule(tx, now, schedule, keep_paused=keep_paused)
        )
        self._wake([""])
        return kept

    async def set_schedule(self, name: str, *, paused: bool) -> Schedule | None:
        """Pause or open one, if it is there."""
        changed = await self._run(lambda tx, now: set_schedule(tx, now, name, paused=paused))
        self._wake([""])
        return changed

    async def drop_schedule(self, name: str) -> bool:
        """Forget a schedule; jobs that it made stay."""
        return await self._run(lambda tx, now: drop_schedule(tx, now, name))

    async def schedules(self, *, due_only: bool = False) -> list[Schedule]:
        """List schedules by name."""
        return await self._read(lambda tx, now: list_schedules(tx, now, due_only=due_only))

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
        answers = await self._run(
            lambda tx, now: fire(
                *(tx, now, name),
                revision=revision,
                expected=expected,
                next_at=next_at,
                note=note,
                jobs=jobs,
            )
        )
        if answers is not None:
            self._wake({job.queue for job in jobs})
        return answers

    async def prune(self, *, done: timedelta, failed: timedelta, limit: int) -> int:
        """Forget what finished long ago."""
        return await self._run(
            lambda tx, now: prune(tx, now, done=span(done), failed=span(failed), limit=limit)
        )

    async def beat(self, worker: WorkerInfo) -> None:
        """Remember a worker's last word."""
        await self._run(lambda tx, now: beat(tx, now, worker), urgent=True)

    async def workers(self) -> list[WorkerInfo]:
        """List workers by name."""
        return await self._read(list_workers)

    async def vital_signs(self) -> dict[str, str]:
        """Say what doctor shows: version, settings, hazards."""
        hazards = self.database.hazards()
        return {
            "store": "sqlite",
            "file": self.database.path,
            "sqlite": hazards.sqlite_version,
            "journal": hazards.journal_mode,
            "durability": "every acknowledged write is on the disk (synchronous=FULL)",
            "checkpoints": hazards.wal_reset_handling,
            "file system": hazards.file_system or "unknown",
            "warnings": " ".join(hazards.warnings) or "none",
        }

    async def _run(self, operation: _Operation[Result], *, urgent: bool = False) -> Result:
        try:
            return await self.database.run(operation, urgent=urgent)
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error

    async def _read(self, operation: _Operation[Result]) -> Result:
        try:
            return await self.database.read(operation)
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error

    def nudge(self, queue: str) -> None:
        """Wake who waits for a queue: a job was added in a transaction that is not ours."""
        self._wake([queue])

    def _wake(self, queues: Iterable[str]) -> None:
        for queue in queues:
            for wake in tuple(self._watchers):
                wake(queue)


def _tell(loop: asyncio.AbstractEventLoop, news: Callable[[], None]) -> None:
    """Bring news from the database's thread to the event loop, if that still runs."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(news)
