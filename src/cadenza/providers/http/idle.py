"""Connections of other protocols that stay open for a moment, so that the next call need not dial.

Who is done with a connection gives it here; who needs one of the same kind takes it back, alone. What nobody took
within so many seconds (`Policy.reuse`) is left politely. Limit: an open connection may have been closed by the other side meanwhile; who
takes one must find that out before anything irreversible.
"""

import asyncio
from collections.abc import Hashable
from typing import Protocol

MOST = 20  # kept at once; more are left at once


class IdleConnection(Protocol):
    """An open connection."""

    async def leave(self) -> None:
        """Say goodbye and close; never raises for what the other side does."""
        ...


class IdleConnections:
    """The connections that wait to be used again."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: dict[IdleConnection, tuple[Hashable, asyncio.TimerHandle]] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def take(self, kind: Hashable) -> IdleConnection | None:
        """Return an open connection of a kind, the one that was used last."""
        for line in reversed(self._waiting):
            if self._waiting[line][0] == kind:
                self._waiting.pop(line)[1].cancel()
                return line
        return None

    def keep(self, kind: Hashable, line: IdleConnection) -> None:
        """Keep a connection for a moment; the oldest makes room."""
        if not self._seconds:
            self._leave(line)
            return
        while len(self._waiting) >= MOST:
            self._drop(next(iter(self._waiting)))
        timer = asyncio.get_running_loop().call_later(self._seconds, self._drop, line)
        self._waiting[line] = (kind, timer)

    async def aclose(self) -> None:
        """Leave all of them."""
        for line in list(self._waiting):
            self._drop(line)
        await asyncio.gather(*self._leaving, return_exceptions=True)

    def _drop(self, line: IdleConnection) -> None:
        self._waiting.pop(line)[1].cancel()
        self._leave(line)

    def _leave(self, line: IdleConnection) -> None:
        task = asyncio.get_running_loop().create_task(line.leave())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
