"""Cadenza on SQLite at synchronous=FULL, finished jobs kept for a week."""

from datetime import timedelta

from bench.systems.cadenza_sqlite import CadenzaSqlite


class CadenzaSqliteKept(CadenzaSqlite):
    """Keeps what is finished."""

    keep_done = timedelta(days=7)


SYSTEM = CadenzaSqliteKept
