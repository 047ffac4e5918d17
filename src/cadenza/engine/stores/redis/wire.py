"""Commands to a Redis or Valkey server, or to a cluster of them, and what to do when it is away.

A command that surely never reached the server is tried again, with growing pauses, until the
patience is used up; one that may have reached it only if doing it twice does no harm. All that a
caller sees of an outage is `StoreUnavailable`. In a cluster each command goes to the node that
holds its key (see route.py); while a queue is being moved to another node, it is away.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    MovedError,
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
from cadenza.engine.errors import StoreUnavailable, shown
from cadenza.engine.stores.redis.line import RedisConnectionLine
from cadenza.engine.stores.redis.lua import Script
from cadenza.engine.stores.redis.node import Node, Unsent
from cadenza.engine.stores.redis.route import Route

PATIENCE = 5.0  # seconds for which a server that is away is waited for
PAUSES = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
TURNS = 5  # nodes that send a command on to another
REPLICA_WAIT = 1000  # milliseconds that a write waits for its replicas

_NOT_DONE = (BusyLoadingError, ReadOnlyError, ClusterDownError, TryAgainError)
_AWAY = (Cut, Late, OSError, EOFError, *_NOT_DONE)


class Wire:
    """Connections to one address, made as they are needed."""

    def __init__(self, address: str, *, clock: Clock, replicas: int = 0) -> None:
        self.address = address
        self.cluster: Route | None = None
        self.patience = PATIENCE
        self._clock = clock
        self._replicas = replicas
        self._home = Node.at(address)

    def use_cluster(self) -> None:
        """Speak to all nodes of the cluster from now on."""
        self.cluster = Route(self._home)

    async def close(self) -> None:
        """Let go of every connection."""
        await self._home.close()
        if self.cluster is not None:
            await self.cluster.close()

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

        `here` asks the node that the address names, also in a cluster; if it is away, another.
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
        return (
            f"Redis at {shown(self.address)} cannot be reached: {error or 'no answer'}; "
            "check the address, and that the server runs"
        )

    async def _send(self, command: tuple[Any, ...], *, write: bool, here: bool) -> Any:
        if self.cluster is None:
            return await self._say(await self._home.line(), command, write=write)
        if here:
            return await self._say(await self._reach(Node.line), command, write=write)
        try:
            return await self._send_along(self.cluster, command, write=write)
        except (Unsent, *_AWAY):
            self.cluster.invalidate()
            raise

    async def _send_along(self, route: Route, command: tuple[Any, ...], *, write: bool) -> Any:
        """Send a command to the node of its key, and on to the one that this one names."""
        node = await route.find(command)
        for _ in range(TURNS):
            try:
                return await self._say(await node.line(), command, write=write)
            except MovedError as turn:
                node = route.follow(turn)
            except AskError as turn:  # half of the keys are here, half there: no script can work
                raise TryAgainError("the queue is being moved to another node") from turn
        raise TryAgainError("the nodes of the cluster do not agree who holds the queue")

    async def _say(
        self, line: RedisConnectionLine, command: tuple[Any, ...], *, write: bool
    ) -> Any:
        answer = line.ask(*command)
        if write and self._replicas:
            return await self._await_replicas(line, answer)
        return await answer

    async def _await_replicas(self, line: RedisConnectionLine, answer: asyncio.Future[Any]) -> Any:
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

    async def open_line(self, heard: Callable[[Any], None]) -> RedisConnectionLine:
        """Connect to hear what is published, on any node; the caller closes the line."""
        return await self._reach(lambda node: node.open_line(heard))

    async def _reach(
        self, connect: Callable[[Node], Awaitable[RedisConnectionLine]]
    ) -> RedisConnectionLine:
        """Get a line to the node that the address names, or to another that can be reached."""
        away = Unsent()
        for node in self.cluster or (self._home,):
            try:
                return await connect(node)
            except Unsent as unsent:
                away = unsent
        raise away
