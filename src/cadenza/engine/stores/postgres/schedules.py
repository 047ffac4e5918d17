"""Recurring jobs: kept by name, moved on together with the jobs that they make."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from cadenza.engine.job import Enqueued, NewJob, Schedule
from cadenza.engine.notes import firing_note
from cadenza.engine.stores.postgres.connection import PostgresConnections, in_transaction
from cadenza.engine.stores.postgres.insert import insert_script
from cadenza.engine.stores.postgres.rows import read_schedule, schedule_params
from cadenza.sql.postgres import Connection
from cadenza.sql.script import Script, run_async


class Schedules(PostgresConnections):
    """The part of the store that keeps schedules."""

    async def put_schedule(self, schedule: Schedule, *, keep_paused: bool = False) -> Schedule:
        """Insert or replace by name, keep what is known of the past."""
        values = (*schedule_params(schedule), keep_paused)
        row = await self._run(
            lambda connection: connection.fetchrow(self._sql["put_schedule"], *values)
        )
        await self._announce([""])
        return read_schedule(row)

    async def set_schedule(self, name: str, *, paused: bool) -> Schedule | None:
        """Pause or open one, if it is there."""
        row = await self._run(
            lambda connection: connection.fetchrow(self._sql["set_schedule"], name, paused)
        )
        if row is None:
            return None
        await self._announce([""])
        return read_schedule(row)

    async def drop_schedule(self, name: str) -> bool:
        """Forget a schedule; jobs that it made stay."""
        dropped = await self._run(
            lambda connection: connection.fetchval(self._sql["drop_schedule"], name), again=True
        )
        return dropped is not None

    async def schedules(self, *, due_only: bool = False) -> list[Schedule]:
        """List schedules by name."""
        found = await self._run(
            lambda connection: connection.fetch(self._sql["list_schedules"], due_only), again=True
        )
        return [read_schedule(row) for row in found]

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
        """Move on and insert in one transaction, unless somebody else did."""

        async def work(connection: Connection) -> list[Enqueued] | None:
            held = self._sql["hold_schedule"]
            if await connection.fetchval(held, name, revision, expected) is None:
                return None
            answers = await run_async(self._script(jobs, None), connection) if jobs else []
            said = firing_note(note, answers)
            await connection.execute(self._sql["move_schedule"], name, next_at, expected, said)
            return answers

        answers = await self._run(in_transaction(work))
        self._notifier.wake({job.queue for job in jobs} if answers else ())
        return answers

    def _script(self, jobs: Sequence[NewJob], tell: Iterable[str] | None) -> Script[list[Enqueued]]:
        return insert_script(self._sql, jobs, channel=self._notifier.channel, tell=tell)
