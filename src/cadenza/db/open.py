"""From an address to the product's database, brought up to date."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.resources import files

from cadenza.core.clock import Clock
from cadenza.core.ids import Ids
from cadenza.db.schema import LINE, connect_product
from cadenza.sql.migrate import Migration, migrate_postgres, read_migrations
from cadenza.sql.postgres import PLANS_KEPT
from cadenza.sql.sqlite import SqliteDatabase
from cadenza.sql.sqlite_hazards import refuse_network_disk
from cadenza.sql.transactions import SYSTEM_IDS, Operations, PostgresOperations, SqliteOperations
from cadenza.sql.tx import to_microseconds

log = logging.getLogger("cadenza.db")
SPARE = 16  # connections for requests and jobs; made when first needed, the last used first


def migrations() -> tuple[Migration, ...]:
    """Read the product's numbered migrations."""
    # Nothing is released yet, and packages land in any order: the first release closes the gaps.
    return read_migrations(files("cadenza.db") / "migrations", gaps=True)


@asynccontextmanager
async def open_product(
    address: str, *, clock: Clock, ids: Ids = SYSTEM_IDS
) -> AsyncGenerator[Operations]:
    """Open `sqlite:///path` (or `sqlite:///:memory:`) or `postgresql://…` for product operations."""
    if address.startswith("sqlite:///"):
        path = address.removeprefix("sqlite:///")
        refuse_network_disk(path)
        with SqliteDatabase(path, clock=clock) as file:
            for warning in file.hazards().warnings:
                log.warning(warning)
            file.migrate(LINE, migrations())
            yield SqliteOperations(file, ids)
        return
    server = await connect_product(address, clock=clock, spare=SPARE, plans_kept=PLANS_KEPT)
    try:
        now = to_microseconds(clock.now())
        await server.run(
            lambda connection: migrate_postgres(connection, LINE, migrations(), now=now)
        )
        yield PostgresOperations(server, ids)
    finally:
        await server.close()
