"""The PostgreSQL store against the shipped conformance suite."""

from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from cadenza.engine.store import Store
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.testing.conformance import Conformance, Harness
from cadenza.engine.testing.postgres_clock import shift_clock_on, stop_clock_on


class TestPostgres(Conformance):
    @pytest.fixture
    async def harness(self, postgres_database: str) -> AsyncIterator[Harness]:
        store = PostgresStore(postgres_database)
        await store.open()
        hand = await asyncpg.connect(postgres_database)
        await stop_clock_on(hand)

        async def move(by: timedelta) -> None:
            await shift_clock_on(hand, by)

        async def open_peer() -> Store:
            peer = PostgresStore(postgres_database)
            await peer.open()
            return peer

        yield Harness(store, move, peer=open_peer)
        await hand.close()
        await store.close()
