"""The classic interface: run the rows of a table that is already yours, by one time column.

    python examples/classic.py

Lock the row that is due, handle it, write its next time. Several schedulers, here or elsewhere,
may work on one table; each row is handled by one of them.
"""

import asyncio
import tempfile
from pathlib import Path

from cadenza.core.clock import SystemClock
from cadenza.engine.classic import ClassicSqliteTable, Document, Scheduler
from cadenza.sql.sqlite import SqliteDatabase

TABLE = """CREATE TABLE chores (
    id INTEGER PRIMARY KEY, name TEXT, sleep_until INTEGER,  -- milliseconds since 1970
    interval TEXT, repeat_until INTEGER, auto_remove INTEGER, owner TEXT)"""
CHORES = [
    ("once, then it removes itself", 0, None, True, "ada"),
    ("every second", 0, "* * * * * *", False, "ada"),
    ("not ours", 0, None, False, "ben"),
]


async def handle(chore: Document) -> None:
    print(f"  {chore.data['name']}")


async def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteDatabase(str(Path(folder) / "home.sqlite3"), clock=SystemClock()) as database,
    ):
        await database.run(lambda tx, _: tx.execute(TABLE))
        await database.run(
            lambda tx, _: tx.executemany(
                "INSERT INTO chores (name, sleep_until, interval, auto_remove, owner)"
                " VALUES (?, ?, ?, ?, ?)",
                CHORES,
            )
        )
        scheduler = Scheduler(
            ClassicSqliteTable(database, "chores", condition={"owner": "ada"}),
            on_document=handle,
            on_idle=lambda: print("  (idle)"),
            idle_delay=0.2,
        )
        await scheduler.start()
        await asyncio.sleep(2.5)
        await scheduler.stop()
        rows = await database.read(lambda tx, _: tx.execute("SELECT name FROM chores").fetchall())
        print(f"left in the table: {', '.join(name for (name,) in rows)}")


if __name__ == "__main__":
    asyncio.run(main())
