"""The product's tables are found in their schema, by whatever user and over whatever search path."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from urllib.parse import urlsplit

import asyncpg
import pytest

from cadenza.core.clock import SystemClock
from cadenza.db.open import migrations, open_product
from cadenza.db.schema import LINE, connect_product
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.sql.migrate import SchemaMismatch, migrate_postgres
from tests.servers.postgres import PrivatePostgres

USER = "cadenza"  # as the engine's schema
PERSON = """
INSERT INTO {schema}.person (id, email, name, password, created_at, password_changed_at)
VALUES ('{id}', '{id}@example.org', '{id}', 'x', now(), now())
"""


@pytest.fixture
async def admin(
    postgres: PrivatePostgres, postgres_database: str
) -> AsyncIterator[asyncpg.Connection]:
    """The owner of the server; the user that the tests name is there, and owns the database."""
    connection = await asyncpg.connect(postgres_database)
    with suppress(asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):  # another test's
        await connection.execute(f"CREATE ROLE {USER} LOGIN")
    name = urlsplit(postgres_database).path.removeprefix("/")
    await connection.execute(f"ALTER DATABASE {name} OWNER TO {USER}")
    yield connection
    await connection.close()


@pytest.fixture
def address(admin: asyncpg.Connection, postgres_database: str) -> str:
    return postgres_database.replace("postgres@", f"{USER}@")


async def start(address: str) -> str:
    """Open the product, then the engine, as a process does; return the schema of the product's tables."""
    async with open_product(address, clock=SystemClock()) as product:
        store = PostgresStore(address, clock=SystemClock())
        await store.open()
        await store.close()
        return await product.read(lambda tx, now: tx.value("SELECT current_schema()"))


async def lay_tables(admin: asyncpg.Connection, schema: str) -> None:
    """Make the product's tables in a schema, as programs did that took the one the search path began with."""
    await admin.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    await admin.execute(f"SET search_path = {schema}")
    await migrate_postgres(admin, LINE, migrations(), now=0)
    await admin.execute("RESET search_path")
    await admin.execute(f"GRANT ALL ON SCHEMA {schema} TO {USER}")
    await admin.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {USER}")


async def move_in(admin: asyncpg.Connection, schema: str, id: str = "ada") -> None:
    await admin.execute(PERSON.format(schema=schema, id=id))


async def test_a_new_installation_leaves_the_engines_schema_to_the_engine(address: str) -> None:
    assert [await start(address) for _ in range(3)] == ["public"] * 3


async def test_processes_that_start_at_once_agree(address: str) -> None:
    assert set(await asyncio.gather(*(start(address) for _ in range(4)))) == {"public"}


async def test_a_schema_of_the_users_own_name_is_taken_before_public(
    address: str, admin: asyncpg.Connection
) -> None:
    """A server that is set up so that nobody writes to `public`."""
    await admin.execute("REVOKE ALL ON SCHEMA public FROM public, pg_database_owner")
    await admin.execute(f"CREATE SCHEMA {USER} AUTHORIZATION {USER}")
    assert [await start(address) for _ in range(2)] == [USER] * 2


async def test_the_path_that_a_role_is_given_chooses_for_a_new_installation(
    address: str, admin: asyncpg.Connection
) -> None:
    await admin.execute(f"CREATE SCHEMA app AUTHORIZATION {USER}")
    name = await admin.fetchval("SELECT current_database()")
    await admin.execute(f"ALTER ROLE {USER} IN DATABASE {name} SET search_path = app")
    assert await start(address) == "app"
    await admin.execute(f"ALTER ROLE {USER} IN DATABASE {name} RESET search_path")
    assert await start(address) == "app", "found again where the setting was lost, as by a restore"


@pytest.mark.parametrize("lived_in", ["public", "cadenza"])
async def test_tables_that_were_made_twice_are_used_where_people_are(
    lived_in: str, address: str, admin: asyncpg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    for schema in ("public", "cadenza"):
        await lay_tables(admin, schema)
    await move_in(admin, lived_in)
    with caplog.at_level(logging.WARNING):
        assert await start(address) == lived_in
    assert f"the schema {lived_in} are used" in caplog.text


async def test_people_in_both_are_not_guessed_about(
    address: str, admin: asyncpg.Connection
) -> None:
    for schema in ("public", "cadenza"):
        await lay_tables(admin, schema)
        await move_in(admin, schema)
    with pytest.raises(SchemaMismatch, match=r"cadenza and public.*search_path=cadenza"):
        await start(address)
    assert await start(f"{address}&search_path=public") == "public"
    assert await start(f"{address}&search_path=cadenza") == "cadenza"


async def test_two_installations_are_told_apart_by_the_path_of_their_roles(
    address: str, admin: asyncpg.Connection
) -> None:
    for schema in ("public", "app"):
        await lay_tables(admin, schema)
        await move_in(admin, schema)
    name = await admin.fetchval("SELECT current_database()")
    await admin.execute(f"ALTER ROLE {USER} IN DATABASE {name} SET search_path = app")
    assert await start(address) == "app"


async def test_an_address_that_names_no_schema_is_refused(address: str) -> None:
    with pytest.raises(SchemaMismatch, match="CREATE SCHEMA"):
        await start(f"{address}&search_path=nowhere")


async def test_every_connection_begins_in_the_same_schema(
    address: str, admin: asyncpg.Connection
) -> None:
    await start(address)
    server = await connect_product(address, clock=SystemClock(), spare=3)
    try:
        await admin.execute("CREATE TABLE cadenza.person (id text)")
        own = await server.connect()
        assert await own.fetchval("SHOW search_path") == '"public"'
        await own.execute("DISCARD ALL")  # what a pooler does between two clients
        assert await own.fetchval("SELECT 'person'::regclass::oid") == await admin.fetchval(
            "SELECT 'public.person'::regclass::oid"
        )
        await own.close()
    finally:
        await server.close()
