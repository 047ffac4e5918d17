"""Jobs in PostgreSQL; see `store.py`."""

from cadenza.engine.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
