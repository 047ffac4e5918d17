"""The MongoDB store against the shipped conformance suite."""

from collections.abc import AsyncIterator

import pytest

from cadenza.engine.store import Store
from cadenza.engine.testing.conformance import Conformance, Harness
from cadenza.engine.testing.mongo_clock import StoppedClockStore


class TestMongo(Conformance):
    @pytest.fixture
    async def harness(self, mongo_database: str) -> AsyncIterator[Harness]:
        store = StoppedClockStore(mongo_database)
        await store.open()

        async def open_peer() -> Store:
            peer = StoppedClockStore(mongo_database)
            await peer.open()
            return peer

        yield Harness(store, store.shift, peer=open_peer)
        await store.close()
