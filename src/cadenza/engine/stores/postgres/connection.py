"""What every part of the store stands on: connections, statements, the schema, the bell.

The store's methods run their work through `_run`, which turns a database that cannot be used
into `StoreUnavailable`.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from importlib.resources import files
from typing import Any, TypeVar

from cadenza.core.clock import Clock, SystemClock
from cadenza.core.ids import Random
from cadenza.engine.errors import InvalidJob, StoreUnavailable
from cadenza.engine.store import Traits, Wake
from cadenza.engine.stores.postgres.notifier import Notifier
from cadenza.engine.stores.postgres.queries import load_queries, quote_identifier
from cadenza.engine.stores.postgres.rows import vital_signs
from cadenza.sql.errors import SqlError
from cadenza.sql.migrate import migrate_postgres, read_migrations
from cadenza.sql.postgres import PLANS_KEPT, Connection, PostgresDatabase, Purpose

Result = TypeVar("Result")
SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,47}")


class PostgresConnections:
    """A schema of a PostgreSQL database, opened and watched."""

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
        if not SCHEMA.fullmatch(schema):
            raise InvalidJob(
                f"{schema!r} cannot be the schema: use small letters, digits and _, at most 48"
            )
        self.schema = schema
        self._clock = clock or SystemClock()
        self._listen = listen and not pooled
        self._sql = load_queries(schema)
        self._database = PostgresDatabase(
            dsn,
            pooled=pooled,
            plans_kept=None if pooled else PLANS_KEPT,  # behind a pooler nothing is prepared
            clock=self._clock,
            rng=rng,
        )
        self._notifier = Notifier(
            self._database, f"cadenza_{schema}", self._sql["notify"], clock=self._clock
        )

    @property
    def traits(self) -> Traits:
        """Say what PostgreSQL can do, and whether this store listens."""
        return Traits(
            name="postgres",
            durable=True,
            notifies=self._listen,
            joins_transactions=True,
            many_processes=True,
        )

    async def open(self) -> None:
        """Connect, bring the schema up to date, start to listen."""
        try:
            await self._database.open()
            await self._database.run(self._migrate)
        except SqlError as error:
            await self._database.close()
            raise StoreUnavailable(str(error)) from error
        await self._notifier.open(listen=self._listen)

    async def close(self) -> None:
        """Let go of every connection."""
        await self._notifier.close()
        await self._database.close()

    async def now(self) -> datetime:
        """Read the database's clock."""
        return await self._run(lambda connection: connection.fetchval(self._sql["now"]), again=True)

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` on news of this process and, if the store listens, of others."""
        return self._notifier.watch(wake)

    def notify_soon(self, queue: str) -> None:
        """Tell other processes in a moment, together with what else there is to tell; never fails."""
        self._notifier.told((), later=(queue,))

    async def vital_signs(self) -> dict[str, str]:
        """Read the server's settings that our promises rest on."""
        row = await self._run(
            lambda connection: connection.fetchrow(self._sql["vital_signs"]), again=True
        )
        return vital_signs(row, schema=self.schema, listens=self._listen)

    async def _run(
        self,
        work: Callable[[Connection], Awaitable[Any]],
        *,
        desk: Purpose = Purpose.REST,
        again: bool = False,
    ) -> Any:
        try:
            return await self._database.run(work, desk=desk, again=again)
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error

    async def _announce(self, queues: Iterable[str]) -> None:
        """Wake this process at once; tell the others, who else find out by their poll."""
        queues = set(queues)
        if not queues:
            return
        self._notifier.wake(queues)
        try:
            await self._notifier.notify(queues)
        except SqlError:
            return  # the work itself is done

    async def _migrate(self, connection: Connection) -> None:
        async with connection.transaction():
            if await connection.fetchval("SELECT to_regnamespace($1) IS NULL", self.schema):
                await connection.execute("SELECT pg_advisory_xact_lock(hashtext('cadenza schema'))")
                await connection.execute(
                    f"CREATE SCHEMA IF NOT EXISTS {quote_identifier(self.schema)}"
                )
            # The ledger is in the schema too: two schemas in one database never mix.
            await connection.execute(f"SET LOCAL search_path = {quote_identifier(self.schema)}")
            migrations = read_migrations(files(__package__ or "") / "migrations")
            now = int(self._clock.now().timestamp())
            await migrate_postgres(connection, "engine", migrations, now=now)


def in_transaction(
    work: Callable[[Connection], Awaitable[Result]],
) -> Callable[[Connection], Awaitable[Result]]:
    """Wrap work in a transaction of its own."""

    async def run(connection: Connection) -> Result:
        async with connection.transaction():
            return await work(connection)

    return run
