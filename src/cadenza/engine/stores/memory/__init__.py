"""The reference store: see store.py."""

from cadenza.engine.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
