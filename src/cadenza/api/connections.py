"""Connections of clients: a request must arrive in time, an answer must be taken, no address holds too many.

uvicorn's own protocol waits for ever for the rest of a request. Here the head has a deadline, a body must keep
coming at a least rate, and an answer that nobody reads is given up. Connections are counted per address (IPv6: per
/64 network) and in all, below what the process may open, so that files and the database can still be reached.
Named proxies stand for many clients and count only in all. Limit: one process counts its own connections.
"""

import asyncio
import logging
import resource
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from cadenza.core.addresses import owner_of

log = logging.getLogger("cadenza.api")
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
UNREAD = 64 * 1024  # bytes of a refused body that are read for the sake of the connection
BREAK = 0.02  # seconds between two looks at what refused senders still send, all of them together
MOST = 20_000
MOST_AT_ONCE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Times are in seconds."""

    head: float = 15.0  # until a request's head is complete
    body: float = 30.0  # without a byte of the body, and before its rate counts
    rate: float = 1024.0  # bytes a second that a body must bring in the long run
    answer: float = 60.0  # without the client taking any of the answer
    linger: float = 2.0  # for a refused sender to read why
    per_address: int = 200

    def wait_until(self, began: float, last: float, received: int) -> float:
        """Say how long a body is waited for that began so, came last then, and brought so many bytes."""
        return min(began + self.body + received / self.rate, last + self.body)


def most_connections() -> int:
    """Return how many connections leave room for files, the database and calls out."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else max(16, min(MOST, soft * 3 // 4))


def most_at_once() -> int:
    """Return how many connections may be taken in one step of the loop: each has a file before it can be refused.

    It takes some steps to refuse them, so all of those together stay below what is left for files.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_AT_ONCE
    return max(8, min(MOST_AT_ONCE, (soft - most_connections()) // 8))


@dataclass(slots=True)
class OpenConnections:
    """Who is connected."""

    limits: Limits = field(default_factory=Limits)
    proxies: Sequence[str] = ()
    most: int = field(default_factory=most_connections)
    _all: int = 0
    _from: Counter[str] = field(default_factory=Counter[str])
    _refused: deque["Connection"] = field(default_factory=deque["Connection"])
    _draining: asyncio.TimerHandle | None = None

    def drain(self, connection: "Connection") -> None:
        """Read on from a refused sender when it is its turn: however many there are, they cost the same."""
        self._refused.append(connection)
        if self._draining is None:
            self._draining = connection.loop.call_later(BREAK, self._read_one)

    def _read_one(self) -> None:
        self._draining = None
        while self._refused:
            connection = self._refused.popleft()
            if connection.read_on():
                self._draining = connection.loop.call_later(BREAK, self._read_one)
                return

    def enter(self, address: str) -> str | None:
        """Let a connection in, or return None; what is returned is given back when it ends."""
        name = owner_of(address)
        if self._all >= self.most:
            log.warning("too many connections in all: one was refused", extra={"most": self.most})
            return None
        share = min(self.limits.per_address, self.most // 2)
        if self._from[name] >= share and not self._is_proxy(address):
            message = "too many connections from one address: one was refused; a proxy is named in listen.proxies"
            log.warning(message, extra={"address": name, "most": share})
            return None
        self._all += 1
        self._from[name] += 1
        return name

    def leave(self, name: str) -> None:
        """Forget a connection that has ended."""
        self._all -= 1
        self._from[name] -= 1
        if not self._from[name]:
            del self._from[name]

    def _is_proxy(self, address: str) -> bool:
        try:
            return any(ip_address(address) in ip_network(each) for each in self.proxies)
        except ValueError:
            return False


def make_protocol(crowd: OpenConnections) -> Callable[..., asyncio.Protocol]:
    """Return what makes the protocol of each new connection."""

    class OfCrowd(Connection):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(crowd, *args, **named)

    return OfCrowd


class Connection(H11Protocol):
    """One connection."""

    def __init__(self, crowd: OpenConnections, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._crowd = crowd
        self._limits = crowd.limits
        self._name: str | None = None
        self._phase: str | None = None  # what is waited for: "head" or "body"
        self._began = self._last = 0.0
        self._received = 0
        self._lingers = False
        self._deadline: asyncio.TimerHandle | None = None
        self._unread_answer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin, if there is room."""
        super().connection_made(transport)
        self._name = self._crowd.enter(self.client[0] if self.client else "")
        if self._name is None:
            transport.abort()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._wait_for(None)
        self._stop_waiting_for_reader()
        if self._name is not None:
            self._crowd.leave(self._name)
            self._name = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, and see what is still missing."""
        if self._lingers:
            self.flow.pause_reading()
            self._crowd.drain(self)
            return
        self._received += len(data)
        self._last = self.loop.time()
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Go on with the next request, unless much of this one's body was not even looked at."""
        if self.conn.their_state is h11.SEND_BODY and self._sends_much():
            self._drain_refused()
            return
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Wait for the client to read, but not for ever."""
        super().pause_writing()
        self._stop_waiting_for_reader()
        self._unread_answer = self.loop.call_later(self._limits.answer, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client reads."""
        self._stop_waiting_for_reader()
        super().resume_writing()

    def _watch(self) -> None:
        """See what this connection waits for, and for how long it may."""
        state = self.conn.their_state
        if self.transport.is_closing() or self._lingers:
            self._wait_for(None)
        elif state is h11.IDLE and self.timeout_keep_alive_task is None:
            self._wait_for("head")
        elif state is h11.SEND_BODY:
            self._wait_for("body")
        else:
            self._wait_for(None)

    def _wait_for(self, phase: str | None) -> None:
        if phase == self._phase:
            return
        self._phase = phase
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if phase is not None:
            self._began = self._last = self.loop.time()
            self._received = 0
            first = self._limits.head if phase == "head" else self._limits.body
            self._deadline = self.loop.call_later(first, self._look)

    def _look(self) -> None:
        """Give a body that comes on more time, and end what does not."""
        now = self.loop.time()
        if self._phase == "body":
            if self.flow.read_paused:  # it is we who do not read
                self._began = self._last = now
                self._received = 0
            until = self._limits.wait_until(self._began, self._last, self._received)
            if until > now:
                self._deadline = self.loop.call_later(until - now, self._look)
                return
        log.info("a request did not arrive in time", extra={"missing": self._phase})
        cycle = self.cycle  # uvicorn has None here before the first request
        if not cycle or cycle.response_complete or not cycle.response_started:
            self.transport.write(TOO_SLOW)
            self._drain_refused()
        else:
            self.transport.close()

    def _sends_much(self) -> bool:
        length = dict(self.headers).get(b"content-length", b"")
        return not length.isdigit() or int(length) > UNREAD

    def _drain_refused(self) -> None:
        """Close our half, so that the refusal arrives; what still comes is dropped unread, at a slow pace."""
        self._lingers = True
        self._wait_for(None)
        try:
            self.transport.write_eof()
        except OSError:  # the sender is gone, and we had not heard of it yet
            self.transport.abort()
            return
        self.flow.pause_reading()
        self._crowd.drain(self)
        self.loop.call_later(self._limits.linger, self.transport.abort)

    def read_on(self) -> bool:
        """Read once more of what was refused; return whether there is anybody left to read from."""
        if self.transport.is_closing():
            return False
        self.flow.resume_reading()
        return True

    def _stop_waiting_for_reader(self) -> None:
        if self._unread_answer is not None:
            self._unread_answer.cancel()
            self._unread_answer = None
