"""Another clock for the engine on MongoDB, for tests alone.

`StoppedClockStore` is a `MongoStore` that reads a document instead of the server's time; only
`shift` moves it. Every process that uses the prefix with this class sees the same time.
"""

from datetime import UTC, datetime, timedelta

from cadenza.core.clock import Clock
from cadenza.engine.stores.mongo import MongoStore
from cadenza.engine.stores.mongo.connection import MongoConnection

_START = datetime(2026, 1, 1, tzinfo=UTC)


class _StoppedGround(MongoConnection):
    async def now(self) -> datetime:
        found = await self.counters.find_one({"_id": "test clock"})
        return _START if found is None else _START + timedelta(microseconds=found["last"])


class StoppedClockStore(MongoStore):
    """Jobs in MongoDB at a time that stands still."""

    def _make_connection(
        self, address: str, *, prefix: str | None, clock: Clock | None
    ) -> MongoConnection:
        return _StoppedGround(address, prefix=prefix, clock=clock)

    async def shift(self, by: timedelta) -> None:
        """Set the clock on by so much."""
        await self._connection.number("test clock", by // timedelta(microseconds=1))
