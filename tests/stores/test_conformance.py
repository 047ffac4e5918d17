"""The memory store against the shipped conformance suite; the others run it in files of their own."""

from collections.abc import AsyncIterator

import pytest

from cadenza.engine.stores.memory import MemoryStore
from cadenza.engine.testing.clock import VirtualClock
from cadenza.engine.testing.conformance import Conformance, Harness


class TestMemory(Conformance):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        clock = VirtualClock()
        store = MemoryStore(clock=clock)
        await store.open()
        yield Harness(store, clock.shift)
        await store.close()
