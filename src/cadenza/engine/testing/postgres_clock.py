"""Another clock for the engine's tables on PostgreSQL, for tests alone.

The store asks the function `cadenza_now` of its schema for the time. `shift_clock` puts one in its
place that is ahead of the server's clock by an offset kept in a table; it runs on at the
server's pace. Every process that uses the schema sees the new time, so take a schema of your own.
"""

from datetime import timedelta

import asyncpg

_TABLE = "CREATE TABLE IF NOT EXISTS {schema}.clock_shift (ahead interval NOT NULL)"
_FIRST = "INSERT INTO {schema}.clock_shift SELECT '0' WHERE NOT EXISTS (SELECT FROM {schema}.clock_shift)"
_CLOCK = """
CREATE OR REPLACE FUNCTION {schema}.cadenza_now() RETURNS timestamptz
LANGUAGE sql VOLATILE PARALLEL SAFE
AS 'SELECT clock_timestamp() + (SELECT ahead FROM {schema}.clock_shift)'
"""
_SHIFT = "UPDATE {schema}.clock_shift SET ahead = ahead + $1"


async def shift_clock(dsn: str, by: timedelta | float, *, schema: str = "cadenza") -> None:
    """Set the clock of a schema on by so much."""
    step = by if isinstance(by, timedelta) else timedelta(seconds=by)
    connection = await asyncpg.connect(dsn)
    try:
        if await connection.fetchval("SELECT to_regclass($1) IS NULL", f"{schema}.clock_shift"):
            async with connection.transaction():
                for statement in (_TABLE, _FIRST, _CLOCK):
                    await connection.execute(statement.format(schema=schema))
        await connection.execute(_SHIFT.format(schema=schema), step)
    finally:
        await connection.close()
