"""Operations one after the other on a SQLite file, without threads or a loop: for thousands of small steps."""

import asyncio
import sqlite3
import tempfile
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TypeVar

from cadenza.core.clock import SystemClock
from cadenza.core.ids import CountedIds
from cadenza.db.open import open_product
from cadenza.deliveries.init_account import init_account
from cadenza.sql.transactions import _on_sqlite
from cadenza.sql.tx import Tx, to_microseconds
from tests.queues.conftest import HOME

T = TypeVar("T")


@cache
def _fresh() -> bytes:
    """A database without rows: made once, copied for each world."""

    async def migrate(path: Path) -> None:
        async with open_product(f"sqlite:///{path}", clock=SystemClock()):
            pass

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fresh.sqlite3"
        asyncio.run(migrate(path))
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.read_bytes()


class Inline:
    """A product database whose operations run here and now."""

    def __init__(self, folder: Path) -> None:
        path = folder / "inline.sqlite3"
        path.write_bytes(_fresh())
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA synchronous = OFF")
        self._ids = CountedIds("row")

    def run(self, operation: Callable[[Tx, datetime], T], now: datetime) -> T:
        self._connection.execute("BEGIN")
        try:
            answer = _on_sqlite(operation, self._ids)(self._connection, to_microseconds(now))
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return answer

    def close(self) -> None:
        self._connection.close()


def people(tx: Tx, now: datetime, accounts: dict[str, str]) -> None:
    """A workspace and accounts, each with its zone."""
    tx.run(
        "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, 'Ada', 'UTC', :now)",
        id=HOME,
        now=now,
    )
    for account, zone in accounts.items():
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
            VALUES (:home, :id, 'simulated', :id, :zone, :now)
            """,
            home=HOME,
            id=account,
            zone=zone,
            now=now,
        )
        init_account(tx, now, workspace_id=HOME, account_id=account)
