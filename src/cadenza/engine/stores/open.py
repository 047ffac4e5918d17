"""From an address to a store; drivers are imported only when they are asked for.

Redis and MongoDB are extras: where their driver is missing, the refusal says what to install.
"""

from collections.abc import Generator
from contextlib import contextmanager

from cadenza.core.clock import Clock
from cadenza.engine.errors import InvalidJob, MissingTrait, shown
from cadenza.engine.store import Store


@contextmanager
def extra(name: str, *, store: str) -> Generator[None]:
    """Import a driver that may not be installed; say how to install it where it is not."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("cadenza"):
            raise
        message = (
            f"{store} needs the package {error.name!r}, which is not installed: "
            f"pip install 'cadenza[{name}]'"
        )
        raise MissingTrait(message) from error


def open_store(address: str, *, clock: Clock) -> Store:
    """Make the store that an address names: memory://, sqlite:///path, postgresql://…, redis://…, mongodb://…"""
    scheme, separator, rest = address.partition("://")
    match scheme:
        case "memory" if separator:
            from cadenza.engine.stores.memory import MemoryStore

            return MemoryStore(clock=clock)
        case "sqlite" if rest.startswith("/") and len(rest) > 1:
            from cadenza.engine.stores.sqlite import SqliteStore

            return SqliteStore(rest[1:], clock=clock)
        case "postgresql" | "postgres" if separator:
            from cadenza.engine.stores.postgres import PostgresStore

            return PostgresStore(address, clock=clock)
        case "redis" | "rediss" | "valkey" | "valkeys" | "unix" if separator:
            with extra("redis", store="Redis"):
                from cadenza.engine.stores.redis import RedisStore

            return RedisStore(f"{scheme.replace('valkey', 'redis')}://{rest}", clock=clock)
        case "mongodb" | "mongodb+srv" if separator:
            with extra("mongo", store="MongoDB"):
                from cadenza.engine.stores.mongo import MongoStore

            return MongoStore(address, clock=clock)
        case _:
            message = (
                f"cannot open a store at {shown(address)!r}: say memory://, sqlite:///relative/path.sqlite3, "
                "sqlite:////absolute/path.sqlite3, postgresql://user@host/database, "
                "redis://host:6379/0 or mongodb://host/database"
            )
            raise InvalidJob(message)
