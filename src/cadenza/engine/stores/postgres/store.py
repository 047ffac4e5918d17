"""Jobs in PostgreSQL: many processes, one truth, durable.

Each method is one statement or one short transaction (see the files named by verb beside this
one); the database's clock decides. Live and finished jobs lie in two tables. A command that
was cut off in the middle is repeated only if repeating does no harm; else `StoreUnavailable` is
raised, and what a lost claim took comes back when its lease runs out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from cadenza.core.clock import Clock
from cadenza.core.ids import Random
from cadenza.engine.job import (
    Enqueued,
    Filter,
    Gate,
    Job,
    Limit,
    NewJob,
    Scope,
    Tally,
    WorkerInfo,
)
from cadenza.engine.outcomes import Settlement
from cadenza.engine.store import Batch, Changed, Renewal, Rescue
from cadenza.engine.stores.postgres.claim import ClaimRequest, Claims
from cadenza.engine.stores.postgres.connection import in_transaction
from cadenza.engine.stores.postgres.gate import change_gate, show_gates
from cadenza.engine.stores.postgres.insert import (
    copy_in,
    copy_uniform,
    insert_one,
    is_far_ahead,
    is_plain,
)
from cadenza.engine.stores.postgres.inspect_jobs import (
    cancel_jobs,
    find_jobs,
    get_jobs,
    revive_jobs,
    tally_jobs,
)
from cadenza.engine.stores.postgres.read_positions import ReadPositions
from cadenza.engine.stores.postgres.rescue import LEASES, rescue_jobs
from cadenza.engine.stores.postgres.rows import read_worker, worker_params
from cadenza.engine.stores.postgres.schedules import Schedules
from cadenza.engine.stores.postgres.settle import settle_jobs
from cadenza.sql.postgres import Connection, Purpose
from cadenza.sql.script import Script, run_async

SILENT = timedelta(hours=1)  # a worker not heard of for so long is forgotten
MARKS = 10_000  # forgotten by one statement, so that none of them takes too long
COPY_FROM = 50  # jobs: from here on COPY is quicker than INSERT


class PostgresStore(Schedules):
    """Jobs in a schema of a PostgreSQL database."""

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = "cadenza",
        listen: bool = True,
        pooled: bool = False,
        clock: Clock | None = None,
        rng: Random | None = None,
    ) -> None:
        super().__init__(dsn, schema=schema, listen=listen, pooled=pooled, clock=clock, rng=rng)
        self._places = ReadPositions(self._clock)
        self._claims = Claims(self._sql, self._places)

    # Taking jobs in

    async def insert(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add jobs in one transaction; a few plain ones in one round trip."""
        if not jobs:
            return []
        now = self._clock.now()
        near = {job.queue for job in jobs if not is_far_ahead(job, now)}
        tell = self._notifier.due(near)
        plain = all(map(is_plain, jobs))

        async def one(connection: Connection) -> list[Enqueued]:
            return await insert_one(
                connection, self._sql, jobs[0], channel=self._notifier.channel, tell=bool(tell)
            )

        async def script(connection: Connection) -> list[Enqueued]:
            return await run_async(self._script(jobs, tell), connection)

        async def copy(connection: Connection) -> list[Enqueued]:
            answers = await copy_in(connection, self._sql, jobs, schema=self.schema)
            if tell:
                await connection.execute(self._sql["notify"], self._notifier.channel, tell)
            return answers

        if plain and len(jobs) < COPY_FROM:
            answers = await self._run(one if len(jobs) == 1 else script)
        else:
            answers = await self._run(in_transaction(copy if plain else script))
        # By the server's clock a given instant may have been too far off to tell of it.
        unsure = {job.queue for job in jobs if job.run_at is not None}
        self._notifier.told(tell, later=near.difference(tell) | (near & unsure))
        self._places.forget({job.queue for job in jobs if job.run_at or job.rule})
        self._notifier.wake({job.queue for job in jobs})
        return answers

    async def insert_uniform(
        self, template: NewJob, payloads: Callable[[], Iterator[str]], count: int
    ) -> list[Enqueued]:
        """Add `count` plain jobs that differ in their payload alone; a payload that raises adds none."""
        if not is_plain(template) or count < COPY_FROM:
            return await self.insert([replace(template, payload=text) for text in payloads()])
        near = () if is_far_ahead(template, self._clock.now()) else (template.queue,)
        tell = self._notifier.due(near)

        async def copy(connection: Connection) -> list[Enqueued]:
            answers = await copy_uniform(
                connection, self._sql, template, payloads(), count=count, schema=self.schema
            )
            if tell:
                await connection.execute(self._sql["notify"], self._notifier.channel, tell)
            return answers

        answers = await self._run(in_transaction(copy))
        self._notifier.told(tell, later=set(near).difference(tell))
        if template.run_at:
            self._places.forget({template.queue})
        self._notifier.wake({template.queue})
        return answers

    def insert_script(self, jobs: Sequence[NewJob]) -> Script[list[Enqueued]]:
        """Script the same insert for a transaction of the caller's (see `sql/script.py`)."""
        return self._script(jobs, None)

    async def insert_on(self, connection: Connection, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add jobs on the caller's asyncpg connection, within the transaction open there."""
        if connection.is_in_transaction():
            return await run_async(self._script(jobs, None), connection)
        async with connection.transaction():
            return await run_async(self._script(jobs, None), connection)

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
        request = ClaimRequest(queue, limit, worker, lease, alone, started)
        return await self._run(
            lambda connection: self._claims.claim(connection, request), desk=Purpose.CLAIM
        )

    async def start(self, jobs: Mapping[int, Sequence[int]]) -> None:
        """Mark jobs as started, in one statement."""
        leases = [number for number, ids in jobs.items() for _ in ids]
        ids = [id_ for ids in jobs.values() for id_ in ids]
        await self._run(
            lambda connection: connection.execute(self._sql["start"], leases, ids),
            desk=Purpose.SETTLE,
            again=True,
        )

    async def next_due(self, queue: str) -> datetime | None:
        """Look at the heads of the queue's lines."""
        seen = await self._run(
            lambda connection: self._claims.survey(connection, queue), again=True
        )
        return seen["next_due"]

    async def renew(self, worker: str, leases: Sequence[int], *, lease: timedelta) -> Renewal:
        """Extend leases, one row each, and hear of cancels."""
        if not leases:
            return Renewal()
        numbers = list(leases)
        row = await self._run(
            lambda connection: connection.fetchrow(
                self._sql["renew_leases"], worker, numbers, lease
            ),
            desk=Purpose.SETTLE,
            again=True,
        )
        lost = frozenset(leases) - frozenset(row["held"] or ())
        return Renewal(lost, frozenset(row["cancel"] or ()))

    async def settle(
        self, settlements: Sequence[Settlement], *, closed: Sequence[int] = ()
    ) -> list[Settlement]:
        """Write outcomes under their fences; return those refused."""
        if not settlements and not closed:
            return []
        queue = self._claims.queue_of({one.lease for one in settlements})
        settled = await self._run(
            lambda connection: settle_jobs(connection, self._sql, settlements, closed, queue=queue),
            desk=Purpose.SETTLE,
            again=True,
        )
        self._claims.close(closed)
        self._places.forget(settled.ready)
        await self._announce(settled.queues)
        return settled.refused

    async def rescue(self, *, crash_limit: int) -> Rescue:
        """Take back what expired leases hold, some leases at a time."""
        returned: list[int] = []
        buried: list[int] = []
        queues: set[str] = set()
        while True:
            taken = await self._run(
                lambda connection: rescue_jobs(connection, self._sql, crash_limit), again=True
            )
            returned += taken.returned
            buried += taken.buried
            queues |= taken.queues
            if len(taken.leases) < LEASES:
                break
        self._places.forget(queues)
        await self._announce(queues)
        return Rescue(tuple(returned), tuple(buried))

    # Looking and changing

    async def get(self, ids: Sequence[int]) -> list[Job]:
        """Return the jobs of these ids that exist."""
        return await self._run(lambda connection: get_jobs(connection, self._sql, ids), again=True)

    async def find(self, wanted: Filter) -> list[Job]:
        """List jobs, newest first."""
        return await self._run(
            lambda connection: find_jobs(connection, self._sql, wanted), again=True
        )

    async def tally(self) -> list[Tally]:
        """Count by queue and state."""
        return await self._run(lambda connection: tally_jobs(connection, self._sql), again=True)

    async def cancel(self, ids: Sequence[int], *, reason: str) -> list[Changed]:
        """Cancel waiting jobs, ask the workers of running ones to stop."""

        async def work(connection: Connection) -> list[Changed]:
            return await cancel_jobs(connection, self._sql, ids, reason)

        answers = await self._run(in_transaction(work))
        if "requested" in answers:
            await self._announce([""])
        return answers

    async def revive(self, ids: Sequence[int]) -> list[Changed]:
        """Let finished jobs wait again and waiting ones go now."""

        async def work(connection: Connection) -> tuple[list[Changed], set[str]]:
            return await revive_jobs(connection, self._sql, ids)

        answers, queues = await self._run(in_transaction(work))
        self._places.forget(queues)
        await self._announce(queues)
        return answers

    async def report(self, id: int, lease: int, progress: str) -> bool:
        """Write progress under the fence."""
        found = await self._run(
            lambda connection: connection.fetchval(
                self._sql["report_progress"], id, lease, progress
            ),
            again=True,
        )
        return found is not None

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

        async def work(connection: Connection) -> Gate:
            return await change_gate(
                connection,
                self._sql,
                scope,
                paused=paused,
                reason=reason,
                limit=limit,
                park=park,
            )

        changed = await self._run(in_transaction(work), again=True)
        await self._announce([scope.queue])
        return changed

    async def gates(self) -> list[Gate]:
        """Show every gate."""
        return await self._run(lambda connection: show_gates(connection, self._sql), again=True)

    # Housekeeping

    async def prune(self, *, done: timedelta, failed: timedelta, limit: int) -> int:
        """Delete finished jobs that are old enough; with the last of them, markers of long ago."""
        count = await self._run(
            lambda connection: connection.fetchval(
                self._sql["prune_finished"], done, failed, limit
            ),
            again=True,
        )
        while count < limit:
            marks = await self._run(
                lambda connection: connection.fetchval(self._sql["prune_markers"], MARKS),
                again=True,
            )
            if marks < MARKS:
                break
        return count

    async def beat(self, worker: WorkerInfo) -> None:
        """Write a worker's last word."""
        values = worker_params(worker)
        await self._run(
            lambda connection: connection.execute(self._sql["beat_worker"], *values, SILENT),
            desk=Purpose.SETTLE,
            again=True,
        )

    async def workers(self) -> list[WorkerInfo]:
        """List workers by name."""
        found = await self._run(
            lambda connection: connection.fetch(self._sql["list_workers"]), again=True
        )
        return [read_worker(row) for row in found]
