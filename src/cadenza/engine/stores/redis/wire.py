"""Commands to a Redis or Valkey server, or to a cluster of them, and what to do when it is away.

A command that surely never reached the server is tried again, with growing pauses, until the
patience is used up; one that may have reached it only if doing it twice does no harm. All that a
caller sees of an outage is `StoreUnavailable`. Limit: in a cluster the driver does not say whether
a command was sent, so there every failure counts as perhaps sent.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from redis.asyncio import ConnectionPool, RedisCluster
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TryAgainError,
)
from redis.exceptions import (
    ConnectionError as Cut,
)
from redis.exceptions import (
    TimeoutError as Late,
)

from cadenza.core.clock import Clock
from cadenza.engine.errors import InvalidJob, StoreUnavailable
from cadenza.engine.stores.redis.lua import Script

PATIENCE = 5.0  # seconds for which a server that is away is waited for
PAUSES = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
CONNECT = 5.0  # seconds for a connection
TIMEOUT = 30.0  # seconds for one answer
REPLICA_WAIT = 1000  # milliseconds that a write waits for its replicas

_NOT_DONE = (BusyLoadingError, ReadOnlyError, ClusterDownError, TryAgainError)
_AWAY = (Cut, Late, OSError, EOFError, *_NOT_DONE)


class _Unsent(Exception):
    """Nothing reached the server."""


class Wire:
    """Connections to one address, made as they are needed."""

    def __init__(self, address: str, *, clock: Clock, replicas: int = 0) -> None:
        self.address = address
        self.cluster: RedisCluster | None = None
        self.patience = PATIENCE
        self._clock = clock
        self._replicas = replicas
        try:
            # No timeout of the driver's own: it would swallow a cancel now and then.
            self._pool = ConnectionPool.from_url(
                address, socket_timeout=None, retry=Retry(NoBackoff(), 0), client_name="cadenza"
            )
        except ValueError as error:
            raise InvalidJob(f"cannot read the address {address!r}: {error}") from error
        self._idle: list[AbstractConnection] = []
        self._opened: set[AbstractConnection] = set()

    def new_connection(self) -> AbstractConnection:
        """Make a connection of the caller's own, not yet connected."""
        return self._pool.make_connection()

    async def use_cluster(self) -> None:
        """Speak to all nodes of the cluster from now on."""
        self.cluster = RedisCluster.from_url(
            self.address, retry=Retry(NoBackoff(), 0), socket_timeout=TIMEOUT
        )

    async def close(self) -> None:
        """Let go of every connection."""
        self._idle.clear()
        while self._opened:
            with contextlib.suppress(*_AWAY):
                await self._opened.pop().disconnect()
        if self.cluster is not None:
            await self.cluster.aclose()

    async def run(
        self, script: Script, keys: list[str], *args: Any, again: bool = False, write: bool = True
    ) -> Any:
        """Run a script by its digest; a server that does not know it is handed the text."""
        tail = (len(keys), *keys, *args)
        with contextlib.suppress(NoScriptError):
            return await self.ask("EVALSHA", script.digest, *tail, again=again, write=write)
        return await self.ask("EVAL", script.text, *tail, again=again, write=write)

    async def ask(
        self, *command: Any, again: bool = False, write: bool = False, here: bool = False
    ) -> Any:
        """Send one command and return its answer, waiting out a short absence.

        `here` asks the node that the address names, also in a cluster.
        """
        began, tries = self._clock.monotonic(), 0
        while True:
            try:
                return await self._send(command, write=write, here=here)
            except _Unsent as unsent:
                error, may_repeat = unsent.__cause__, True
            except _AWAY as away:
                error, may_repeat = away, again or isinstance(away, _NOT_DONE)
            except OutOfMemoryError as full:
                message = "Redis is out of memory: raise maxmemory, or finish or prune jobs"
                raise StoreUnavailable(message) from full
            late = self._clock.monotonic() - began > self.patience
            if late or not may_repeat or isinstance(error, AuthenticationError):
                raise StoreUnavailable(self._word(error)) from error
            await self._clock.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
            tries += 1

    def _word(self, error: BaseException | None) -> str:
        where = self.address.rpartition("@")[2]
        return (
            f"Redis at {where} cannot be reached: {error or 'no answer'}; "
            "check the address, and that the server runs"
        )

    async def _send(self, command: tuple[Any, ...], *, write: bool, here: bool) -> Any:
        if self.cluster is not None and not here:
            return await self.cluster.execute_command(*command)
        async with asyncio.timeout(TIMEOUT), self._connection() as connection:
            await connection.send_command(*command)
            answer = await connection.read_response()
            if write and self._replicas:
                await self._await_replicas(connection)
            return answer

    async def _await_replicas(self, connection: AbstractConnection) -> None:
        await connection.send_command("WAIT", self._replicas, REPLICA_WAIT)
        reached: Any = await connection.read_response()
        if reached < self._replicas:
            message = f"fewer than {self._replicas} replicas have the write; it may be lost"
            raise Cut(message)

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncGenerator[AbstractConnection]:
        connection = self._take()
        try:
            async with asyncio.timeout(CONNECT):
                await connection.connect()
        except BaseException as error:
            self._opened.discard(connection)
            if isinstance(error, _AWAY):
                raise _Unsent from error
            raise
        self._opened.add(connection)
        try:
            yield connection
        except BaseException as error:
            # Whatever was not read would be the next one's answer; an error was read whole.
            if not isinstance(error, RedisError) or isinstance(error, _AWAY):
                self._opened.discard(connection)
                await connection.disconnect(nowait=True)
            else:
                self._idle.append(connection)
            raise
        self._idle.append(connection)

    def _take(self) -> AbstractConnection:
        """Return an idle connection that the server has not closed, or a new one."""
        while self._idle:
            connection = self._idle.pop()
            reader: Any = getattr(connection, "_reader", None)
            if reader is not None and not reader.at_eof():
                return connection
            self._opened.discard(connection)
            connection._close()  # noqa: SLF001 - it is dead
        return self._pool.make_connection()
