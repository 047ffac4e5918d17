"""Another clock for the engine's scripts on Redis, for tests alone.

`StoppedClockStore` is a `RedisStore` whose scripts read a key instead of the server's time; only
`shift` moves it. Every process that uses the prefix with this class sees the same time.
"""

from datetime import UTC, datetime, timedelta

from cadenza.engine.stores.redis import RedisStore
from cadenza.engine.stores.redis.pack import micros, stamp

_START = datetime(2026, 1, 1, tzinfo=UTC)
_KEY = "cadenza test clock"


class StoppedClockStore(RedisStore):
    """Jobs in Redis at a time that stands still."""

    lua_clock = f"local now = tonumber(redis.call('GET', '{_KEY}') or {stamp(_START)})"

    async def shift(self, by: timedelta) -> None:
        """Set the clock on by so much."""
        await self._wire.ask("SET", _KEY, stamp(_START), "NX")
        await self._wire.ask("INCRBY", _KEY, micros(by))
