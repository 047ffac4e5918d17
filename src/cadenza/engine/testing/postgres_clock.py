"""Another clock for the engine's tables on PostgreSQL, for tests alone.

The store asks the function `cadenza_now` of its schema for the time. `shift_clock` puts one in its
place that is ahead of the server's clock by an offset kept in a table; `stop_clock` makes it
stand at an instant until it is shifted. Every process that uses the schema sees the new time.
"""

from datetime import UTC, datetime, timedelta

import asyncpg

_START = datetime(2026, 1, 1, tzinfo=UTC)
_READY = "SELECT to_regclass($1) IS NOT NULL"
_TABLE = "CREATE TABLE {schema}.test_clock (ahead interval NOT NULL, stands_at timestamptz)"
_ROW = "INSERT INTO {schema}.test_clock VALUES ('0', NULL)"
_CLOCK = """
CREATE OR REPLACE FUNCTION {schema}.cadenza_now() RETURNS timestamptz
LANGUAGE sql VOLATILE PARALLEL SAFE
AS 'SELECT (SELECT coalesce(stands_at, clock_timestamp()) + ahead FROM {schema}.test_clock)'
"""
_SHIFT = "UPDATE {schema}.test_clock SET ahead = ahead + $1"
_STOP = "UPDATE {schema}.test_clock SET ahead = '0', stands_at = $1"


async def shift_clock(dsn: str, by: timedelta | float, *, schema: str = "cadenza") -> None:
    """Set the clock of a schema on by so much."""
    connection = await asyncpg.connect(dsn)
    try:
        await shift_clock_on(connection, by, schema=schema)
    finally:
        await connection.close()


async def shift_clock_on(
    connection: asyncpg.Connection, by: timedelta | float, *, schema: str = "cadenza"
) -> None:
    """Set the clock of a schema on by so much, over a connection at hand."""
    step = by if isinstance(by, timedelta) else timedelta(seconds=by)
    await _install(connection, schema)
    await connection.execute(_SHIFT.format(schema=schema), step)


async def stop_clock_on(
    connection: asyncpg.Connection, at: datetime = _START, *, schema: str = "cadenza"
) -> None:
    """Let the clock of a schema stand; only `shift_clock` moves it from now on."""
    await _install(connection, schema)
    await connection.execute(_STOP.format(schema=schema), at)


async def _install(connection: asyncpg.Connection, schema: str) -> None:
    if await connection.fetchval(_READY, f"{schema}.test_clock"):
        return
    async with connection.transaction():
        for statement in (_TABLE, _ROW, _CLOCK):
            await connection.execute(statement.format(schema=schema))
