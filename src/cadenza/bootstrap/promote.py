"""Moves a whole installation from its SQLite file to an empty PostgreSQL database, and proves it.

The file is held exclusively meanwhile, so no worker or server can have it open. All rows go in one
transaction; then every table's rows are counted and hashed on both sides, foreign keys are checked by
PostgreSQL itself, and only then it is committed. At the end the file is put on hold: started again by
mistake it sends nothing. Media and keys stay where they are. Limit: a job that a dead worker held is
taken as crashed, as a rescue would.
"""

import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from cadenza.bootstrap.errors import CannotStart
from cadenza.bootstrap.promote_jobs import ENGINE_TABLES, copy_jobs
from cadenza.core.clock import Clock
from cadenza.db.open import open_product
from cadenza.db.schema import ENGINE_SCHEMA, connect_product
from cadenza.deliveries.installation import RESTORE
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.sql.migrate import LEDGER
from cadenza.sql.postgres import Connection
from cadenza.sql.tx import from_microseconds, to_microseconds

Tell = Callable[[str, int, int], None]  # table, rows done, rows in all
STEP = 500
HOURS = 6 * 3600.0  # a large table may be copied for long


class NotPromoted(CannotStart):
    """Nothing was changed; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One table, the same on both sides."""

    table: str
    rows: int
    hash: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column as PostgreSQL has it."""

    name: str
    type: str


async def promote(file: Path, address: str, *, clock: Clock, tell: Tell) -> list[Checked]:
    """Copy everything and return what was compared; the file is on hold then."""
    source = _hold_file(file)
    try:
        await _make_tables(address, clock)
        server = await connect_product(address, clock=clock)
        try:
            connection = await server.connect()
            try:
                checked = await _copy_all(source, connection, tell)
            finally:
                await connection.close()
        finally:
            await server.close()
        _retire(source, to_microseconds(clock.now()))
        return checked
    finally:
        source.close()


def _hold_file(file: Path) -> sqlite3.Connection:
    """Open the file so that nobody else has it or can get it."""
    if not file.is_file():
        raise NotPromoted(f"there is no database at {file}: nothing to promote")
    source = sqlite3.connect(file, isolation_level=None, timeout=1.0)
    try:
        source.execute("PRAGMA locking_mode=EXCLUSIVE")
        source.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        source.close()
        raise NotPromoted(
            f"{file} is in use ({error}): stop every worker and server on it, then promote"
        ) from error
    return source


async def _make_tables(address: str, clock: Clock) -> None:
    if not address.startswith(("postgresql://", "postgres://")):
        raise NotPromoted("--to wants an address like postgresql://USER@HOST/DATABASE")
    async with open_product(address, clock=clock):
        pass
    store = PostgresStore(address, clock=clock)
    await store.open()
    await store.close()


async def _copy_all(source: sqlite3.Connection, target: Connection, tell: Tell) -> list[Checked]:
    tables = await _tables(target)
    _must_match(source, tables)
    jobs_of = [f"{ENGINE_SCHEMA}.{table}" for table in ENGINE_TABLES]
    await _must_be_empty(target, [*tables, *jobs_of])
    checked: list[Checked] = []
    async with target.transaction():
        for table in tables:
            columns = await _columns(target, table)
            await _copy(source, target, table, columns, tell)
            checked.append(await _compare(source, target, table, columns))
        jobs, digest = await copy_jobs(source, target)
        checked.append(Checked("job", jobs, digest))
        await target.execute("SET CONSTRAINTS ALL IMMEDIATE")
    return checked


async def _tables(target: Connection) -> list[str]:
    """Name our tables, those that others refer to first."""
    rows = await target.fetch(
        """
        SELECT relname, ARRAY(
            SELECT parent.relname FROM pg_constraint JOIN pg_class AS parent ON parent.oid = confrelid
            WHERE conrelid = child.oid AND contype = 'f' AND confrelid <> child.oid
        )::text[] AS parents
        FROM pg_class AS child
        WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> ALL ($1)
        ORDER BY relname
        """,
        [LEDGER, *ENGINE_TABLES],
    )
    waiting = {row["relname"]: set(row["parents"]) for row in rows}
    ordered: list[str] = []
    while waiting:
        ready = [table for table, parents in waiting.items() if not parents & waiting.keys()]
        assert ready, f"tables refer to each other in a ring: {sorted(waiting)}"
        ordered += ready
        for table in ready:
            del waiting[table]
    return ordered


async def _must_be_empty(target: Connection, tables: list[str]) -> None:
    for table in tables:
        if await target.fetchval(f"SELECT EXISTS (SELECT 1 FROM {table})"):  # noqa: S608 - our own names
            raise NotPromoted(
                f"the target is not empty: its table {table} has rows. Name an empty database, "
                "so that nothing of yours is overwritten"
            )


def _must_match(source: sqlite3.Connection, tables: list[str]) -> None:
    rows = source.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    there = {name for (name,) in rows if not name.startswith("sqlite_")}
    strange, left = set(tables) - there, there - {*tables, LEDGER, *ENGINE_TABLES, "lane_turn"}
    if strange:
        raise NotPromoted(
            f"the target has tables that are not ours ({', '.join(sorted(strange))}), or the file is "
            "of an older version: name an empty database, and run `cadenza db upgrade` first"
        )
    if left:
        raise NotPromoted(
            f"the file has tables that this program does not know ({', '.join(sorted(left))}): "
            "promote with the version that wrote it"
        )


async def _columns(target: Connection, table: str) -> list[Column]:
    rows = await target.fetch(
        """
        SELECT attname, format_type(atttypid, NULL) AS type FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        ORDER BY attnum
        """,
        table,
    )
    return [Column(row["attname"], row["type"]) for row in rows]


async def _copy(
    source: sqlite3.Connection, target: Connection, table: str, columns: list[Column], tell: Tell
) -> None:
    total: int = source.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]  # noqa: S608 - our own names

    async def records() -> AsyncIterator[tuple[Any, ...]]:
        for number, row in enumerate(_rows(source, table, columns), start=1):
            if number % STEP == 0:
                tell(table, number, total)
            yield tuple(
                _to_postgres(value, column) for value, column in zip(row, columns, strict=True)
            )

    await target.copy_records_to_table(
        table, records=records(), columns=[column.name for column in columns], timeout=HOURS
    )
    tell(table, total, total)


def _rows(
    source: sqlite3.Connection, table: str, columns: list[Column]
) -> Iterator[tuple[Any, ...]]:
    names = ", ".join(f'"{column.name}"' for column in columns)
    yield from source.execute(f'SELECT {names} FROM "{table}"')  # noqa: S608 - our own names


def _to_postgres(value: Any, column: Column) -> Any:
    if value is None:
        return None
    match column.type:
        case "timestamp with time zone":
            return from_microseconds(value)
        case "boolean":
            return bool(value)
        case "date":
            return date.fromisoformat(value)
        case "double precision":
            return float(value)
        case _:
            return value


async def _compare(
    source: sqlite3.Connection, target: Connection, table: str, columns: list[Column]
) -> Checked:
    """Count and hash both sides; the order of rows does not matter."""
    before, after = Sum(), Sum()
    for row in _rows(source, table, columns):
        before.add([_to_postgres(v, c) for v, c in zip(row, columns, strict=True)])
    names = ", ".join(f'"{column.name}"' for column in columns)
    async for row in target.cursor(f'SELECT {names} FROM "{table}"', prefetch=STEP):  # noqa: S608 - our own names
        after.add(list(row.values()))
    if before != after:
        raise NotPromoted(
            f"the table {table} did not arrive as it left ({before.count} rows against {after.count}): "
            "nothing was changed; this is a fault of ours, please report it"
        )
    return Checked(table, before.count, before.digest)


@dataclass(slots=True)
class Sum:
    """Rows as a set: how many, and the sum of their hashes."""

    count: int = 0
    total: int = 0

    def add(self, row: list[Any]) -> None:
        """Add a row."""
        self.count += 1
        hashed = sha256(msgspec.json.encode(row)).digest()
        self.total = (self.total + int.from_bytes(hashed)) % 2**256

    @property
    def digest(self) -> str:
        """Name the set."""
        return f"{self.total:064x}"


def _retire(source: sqlite3.Connection, now: int) -> None:
    """Let the file send nothing any more, should somebody start on it by mistake."""
    source.execute(
        """
        INSERT INTO installation (id, lineage, beat_at, created_at, held_at, hold_kind, hold_reason)
        VALUES ('this', 'never started', :now, :now, :now, :kind, :message)
        ON CONFLICT (id) DO UPDATE SET held_at = :now, hold_kind = :kind, hold_reason = :message
        WHERE held_at IS NULL
        """,
        {
            "now": now,
            "kind": RESTORE,
            "message": "this database was promoted to PostgreSQL: run that one",
        },
    )
    source.execute("COMMIT")
