"""The table that tests of transactions write to."""

from __future__ import annotations

import sqlite3


def create_letters(tx: sqlite3.Connection, _now: int) -> None:
    tx.execute("CREATE TABLE letter (name TEXT PRIMARY KEY, at INTEGER NOT NULL DEFAULT 0)")
