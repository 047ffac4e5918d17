"""Read the records of another scheduler from its database; nothing is written there.

Drivers are imported only when they are asked for.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

from cadenza.engine.classic.document import split_path
from cadenza.engine.errors import InvalidJob, StoreUnavailable, shown, unreadable
from cadenza.engine.stores.open import extra

Record = dict[str, Any]


async def from_mongodb(
    address: str, collection: str, where: Record | None = None
) -> AsyncIterator[Record]:
    """Read the documents of a collection, or those that a filter names, oldest first."""
    with extra("mongo", store="MongoDB"):
        from pymongo import AsyncMongoClient
        from pymongo.errors import ConfigurationError, InvalidURI, PyMongoError

    try:
        opened = AsyncMongoClient[Record](address, tz_aware=True, serverSelectionTimeoutMS=5000)
    except (InvalidURI, ValueError):
        raise InvalidJob(unreadable(address)) from None
    try:
        async with opened as client:
            try:
                database = client.get_default_database()
            except ConfigurationError as error:
                message = "the address names no database: say mongodb://HOST/DATABASE"
                raise InvalidJob(message) from error
            async for document in database[collection].find(where or {}).sort("_id", 1):
                yield document
    except PyMongoError as error:
        message = f"cannot read {collection} at {shown(address)}: {error}"
        raise StoreUnavailable(message) from error


async def from_pgboss(address: str, schema: str = "pgboss") -> tuple[list[Record], list[Record]]:
    """Read unfinished jobs and all schedules, each row as the JSON of its columns.

    With each schedule comes the row of its `queue`, whose options its jobs take.
    """
    import asyncpg

    if len(split_path(schema)) != 1:
        raise InvalidJob(f"{schema!r} is no schema name")
    try:
        try:
            connection = await asyncpg.connect(address)
        except ValueError:
            raise InvalidJob(unreadable(address)) from None
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                jobs = await connection.fetch(
                    f'SELECT row_to_json(j)::text FROM "{schema}".job j'  # noqa: S608 - the name is vetted
                    " WHERE state IN ('created', 'retry', 'active') ORDER BY created_on, id"
                )
                schedules = await connection.fetch(
                    f"SELECT (to_jsonb(s) || jsonb_build_object('queue', to_jsonb(q)))::text"  # noqa: S608 - as above
                    f' FROM "{schema}".schedule s LEFT JOIN "{schema}".queue q USING (name) ORDER BY name'
                )
        finally:
            await connection.close()
    except (asyncpg.PostgresError, OSError) as error:
        raise StoreUnavailable(f"cannot read pg-boss in schema {schema}: {error}") from error
    return [json.loads(row[0]) for row in jobs], [json.loads(row[0]) for row in schedules]
