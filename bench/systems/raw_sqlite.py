"""The limit on SQLite: a bare loop in batches of 1,000, WAL and synchronous=FULL.

One transaction leases a batch, one deletes it. It polls every 2 ms when idle, because SQLite
cannot notify another process; so its idle CPU is no limit to compare with.
"""

import asyncio
import signal
import sqlite3
import time

from bench import payload
from bench.adapter import Adapter, Handle, Ready

BATCH = 1_000
POLL = 0.002
CREATE = """
CREATE TABLE job (id INTEGER PRIMARY KEY, state INTEGER NOT NULL DEFAULT 0, run_at INTEGER NOT NULL,
                  leased_until INTEGER, payload TEXT NOT NULL);
CREATE INDEX job_due ON job (run_at, id) WHERE state = 0;
"""
ADD = "INSERT INTO job (run_at, payload) VALUES (?, ?)"
CLAIM = """
UPDATE job SET state = 1, leased_until = ?1 + 60000000
WHERE id IN (SELECT id FROM job WHERE state = 0 AND run_at <= ?1 ORDER BY run_at, id LIMIT ?2)
RETURNING id, payload"""


def connect(path: str) -> sqlite3.Connection:
    """Open the file at the durability that the comparison is made at."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=10)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def micros() -> int:
    """Return the wall clock in microseconds."""
    return time.time_ns() // 1_000


class RawSqlite(Adapter):
    """Deletes what is finished."""

    settle = "DELETE FROM job WHERE id = ?"

    async def setup(self) -> None:
        """Create the one table."""
        connect(self.place.file).executescript(CREATE)

    async def open(self) -> None:
        """Connect once."""
        self.connection = connect(self.place.file)

    async def enqueue_one(self, number: int) -> None:
        """Insert in its own transaction."""
        self.connection.execute(ADD, (micros(), payload.text(number)))

    async def enqueue_bulk(self, numbers: range, due: float | None = None) -> None:
        """Insert all in one transaction."""
        at = micros() if due is None else int(due * 1e6)
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(ADD, ((at, payload.text(n)) for n in numbers))
        self.connection.execute("COMMIT")

    async def enqueue_at(self, number: int, due: float) -> None:
        """Insert with a due time."""
        self.connection.execute(ADD, (int(due * 1e6), payload.text(number)))

    async def left(self) -> int:
        """Count rows not done."""
        return self.connection.execute("SELECT count(*) FROM job WHERE state < 2").fetchone()[0]

    async def close(self) -> None:
        """Disconnect."""
        self.connection.close()

    async def work(self, handle: Handle, ready: Ready) -> None:
        """Claim, handle, settle; poll when idle."""
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        connection = connect(self.place.file)
        ready()
        while not stop.is_set():
            connection.execute("BEGIN IMMEDIATE")
            rows = connection.execute(CLAIM, (micros(), BATCH)).fetchall()
            connection.execute("COMMIT")
            for _, text in rows:
                handle(payload.number_of(text))
            if rows:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany(self.settle, ((row[0],) for row in rows))
                connection.execute("COMMIT")
            await asyncio.sleep(0 if rows else POLL)


SYSTEM = RawSqlite
