"""Finds the PostgreSQL schema that holds the product's tables, so that every connection names it.

PostgreSQL's usual search path begins with the schema of the user's name. A user named `cadenza` would so
find the engine's schema first as soon as the engine has made it: the product's tables would be made there
a second time, empty. So the schema is looked up once, by the ledger of migrations, and each connection
is opened with it as its whole search path. Limit: an address that says `?search_path=…` is believed.
"""

import logging

import asyncpg

from cadenza.core.clock import Clock
from cadenza.sql.migrate import LEDGER, SchemaMismatch
from cadenza.sql.postgres import Connection, PostgresDatabase

log = logging.getLogger("cadenza.db")
LINE = "product"
ENGINE_SCHEMA = "cadenza"  # where the engine's store makes its tables unless told otherwise
USUAL = "public"

_LEDGERS = """
SELECT nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relname = $1 AND relkind = 'r'
  AND has_schema_privilege(nspname, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT')
"""
# Where a new installation goes: what the search path offers, the engine's own schema last.
_OFFERED = """
SELECT name FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place)
WHERE has_schema_privilege(name, 'CREATE') ORDER BY name = $1, place LIMIT 1
"""
_BY_ADDRESS = "SELECT source = 'client' FROM pg_settings WHERE name = 'search_path'"
_FIRST = "SELECT current_schema()"
_SET = "SELECT current_schema() FROM pg_settings WHERE name = 'search_path' AND source <> 'default'"


async def connect_product(
    address: str, *, clock: Clock, spare: int = 1, plans_kept: float | None = None
) -> PostgresDatabase:
    """Open a server with the product's schema as the whole search path of every connection."""
    plain = PostgresDatabase(address, spare=1, clock=clock)
    await plain.open()
    try:
        schema = await plain.run(find_schema, again=True)
    finally:
        await plain.close()
    server = PostgresDatabase(
        address,
        spare=spare,
        plans_kept=plans_kept,
        session={"search_path": search_path(schema)},
        clock=clock,
    )
    await server.open()
    if await server.run(lambda connection: connection.fetchval(_FIRST), again=True) != schema:
        await server.close()
        raise SchemaMismatch(
            f"Connections do not begin in the schema {schema}, which holds the tables: either it does not"
            " exist, or something before the database (a pooler?) drops search_path. Name the server itself."
        )
    return server


def search_path(schema: str) -> str:
    """Write the search path that finds this schema's tables and no others."""
    return _quote(schema)


def _quote(schema: str) -> str:
    return '"' + schema.replace('"', '""') + '"'


async def find_schema(connection: Connection) -> str:
    """Name the schema that holds the product's tables, or that they are to be made in."""
    if await connection.fetchval(_BY_ADDRESS):
        return await _named(connection)
    rows = await connection.fetch(_LEDGERS, LEDGER)
    made = {row["nspname"]: await _made_at(connection, row["nspname"]) for row in rows}
    found = sorted((at, schema) for schema, at in made.items() if at is not None)
    if not found:
        return await connection.fetchval(_OFFERED, ENGINE_SCHEMA) or USUAL
    if len(found) > 1:
        return await _choose(connection, [schema for _, schema in found])
    return found[0][1]


async def _named(connection: Connection) -> str:
    schema = await connection.fetchval(_FIRST)
    if schema is None:
        raise SchemaMismatch(
            "The search_path in the database's address names no schema that exists:"
            " make it with CREATE SCHEMA, or leave search_path out."
        )
    return schema


async def _made_at(connection: Connection, schema: str) -> int | None:
    """Say when the product's tables were made in a schema, if they were."""
    sql = f"SELECT min(applied_at) FROM {_quote(schema)}.{LEDGER} WHERE line = $1"  # noqa: S608 - quoted
    return await connection.fetchval(sql, LINE)


async def _choose(connection: Connection, schemas: list[str]) -> str:
    """Choose between tables that were made twice: those with people in them, else the first made."""
    lived_in = [schema for schema in schemas if await _has_people(connection, schema)]
    if len(lived_in) > 1:
        named = await connection.fetchval(
            _SET
        )  # for the role or the database, by who runs the server
        if named in lived_in:
            return named
        first = lived_in[0]
        raise SchemaMismatch(
            f"There are two installations in this database, with people in both: in the schemas"
            f" {' and '.join(lived_in)}. Say which one is meant at the end of the database's address, for"
            f" example ?search_path={first}. The table person of each shows who is there."
        )
    chosen = lived_in[0] if lived_in else schemas[0]
    left = ", ".join(schema for schema in schemas if schema != chosen)
    log.warning("the tables in the schema %s are used; those in %s are not", chosen, left)
    return chosen


async def _has_people(connection: Connection, schema: str) -> bool:
    try:
        sql = f"SELECT EXISTS (SELECT 1 FROM {_quote(schema)}.person)"  # noqa: S608 - quoted
        return bool(await connection.fetchval(sql))
    except asyncpg.UndefinedTableError:
        return False  # older than people are, or half removed
