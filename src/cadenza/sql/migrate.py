"""Bringing a schema up to date: numbered files, each applied once, in order, under a lock.

A line of migrations (`engine`, `product`) is a folder of `0001_create_jobs.sql` files. What was
applied is kept with a checksum in `cadenza_migrations`; a changed file, a gap or a schema
newer than this program is refused before anything is touched. All that is pending goes in one
transaction, so it is there whole or not at all; statements that refuse to run in one
(CREATE INDEX CONCURRENTLY) cannot be used here. There is no way down: restore a backup.
"""

import hashlib
import re
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any, Protocol

from cadenza.sql.errors import SqlError
from cadenza.sql.script import Row, Script, Statement, run_async, run_sync
from cadenza.sql.sqlite_connect import begin

_FILE = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
LONGEST = 3600.0  # seconds that a statement of a migration may take on PostgreSQL
_LOCK = 0x636164656E7A61  # "cadenza": any number that every program of ours agrees on

LEDGER = "cadenza_migrations"
_MAKE_LEDGER = """
CREATE TABLE IF NOT EXISTS cadenza_migrations (
    line TEXT NOT NULL,
    version BIGINT NOT NULL,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (line, version)
)
"""


class SchemaMismatch(SqlError):
    """The database's schema and this program do not belong together."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its number, its name, its SQL."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """The SQL's fingerprint, the same on every platform."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


class PostgresConnection(Protocol):
    """An asyncpg connection, as far as migrating needs it."""

    async def fetch(self, query: str, /, *args: Any, timeout: float) -> Sequence[Any]: ...

    async def execute(self, query: str, /, *args: Any, timeout: float) -> Any: ...

    def transaction(self) -> AbstractAsyncContextManager[Any]: ...


def read_migrations(folder: Traversable, *, gaps: bool = False) -> tuple[Migration, ...]:
    """Read a folder's migrations in order; refuse strangers, and gaps unless they are allowed."""
    found: list[Migration] = []
    for entry in folder.iterdir():
        if not entry.name.endswith(".sql"):
            continue
        match = _FILE.fullmatch(entry.name)
        if match is None:
            raise ValueError(f"{entry.name} is no migration: name it like 0001_create_jobs.sql.")
        found.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    found.sort(key=lambda migration: migration.version)
    versions = [migration.version for migration in found]
    if len(set(versions)) < len(versions):
        raise ValueError(
            f"Two migrations in {folder} have one number; give the later one the next."
        )
    if not gaps and versions != list(range(1, len(found) + 1)):
        raise ValueError(f"The migrations in {folder} must be numbered 1, 2, 3, … without gaps.")
    return tuple(found)


def apply_pending(
    line: str, migrations: Sequence[Migration], *, now: int, lock: Statement | None = None
) -> Script[list[int]]:
    """Script: take the lock, compare, apply what is missing; return the versions applied."""
    if lock is not None:
        yield lock
    yield Statement(_MAKE_LEDGER, rows=False)
    applied = yield Statement(
        "SELECT version, checksum FROM cadenza_migrations WHERE line = $1 ORDER BY version", (line,)
    )
    pending = _compare(line, migrations, applied)
    for migration in pending:
        yield Statement(migration.sql, rows=False)
        yield Statement(
            "INSERT INTO cadenza_migrations (line, version, name, checksum, applied_at)"
            " VALUES ($1, $2, $3, $4, $5)",
            (line, migration.version, migration.name, migration.checksum, now),
            rows=False,
        )
    return [migration.version for migration in pending]


async def migrate_postgres(
    connection: PostgresConnection, line: str, migrations: Sequence[Migration], *, now: int
) -> list[int]:
    """Bring a line up to date on PostgreSQL; a second program at it waits, then finds it done."""
    async with connection.transaction():
        patient = _Patient(connection)
        await patient.execute(f"SET LOCAL lock_timeout = '{LONGEST:.0f}s'")
        await patient.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await patient.execute("SET LOCAL lock_timeout = DEFAULT")
        return await run_async(apply_pending(line, migrations, now=now), patient)


class _Patient:
    """Runs statements that may take as long as a large table needs."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def fetch(self, query: str, /, *args: Any) -> Sequence[Any]:
        return await self._connection.fetch(query, *args, timeout=LONGEST)

    async def execute(self, query: str, /, *args: Any) -> Any:
        return await self._connection.execute(query, *args, timeout=LONGEST)


def migrate_sqlite(
    connection: sqlite3.Connection, line: str, migrations: Sequence[Migration], *, now: int
) -> list[int]:
    """Bring a line up to date on SQLite; BEGIN IMMEDIATE is the lock.

    Foreign keys are off meanwhile, because rebuilding a parent table would else empty its
    children by ON DELETE CASCADE; they are checked as a whole before the commit.
    """
    connection.execute("PRAGMA foreign_keys=OFF")
    try:
        begin(connection)
        script = apply_pending(line, migrations, now=now)
        versions = run_sync(script, lambda statement: _execute_sqlite(connection, statement))
        if versions:
            _check_foreign_keys(connection)
        connection.execute("COMMIT")
        return versions
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.execute("PRAGMA foreign_keys=ON")


def _compare(line: str, known: Sequence[Migration], applied: Sequence[Row]) -> list[Migration]:
    if len(applied) > len(known):
        raise SchemaMismatch(
            f"The database's {line} schema is at version {applied[-1][0]}; this program knows only"
            f" {len(known)}. Run the newer program, or restore a backup from before the upgrade."
        )
    for migration, (version, checksum) in zip(known, applied, strict=False):
        if (version, checksum) != (migration.version, migration.checksum):
            raise SchemaMismatch(
                f"Migration {migration.version} ({migration.name}) of {line} is not the one that"
                " this database was built with. An applied migration never changes: add a new one."
            )
    return list(known[len(applied) :])


def _execute_sqlite(connection: sqlite3.Connection, statement: Statement) -> list[Row]:
    if statement.params:
        sql = re.sub(r"\$(\d+)", r"?\1", statement.sql)
        return connection.execute(sql, statement.params).fetchall()
    for single in _split(statement.sql):
        connection.execute(single)
    return []


def _split(sql: str) -> list[str]:
    """Cut a file into statements: `executescript` would commit the open transaction."""
    statements: list[str] = []
    gathered = ""
    for piece in sql.split(";"):
        gathered += piece + ";"
        if sqlite3.complete_statement(gathered):
            statements.append(gathered)
            gathered = ""
    return statements


def _check_foreign_keys(connection: sqlite3.Connection) -> None:
    orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
    if orphans:
        table, row, parent, _ = orphans[0]
        raise SchemaMismatch(
            f"The migration would leave {len(orphans)} rows without their parents, first row"
            f" {row} of {table} (parent {parent}); nothing was changed."
        )
