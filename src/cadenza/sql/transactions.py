"""The port of product operations: `run(operation)` on SQLite, on PostgreSQL, or inline.

An operation is a plain function `(tx, now)`: no await, no commit, no I/O but SQL. `run` opens one
transaction, takes the operation's declared locks in sorted order, then reads `now` from the database's
clock, then calls it. A refusal is a value, an exception rolls back, and an operation may be run again
(deadlock, busy), so it depends on nothing but its transaction. On PostgreSQL a greenlet carries the
plain function over the async driver. Once it is committed, those who watch this process's operations are
woken for what it asked (`Tx.wake`). Limit: about 50 ms or 500 rows; longer work is a job with a cursor.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import greenlet

from cadenza.core.ids import Ids, SystemIds
from cadenza.sql.postgres import Connection, PostgresDatabase, Purpose
from cadenza.sql.sqlite import SqliteDatabase
from cadenza.sql.tx import (
    CLOCK,
    Row,
    Tx,
    bind_postgres,
    bind_sqlite,
    from_microseconds,
    read_sqlite,
    returns_rows,
)

SYSTEM_IDS = SystemIds()
Result = TypeVar("Result")
Operation: TypeAlias = Callable[[Tx, datetime], Result]
Peek: TypeAlias = Callable[[Tx], Result]
Wake: TypeAlias = Callable[[str], None]


class Operations(Protocol):
    """Where product operations run."""

    async def run(
        self, operation: Operation[Result], *, locks: Sequence[str] = (), urgent: bool = False
    ) -> Result:
        """Run a writing operation; its commit is durable when this returns."""
        ...

    async def read(self, operation: Operation[Result], *, now: datetime | None = None) -> Result:
        """Run a reading operation on one snapshot; `now` is the database's clock, if just read."""
        ...

    async def peek(self, operation: Peek[Result]) -> Result:
        """Run one reading statement, without a transaction around it; its clock is `CLOCK()`."""
        ...


