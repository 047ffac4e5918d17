"""Jobs in a SQLite file: one machine, as many processes as it has, every acknowledged write durable."""

from cadenza.engine.stores.sqlite.insert import insert_jobs
from cadenza.engine.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "insert_jobs"]
