"""The Redis store against the shipped conformance suite."""

from collections.abc import AsyncIterator, Iterator

import pytest

from cadenza.engine.store import Store
from cadenza.engine.testing.conformance import Conformance, Harness
from cadenza.engine.testing.redis_clock import StoppedClockStore
from tests.servers.valkey import PrivateValkey


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateValkey]:
    with PrivateValkey.create(options={"appendonly": "yes", "appendfsync": "always"}) as server:
        yield server


class TestRedis(Conformance):
    @pytest.fixture
    async def harness(self, server: PrivateValkey) -> AsyncIterator[Harness]:
        server.flush()
        store = StoppedClockStore(server.unix_url)
        await store.open()

        async def open_peer() -> Store:
            peer = StoppedClockStore(server.unix_url)
            await peer.open()
            return peer

        yield Harness(store, store.shift, peer=open_peer)
        await store.close()
