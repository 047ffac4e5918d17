"""What the way into a transaction costs: `python bench/seam.py` prints the table of record 0001.

SQLite: one insert per operation at synchronous=FULL, raw, through our writer thread, and through
SQLAlchemy with aiosqlite. PostgreSQL (a private server, fsync on): a four-statement operation on
raw asyncpg and through SQLAlchemy's `run_sync`. Numbers of a shared machine: read the ratios.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import asyncpg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cadenza.core.clock import SystemClock
from cadenza.sql.sqlite import SqliteDatabase
from tests.servers.postgres import PrivatePostgres

SECONDS = 2.0
LETTERS = sa.Table(
    "letter",
    sa.MetaData(),
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("account", sa.Integer),
    sa.Column("at", sa.BigInteger),
)
CREATE = "CREATE TABLE letter (id {key} PRIMARY KEY, account INTEGER, at BIGINT)"


def show(what: str, callers: int, rate: float) -> None:
    print(f"{what:<46} {callers:>4} callers {rate:>9,.0f} operations/s", flush=True)


async def measure(what: str, callers: int, operation: Callable[[], Awaitable[object]]) -> None:
    done = 0
    end = time.perf_counter() + SECONDS

    async def one() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await operation()
            done += 1

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(callers)))
    show(what, callers, done / (time.perf_counter() - started))


def insert(tx: sqlite3.Connection, now: int) -> None:
    tx.execute("INSERT INTO letter (account, at) VALUES (1, ?)", (now,))


def measure_raw_sqlite(folder: Path) -> None:
    tx = sqlite3.connect(folder / "raw.db", isolation_level=None)
    tx.execute("PRAGMA journal_mode=WAL")
    tx.execute("PRAGMA synchronous=FULL")
    tx.execute(CREATE.format(key="INTEGER"))
    done, started = 0, time.perf_counter()
    while (now := time.perf_counter()) < started + SECONDS:
        tx.execute("BEGIN IMMEDIATE")
        insert(tx, int(now))
        tx.execute("COMMIT")
        done += 1
    show("sqlite3, one commit each, no event loop", 1, done / (time.perf_counter() - started))
    tx.close()


async def measure_writer(folder: Path) -> None:
    with SqliteDatabase(str(folder / "ours.db"), clock=SystemClock()) as database:
        database.run_sync(lambda tx, _now: tx.execute(CREATE.format(key="INTEGER")) and None)
        for callers in (1, 20, 200):
            await measure("our writer thread", callers, lambda: database.run(insert))


async def measure_aiosqlite(folder: Path) -> None:
    engine = create_async_engine(f"sqlite+aiosqlite:///{folder / 'alchemy.db'}", pool_size=5)

    @sa.event.listens_for(engine.sync_engine, "connect")
    def _settings(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @sa.event.listens_for(engine.sync_engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    async def operation() -> None:
        async with engine.begin() as tx:
            await tx.execute(sa.insert(LETTERS).values(account=1, at=1))

    async with engine.begin() as tx:
        await tx.exec_driver_sql(CREATE.format(key="INTEGER"))
    for callers in (1, 20):
        await measure("SQLAlchemy + aiosqlite", callers, operation)
    await engine.dispose()


async def four_raw(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    async with connection.transaction():
        await connection.fetchval("SELECT pg_advisory_xact_lock($1)", 1)
        now = await connection.fetchval(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1e6)::bigint"
        )
        await connection.fetchval("SELECT max(at) FROM letter WHERE id > $1", 1_000_000_000)
        await connection.execute("INSERT INTO letter (account, at) VALUES ($1, $2)", 1, now)


def four_core(tx: sa.Connection) -> None:
    tx.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.bindparam("key", 1, sa.BigInteger))))
    now = tx.scalar(sa.text("SELECT (extract(epoch FROM clock_timestamp()) * 1e6)::bigint"))
    tx.scalar(sa.select(sa.func.max(LETTERS.c.at)).where(LETTERS.c.id > 1_000_000_000))
    tx.execute(sa.insert(LETTERS).values(account=1, at=now).return_defaults(LETTERS.c.id))


async def measure_postgres() -> None:
    with PrivatePostgres.create(fsync=True) as server:
        connection = await asyncpg.connect(server.dsn)
        await connection.execute(CREATE.format(key="BIGSERIAL"))
        await measure("asyncpg, 4 statements", 1, lambda: four_raw(connection))
        engine = create_async_engine(
            server.dsn.replace("postgresql://", "postgresql+asyncpg://", 1)
        )

        async def through_core() -> None:
            async with engine.begin() as tx:
                await tx.run_sync(four_core)

        await measure("SQLAlchemy Core run_sync, 4 statements", 1, through_core)
        await engine.dispose()
        await connection.close()


def main() -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        place = Path(folder)
        measure_raw_sqlite(place)
        asyncio.run(measure_writer(place))
        asyncio.run(measure_aiosqlite(place))
    asyncio.run(measure_postgres())


if __name__ == "__main__":
    main()
