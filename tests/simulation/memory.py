"""One database in memory for all worlds of a process: migrated once, emptied before each.

Preparing the product's statements again would cost more than all else in a seed. So the connection stays,
and so do its statements: nothing here touches a pragma, as each makes SQLite forget them all. Worlds of
one process come one after the other; a second one at the same time would share its rows.
"""

import sqlite3
from collections.abc import Callable
from functools import cache
from typing import Any

from cadenza.core.clock import Clock, SystemClock
from cadenza.db.open import migrations
from cadenza.db.schema import LINE
from cadenza.sql import errors
from cadenza.sql.sqlite import SqliteDatabase
from cadenza.sql.sqlite_connect import microseconds

Rows = dict[str, list[dict[str, object]]]


class Memory(SqliteDatabase):
    """A database that is handed from world to world."""

    def __init__(self) -> None:
        super().__init__(":memory:", clock=SystemClock())
        assert self._inline is not None
        self.raw: sqlite3.Connection = self._inline
        self.migrate(LINE, migrations())
        self._emptied = _children_first(self.raw)

    def start(self, clock: Clock) -> None:
        """Forget the world before."""
        self._clock = clock
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")
        self.raw.execute("BEGIN")
        for table in self._emptied:
            self.raw.execute(f"DELETE FROM {table}")
        self.raw.execute("COMMIT")

    def copy(self) -> Rows:
        """Return every row of every table."""
        return {table: self._rows(table) for table in self._emptied}

    def _rows(self, table: str) -> list[dict[str, object]]:
        cursor = self.raw.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def put_back(self, rows: Rows) -> None:
        """Be as the copy is."""
        self.raw.execute("BEGIN")
        for table in self._emptied:
            self.raw.execute(f"DELETE FROM {table}")
        for table in reversed(self._emptied):
            for row in rows[table]:
                values = ", ".join("?" * len(row))
                self.raw.execute(
                    f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})", [*row.values()]
                )
        self.raw.execute("COMMIT")

    def _read_inline(
        self, tx: sqlite3.Connection, operation: Callable[[sqlite3.Connection, int], Any]
    ) -> Any:
        before = tx.total_changes
        with errors.typed(self.path):
            result = operation(tx, microseconds(self._clock.now()))
        assert tx.total_changes == before, "a reading operation wrote"
        return result


@cache
def _memory() -> Memory:
    return Memory()


def lend(clock: Clock) -> Memory:
    """Hand out the process's database, empty."""
    memory = _memory()
    memory.start(clock)
    return memory


def _children_first(raw: sqlite3.Connection) -> list[str]:
    """Name the product's tables in an order in which all can be emptied."""
    rows = raw.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    names = [name for (name,) in rows if not name.startswith("sqlite_")]
    names = [name for name in names if name not in _kept(raw, names)]
    parents = {
        name: {row[2] for row in raw.execute(f"PRAGMA foreign_key_list({name})")} - {name}
        for name in names
    }
    ordered: list[str] = []
    while len(ordered) < len(names):
        free = [
            name
            for name in names
            if name not in ordered
            and not any(name in parents[other] for other in names if other not in (*ordered, name))
        ]
        assert free, "tables refer to each other in a ring"
        ordered += free
    return ordered


def _kept(raw: sqlite3.Connection, names: list[str]) -> set[str]:
    """Name the tables that the migrations themselves filled: their own book, and seeds of data."""
    return {name for name in names if raw.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchall()}
