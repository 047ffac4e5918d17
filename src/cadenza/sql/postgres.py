"""Connections to PostgreSQL that come back after a loss.

A `PostgresDatabase` keeps a few asyncpg connections by the kind of work (`Desk`), so claims and
settlements never queue behind listings and no pool resets a session on the hot path. `run` hands a
connection to a piece of work; when the connection breaks, the work is tried again only if the
caller said that this is safe, else `Unavailable` is raised: whether it was committed is unknown.
Behind PgBouncer in transaction mode say `pooled=True`: no prepared statements, no session
settings, no LISTEN.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

import asyncpg

from cadenza.core.clock import Clock, SystemClock
from cadenza.core.ids import Random, SystemRandom
from cadenza.sql.errors import Unavailable
from cadenza.sql.postgres_errors import (
    from_postgres,
    is_lost,
    may_connect_later,
    may_run_again,
    waited_for_lock,
)
from cadenza.sql.postgres_instants import read_instants_fast

Result = TypeVar("Result")
Connection: TypeAlias = asyncpg.Connection
Work: TypeAlias = Callable[[Connection], Awaitable[Result]]

UNREADABLE = (
    "PostgreSQL's address cannot be read: say postgresql://user@host/database, and write"
    " / : ? # @ of a password as %2F %3A %3F %23 %40."
)
CONNECT_SECONDS = 5
COMMAND_SECONDS = 10
LONG_SECONDS = 300.0  # for what grows with its input: COPY, counts over all jobs
FIRST_DELAY = 0.05
LONGEST_DELAY = 1.0
COLLISIONS = 5  # a deadlock's loser tries again so often
# One wait ends soon, so that a statement never outlasts its command. It is begun again for as long as others may
# take in turn; a client that stands still with the lock has lost it by then.
LOCK_PATIENCE = 10.0  # seconds
SESSION = {
    "lock_timeout": "3s",
    "idle_in_transaction_session_timeout": "5s",
    "jit": "off",  # our statements are short; compiling them costs more than running them
}
# Statements of the hot path are written for their indexes. A plan made while the table was empty
# would read it whole for as long as the plan is cached.
HOT_SESSION = {"enable_seqscan": "off"}
# The server keeps plans of prepared statements for as long as a connection lives: one from when the tables
# were small would read all that waits, until statistics are gathered again. Planning each run again costs
# more than running it. So plans are kept, but not for longer than this.
PLANS_KEPT = 5.0


class Purpose(StrEnum):
    """Which work shares a connection."""

    CLAIM = "claim"
    SETTLE = "settle"
    REST = "rest"


class PostgresDatabase:
    """A few connections to one database."""

    def __init__(
        self,
        dsn: str,
        *,
        pooled: bool = False,
        spare: int = 3,
        patience: float = 5.0,
        name: str = "cadenza",
        session: Mapping[str, str] | None = None,
        plans_kept: float | None = None,
        clock: Clock | None = None,
        rng: Random | None = None,
    ) -> None:
        self.pooled = pooled
        self._dsn = dsn
        self._patience = patience
        self._name = name
        self._session = dict(session or {})
        self._plans_kept = plans_kept
        self._clock = clock or SystemClock()
        self._rng = rng or SystemRandom()
        self._closed = True
        self._slots = [*(_Slot(hot=True) for _ in range(2)), *(_Slot() for _ in range(spare))]
        self._free: dict[bool, asyncio.LifoQueue[_Slot]] = {}
        self._turns: dict[Purpose, asyncio.Semaphore] = {}

    async def open(self) -> None:
        """Connect once, so that a wrong address is known now."""
        self._closed = False
        self._free = {hot: asyncio.LifoQueue() for hot in (True, False)}
        for slot in self._slots:
            self._free[slot.hot].put_nowait(slot)
        # One claim and one settlement at a time: so neither ever waits for the other, and when
        # they take turns they find the same server process, with its caches warm.
        one, many = 1, len(self._slots)
        self._turns = {
            Purpose.CLAIM: asyncio.Semaphore(one),
            Purpose.SETTLE: asyncio.Semaphore(one),
            Purpose.REST: asyncio.Semaphore(many),
        }
        await self.run(_say_hello)

    async def close(self) -> None:
        """Let go of every connection; open work fails."""
        self._closed = True
        for slot in self._slots:
            connection, slot.connection = slot.connection, None
            if connection is not None and not connection.is_closed():
                await _close(connection)

    async def run(
        self, work: Work[Result], *, desk: Purpose = Purpose.REST, again: bool = False
    ) -> Result:
        """Run work on a connection; `again` says that it may run twice."""
        if self._closed:
            raise Unavailable("The database is closed; open it first.")
        free = self._free[desk is not Purpose.REST]
        async with self._turns[desk]:
            slot = await free.get()
            try:
                return await self._run(slot, work, again=again)
            finally:
                free.put_nowait(slot)

    def pids(self) -> set[int]:
        """Name the server processes behind our connections."""
        held = (slot.connection for slot in self._slots)
        return {connection.get_server_pid() for connection in held if connection is not None}

    async def connect(self, *, hot: bool = False) -> Connection:
        """Make a connection of the caller's own, waiting out a restart of the server."""
        give_up = self._clock.monotonic() + self._patience
        delay = FIRST_DELAY
        while True:
            try:
                return await self._connect_once(hot=hot)
            except Exception as error:
                if isinstance(error, ValueError) and not isinstance(error, asyncpg.InterfaceError):
                    raise Unavailable(UNREADABLE) from None  # its words may hold half of a password
                late = self._clock.monotonic() + delay > give_up
                if self._closed or late or not may_connect_later(error):
                    raise from_postgres(error) from error
            await self._clock.sleep(delay * (0.5 + self._rng.fraction()))
            delay = min(delay * 2, LONGEST_DELAY)

    async def _run(self, slot: "_Slot", work: Work[Result], *, again: bool) -> Result:
        collisions = 0
        give_up = self._clock.monotonic() + LOCK_PATIENCE
        while True:
            connection = slot.connection
            if connection is None or connection.is_closed():
                connection = slot.connection = await self.connect(hot=slot.hot)
                slot.planned_at = self._clock.monotonic()
            try:
                await self._forget_plans(slot, connection)
                return await work(connection)
            except asyncio.CancelledError:
                # Nobody knows how far it came. A transaction that was just being opened would stay open,
                # and take in what the next one is told is committed.
                slot.drop()
                raise
            except Exception as error:
                if may_run_again(error) and collisions < COLLISIONS:
                    collisions += 1
                    await self._clock.sleep(self._rng.fraction() * 0.01 * collisions)
                    continue
                if waited_for_lock(error) and self._clock.monotonic() < give_up:
                    continue
                if is_lost(error, connection):
                    slot.drop()
                    if again and not self._closed:
                        again = False
                        continue
                raise from_postgres(error) from error

    async def _forget_plans(self, slot: "_Slot", connection: Connection) -> None:
        """Let the next statements be planned by what the tables hold now, if that was long ago."""
        now = self._clock.monotonic()
        if self._plans_kept is not None and now - slot.planned_at > self._plans_kept:
            slot.planned_at = now
            await connection.execute("DISCARD PLANS")

    async def _connect_once(self, *, hot: bool) -> Connection:
        settings = {"application_name": self._name}
        if not self.pooled:
            settings |= SESSION | self._session
            settings |= HOT_SESSION if hot else {}
        options: dict[str, Any] = {"statement_cache_size": 0} if self.pooled else {}
        connection: Connection = await asyncpg.connect(
            self._dsn,
            timeout=CONNECT_SECONDS,
            command_timeout=COMMAND_SECONDS,
            server_settings=settings,
            **options,
        )
        await read_instants_fast(connection)
        return connection


class _Slot:
    """A place for one connection, which is made when first needed."""

    __slots__ = ("connection", "hot", "planned_at")

    def __init__(self, *, hot: bool = False) -> None:
        self.hot = hot
        self.planned_at = 0.0
        self.connection: Connection | None = None

    def drop(self) -> None:
        """Break the connection off: the server undoes what it was at."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.terminate()


async def _say_hello(connection: Connection) -> None:
    await connection.execute("SELECT 1")


async def _close(connection: Connection) -> None:
    try:
        await connection.close(timeout=2)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        connection.terminate()