class _Wakes:
    """Whom commits of this process wake; `Tx.wake` says for what."""

    def __init__(self) -> None:
        self._watchers: list[Wake] = []

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` with a queue's name after each commit here that asked for it; returns how to end it."""
        self._watchers.append(wake)
        return lambda: self._watchers.remove(wake)

    def _tell(self, queues: set[str]) -> None:
        for queue in sorted(queues):
            for wake in tuple(self._watchers):
                wake(queue)


class SqliteOperations(_Wakes):
    """On one SQLite file; writers are one at a time, so locks are already held."""

    def __init__(self, database: SqliteDatabase, ids: Ids = SYSTEM_IDS) -> None:
        super().__init__()
        self.database = database
        self._ids = ids

    async def run(
        self, operation: Operation[Result], *, locks: Sequence[str] = (), urgent: bool = False
    ) -> Result:
        """Join the writer's next batch."""
        woken: set[str] = set()
        result = await self.database.run(_on_sqlite(operation, self._ids, woken), urgent=urgent)
        self._tell(woken)
        return result

    async def read(self, operation: Operation[Result], *, now: datetime | None = None) -> Result:
        """Read on the reader's connection, whose clock costs nothing."""
        return await self.database.read(_on_sqlite(operation, self._ids))

    async def peek(self, operation: Peek[Result]) -> Result:
        """Read on the reader's connection: a snapshot costs nothing there."""
        return await self.read(lambda tx, _: operation(tx))


class PostgresOperations(_Wakes):
    """On PostgreSQL; locks are advisory, by name, and end with the transaction."""

    def __init__(self, database: PostgresDatabase, ids: Ids = SYSTEM_IDS) -> None:
        super().__init__()
        self.database = database
        self._ids = ids

    async def run(
        self, operation: Operation[Result], *, locks: Sequence[str] = (), urgent: bool = False
    ) -> Result:
        """Open a transaction, lock, read the clock, run."""
        keys = sorted({_lock_key(name) for name in locks})
        woken: set[str] = set()

        async def work(connection: Connection) -> Result:
            woken.clear()  # of a run before that was undone
            async with connection.transaction():
                now = await _lock(connection, keys) if keys else await _clock(connection)
                return await _run_in_greenlet(
                    connection, lambda tx: operation(tx, now), self._ids, woken=woken
                )

        result = await self.database.run(work, desk=Purpose.SETTLE if urgent else Purpose.REST)
        self._tell(woken)
        return result

    async def read(self, operation: Operation[Result], *, now: datetime | None = None) -> Result:
        """Read in one repeatable-read transaction that cannot write."""

        async def work(connection: Connection) -> Result:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                at = now or await _clock(connection)
                return await _run_in_greenlet(connection, lambda tx: operation(tx, at), self._ids)

        return await self.database.run(work, again=True)

    async def peek(self, operation: Peek[Result]) -> Result:
        """Ask once: one way to the server and back, where a transaction needs four."""

        async def work(connection: Connection) -> Result:
            return await _run_in_greenlet(connection, operation, self._ids, only_look=True)

        return await self.database.run(work, again=True)


# The clock is read once all locks are held: the count is known only then.
_LOCK = (
    "SELECT clock_timestamp(), count(pg_advisory_xact_lock(key)) "
    "FROM (SELECT key FROM unnest($1::bigint[]) AS asked (key) ORDER BY key) AS sorted"
)


async def _lock(connection: Connection, keys: Sequence[int]) -> datetime:
    return cast("datetime", await connection.fetchval(_LOCK, keys))


async def _clock(connection: Connection) -> datetime:
    return cast("datetime", await connection.fetchval("SELECT clock_timestamp()"))


def _lock_key(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)


def _on_sqlite(
    operation: Operation[Result], ids: Ids, woken: set[str] | None = None
) -> Callable[[sqlite3.Connection, int], Result]:
    def run(connection: sqlite3.Connection, now: int) -> Result:
        if woken is not None:
            woken.clear()  # of a run before that was undone

        def execute(sql: str, params: Mapping[str, Any]) -> tuple[list[Row], int]:
            if CLOCK in sql:
                params = {**params, "the_clock": now}
            cursor = connection.execute(*bind_sqlite(sql, params))
            if cursor.description is None:
                return [], cursor.rowcount
            names = [column[0] for column in cursor.description]
            rows = [read_sqlite(names, values) for values in cursor.fetchall()]
            return rows, len(rows)

        return operation(Tx("sqlite", execute, ids, woken), from_microseconds(now))

    return run


async def _run_in_greenlet(
    connection: Connection,
    operation: Peek[Result],
    ids: Ids,
    *,
    only_look: bool = False,
    woken: set[str] | None = None,
) -> Result:
    """Run a plain function on a greenlet; each statement is awaited here, outside of it."""
    outside = greenlet.getcurrent()

    def execute(sql: str, params: Mapping[str, Any]) -> tuple[list[Row], int]:
        if only_look and not sql.lstrip().startswith("SELECT"):
            raise ValueError("A glance can only read: run the change in a transaction.")
        return outside.switch(_execute(connection, sql, params))

    inside = greenlet.greenlet(lambda: operation(Tx("postgresql", execute, ids, woken)))
    requested = inside.switch()
    while not inside.dead:
        try:
            answer = await requested
        except BaseException as error:  # noqa: BLE001 - the operation's statement is where it belongs
            requested = inside.throw(error)
        else:
            requested = inside.switch(answer)
    return requested


def _execute(
    connection: Connection, sql: str, params: Mapping[str, Any]
) -> Awaitable[tuple[list[Row], int]]:
    async def fetch() -> tuple[list[Row], int]:
        text, values = bind_postgres(sql, params)
        if returns_rows(text):
            rows = await connection.fetch(text, *values)
            return [dict(row) for row in rows], len(rows)
        return [], _touched(await connection.execute(text, *values))

    return fetch()


def _touched(status: str) -> int:
    """Read `UPDATE 3` as 3."""
    return int(status.rpartition(" ")[2]) if status[-1:].isdigit() else 0
