"""The SQLite store against the shipped conformance suite: on a file, and in memory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cadenza.engine.store import Store
from cadenza.engine.stores.sqlite import SqliteStore
from cadenza.engine.testing.clock import VirtualClock
from cadenza.engine.testing.conformance import Conformance, Harness


class TestSqlite(Conformance):
    @pytest.fixture
    async def harness(self, tmp_path: Path) -> AsyncIterator[Harness]:
        clock = VirtualClock()
        path = str(tmp_path / "jobs.db")

        async def open_store() -> Store:
            store = SqliteStore(path, clock=clock)
            await store.open()
            return store

        store = await open_store()
        yield Harness(store, clock.shift, peer=open_store)
        await store.close()


class TestSqliteInMemory(Conformance):
    """The simulator's way: inline, on the caller's thread."""

    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        clock = VirtualClock()
        store = SqliteStore(":memory:", clock=clock)
        await store.open()
        yield Harness(store, clock.shift)
        await store.close()
