"""Commands to a Redis or Valkey server, or to a cluster of them, and what to do when it is away.

A command that surely never reached the server is tried again, with growing pauses, until the
patience is used up; one that may have reached it only if doing it twice does no harm. All that a
caller sees of an outage is `StoreUnavailable`. Limit: in a cluster the driver does not say whether
a command was sent, so there every failure counts as perhaps sent.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from redis.asyncio import ConnectionPool, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
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
from cadenza.engine.stores.redis.line import TIMEOUT, Line
from cadenza.engine.stores.redis.lua import Script

PATIENCE = 5.0  # seconds for which a server that is away is waited for
PAUSES = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
CONNECT = 5.0  # seconds for a connection
LINES = 8  # of which one is free, as a rule; with all busy, commands go out behind one another
REPLICA_WAIT = 1000  # milliseconds that a write waits for its replicas

_NOT_DONE = (BusyLoadingError, ReadOnlyError, ClusterDownError, TryAgainError)
_AWAY = (Cut, Late, OSError, EOFError, *_NOT_DONE)


class Unsent(Exception):
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
        self._lines: list[Line] = []

    async def use_cluster(self) -> None:
        """Speak to all nodes of the cluster from now on."""
        self.cluster = RedisCluster.from_url(
            self.address, retry=Retry(NoBackoff(), 0), socket_timeout=TIMEOUT
        )

    async def close(self) -> None:
        """Let go of every connection."""
        for line in self._lines:
            line.close()
        for line in self._lines:
            await line.lost.wait()
        self._lines.clear()
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
            except Unsent as unsent:
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
        line = self._free_line()
        if line is None:
            line = await self.open_line()
            self._lines.append(line)
        answer = line.ask(*command)
        if write and self._replicas:
            return await self._await_replicas(line, answer)
        return await answer

    async def _await_replicas(self, line: Line, answer: asyncio.Future[Any]) -> Any:
        reaching = line.ask("WAIT", self._replicas, REPLICA_WAIT)
        try:
            said = await answer
            reached: int = await reaching
        finally:
            reaching.cancel()
        if reached < self._replicas:
            message = f"fewer than {self._replicas} replicas have the write; it may be lost"
            raise Cut(message)
        return said

    async def open_line(self, heard: Callable[[Any], None] | None = None) -> Line:
        """Connect; with `heard` for a line of the caller's own, which closes it."""
        connection = self._pool.make_connection()
        try:
            async with asyncio.timeout(CONNECT):
                await connection.connect()
        except _AWAY as error:
            raise Unsent from error
        return Line(connection, heard)

    def _free_line(self) -> Line | None:
        """Return a line that nobody waits on, or, when there are enough, the least busy one."""
        if any(line.lost.is_set() for line in self._lines):
            self._lines = [line for line in self._lines if not line.lost.is_set()]
        for line in self._lines:
            if not line.load:
                return line
        return min(self._lines, key=lambda line: line.load) if len(self._lines) >= LINES else None
