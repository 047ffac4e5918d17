"""PostgreSQL and the reference at equal instants: a clock that stands until it is moved."""

from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.testing.conformance import Harness
from cadenza.engine.testing.conformance.differential import Differing

FREEZE = """
CREATE TABLE cadenza.frozen_clock AS SELECT date_trunc('hour', clock_timestamp()) AS instant;
CREATE OR REPLACE FUNCTION cadenza.cadenza_now() RETURNS timestamptz
LANGUAGE sql VOLATILE PARALLEL SAFE AS 'SELECT instant FROM cadenza.frozen_clock';
"""
MOVE = "UPDATE cadenza.frozen_clock SET instant = instant + $1"


class TestPostgres(Differing):
    @pytest.fixture
    async def harness(self, postgres_database: str) -> AsyncIterator[Harness]:
        store = PostgresStore(postgres_database)
        await store.open()
        connection = await asyncpg.connect(postgres_database)
        await connection.execute(FREEZE)

        async def move(by: timedelta) -> None:
            await connection.execute(MOVE, by)

        yield Harness(store, move)
        await connection.close()
        await store.close()
