"""One connection to Redis: commands go out at once, answers come back in their order.

The driver makes the connection (TLS, password, database); then its transport is ours, which saves
the streams, locks and timers that it puts around each command. Callers may share a line. Limit: when
no answer comes for too long while some are due, the line is cut, for all who wait on it.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from hiredis import ProtocolError, PushNotification, Reader, pack_command
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    MasterDownError,
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as Cut

TIMEOUT = 30.0  # seconds without any answer while some are due

_ERRORS: dict[str, type[Exception]] = {
    "NOSCRIPT": NoScriptError,
    "LOADING": BusyLoadingError,
    "READONLY": ReadOnlyError,
    "OOM": OutOfMemoryError,
    "CLUSTERDOWN": ClusterDownError,
    "TRYAGAIN": TryAgainError,
    "MASTERDOWN": MasterDownError,
    "MOVED": MovedError,
    "ASK": AskError,
}
_MORE = object()  # the reader's word for an answer that has not come whole


def read_error(said: str) -> Exception:
    """Tell the server's errors apart by their first word."""
    word, _, rest = said.partition(" ")
    kind = _ERRORS.get(word)
    return ResponseError(said) if kind is None else kind(rest)


class RedisConnectionLine(asyncio.Protocol):
    """A connection whose answers are awaited, or, with `heard`, handed over as they come."""

    def __init__(
        self, connection: AbstractConnection, heard: Callable[[Any], None] | None = None
    ) -> None:
        self.lost = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._writer = _take_writer(connection)  # kept: it would close the transport as it goes
        self._transport = self._writer.transport
        self._heard = heard
        self._due: deque[asyncio.Future[Any]] = deque()
        self._answered = 0
        self._guard: asyncio.TimerHandle | None = None
        self._reader = Reader(replyError=read_error, notEnoughData=_MORE)
        self._transport.set_protocol(self)

    @property
    def load(self) -> int:
        """Return how many answers are due."""
        return len(self._due)

    def say(self, *command: Any) -> None:
        """Send a command whose answer `heard` gets."""
        self._transport.write(pack_command(command))

    def ask(self, *command: Any) -> asyncio.Future[Any]:
        """Send a command; the future is its answer, or the error that it met."""
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._due.append(answer)
        self._transport.write(pack_command(command))
        if self._guard is None:
            self._guard = self._loop.call_later(TIMEOUT, self._check, self._answered)
        return answer

    def close(self) -> None:
        """Cut the line; `lost` is set when that has happened."""
        self._transport.abort()

    def _check(self, answered: int) -> None:
        self._guard = None
        if self._due and answered == self._answered:
            self._transport.abort()
        elif self._due:
            self._guard = self._loop.call_later(TIMEOUT, self._check, self._answered)

    # What the event loop calls

    def data_received(self, data: bytes) -> None:
        """Hand out each answer that has come whole."""
        reader = self._reader
        reader.feed(data)
        try:
            while (said := reader.gets()) is not _MORE:
                self._take(said)
        except ProtocolError:
            self._transport.abort()

    def _take(self, said: Any) -> None:
        self._answered += 1
        if self._heard is not None:
            self._heard(said)
        elif not isinstance(said, PushNotification):  # nobody asked for those
            answer = self._due.popleft()
            if answer.done():  # its caller was canceled
                return
            if isinstance(said, Exception):
                answer.set_exception(said)
            else:
                answer.set_result(said)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell everybody who waits."""
        self.lost.set()
        if self._guard is not None:
            self._guard.cancel()
        while self._due:
            answer = self._due.popleft()
            if not answer.done():
                answer.set_exception(Cut(f"the connection was cut: {exc or 'closed'}"))


def _take_writer(connection: AbstractConnection) -> Any:
    """Take a connection away from the driver, which must not close or read it any more."""
    writer: Any = connection._writer  # noqa: SLF001 - no public way to it
    connection._writer = connection._reader = None  # noqa: SLF001
    return writer
