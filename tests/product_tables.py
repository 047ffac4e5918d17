"""The product's tables and their columns, read from a database that all migrations made: renames are in it."""

import sqlite3
from contextlib import closing
from functools import cache

from cadenza.db.open import migrations
from cadenza.sql.migrate import LEDGER, migrate_sqlite


@cache
def product_tables() -> dict[str, set[str]]:
    """Name each table with its columns."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate_sqlite(connection, "product", migrations(), now=1)
        named = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        names = [name for (name,) in named if name != LEDGER]
        return {
            name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
            for name in names
        }
