"""The Redis store: all decisions in scripts on the server, see store.py and lua/."""

from cadenza.engine.stores.redis.store import RedisStore

__all__ = ["RedisStore"]
