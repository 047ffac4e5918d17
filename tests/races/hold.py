"""A third connection that holds a row, so that two others meet at it in a known order."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
PATIENCE = 20.0  # seconds


@dataclass(frozen=True, slots=True)
class Holder:
    """Holds rows, and proves that somebody waits."""

    holding: asyncpg.Connection
    watching: asyncpg.Connection

    @asynccontextmanager
    async def hold(self, query: str, *arguments: object) -> AsyncGenerator[None]:
        """Hold the rows of a query until the block ends."""
        async with self.holding.transaction():
            assert await self.holding.fetch(f"{query} FOR UPDATE", *arguments)
            yield

    async def prove_waiting(self, count: int) -> None:
        """Return once so many sessions wait for a lock; fail if they never do."""
        async with asyncio.timeout(PATIENCE):
            while (await self.watching.fetchval(WAITING) or 0) < count:
                await asyncio.sleep(0.005)
