"""One server and the lines to it, made as they are needed.

The driver makes each connection (TLS, password, database), then it is ours (see line.py). Limit:
with all lines busy, commands go out behind one another.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Self

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import Connection, UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError
from redis.exceptions import ConnectionError as Cut
from redis.exceptions import TimeoutError as Late

from cadenza.engine.errors import InvalidJob, unreadable
from cadenza.engine.stores.redis.line import RedisConnectionLine

CONNECT = 5.0  # seconds for a connection
LINES = 8  # of which one is free, as a rule
_AWAY = (Cut, Late, OSError, EOFError, BusyLoadingError)


class Unsent(Exception):
    """Nothing reached the server."""


class Node:
    """A server."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._lines: list[RedisConnectionLine] = []

    @classmethod
    def at(cls, address: str) -> Self:
        """Name a server by its address; nothing is connected yet."""
        try:
            # No timeout of the driver's own: it would swallow a cancel now and then.
            pool = ConnectionPool.from_url(
                address, socket_timeout=None, retry=Retry(NoBackoff(), 0), client_name="cadenza"
            )
        except ValueError:
            raise InvalidJob(unreadable(address)) from None
        return cls(pool)

    def beside(self, host: str, port: int) -> "Node":
        """Name another node of this one's cluster, to be spoken to in the same way."""
        said = {key: value for key, value in self._pool.connection_kwargs.items() if key != "path"}
        kind = self._pool.connection_class
        if issubclass(kind, UnixDomainSocketConnection):
            kind = Connection
        host = host or said.get("host", "localhost")  # a node may not know its own name
        return Node(ConnectionPool(connection_class=kind, **{**said, "host": host, "port": port}))

    async def line(self) -> RedisConnectionLine:
        """Return a line that nobody waits on, or, when there are enough, the least busy one."""
        if any(line.lost.is_set() for line in self._lines):
            self._lines = [line for line in self._lines if not line.lost.is_set()]
        for line in self._lines:
            if not line.load:
                return line
        if len(self._lines) >= LINES:
            return min(self._lines, key=lambda line: line.load)
        line = await self.open_line()
        self._lines.append(line)
        return line

    async def open_line(self, heard: Callable[[Any], None] | None = None) -> RedisConnectionLine:
        """Connect; with `heard` for a line of the caller's own, which closes it."""
        connection = self._pool.make_connection()
        try:
            async with asyncio.timeout(CONNECT):
                await connection.connect()
        except _AWAY as error:
            raise Unsent from error
        return RedisConnectionLine(connection, heard)

    async def close(self) -> None:
        """Let go of every connection."""
        for line in self._lines:
            line.close()
        for line in self._lines:
            await line.lost.wait()
        self._lines.clear()
