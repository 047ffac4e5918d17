"""A real local server that does to a client whatever a test wants.

`Rude` listens on a loopback address and hands each connection to a `Manner`. It remembers the heads
and bodies that it read, so a test can say what did and what did not arrive.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from cadenza.providers.http.policy import HostRule, Policy


@dataclass
class Visit:
    """One connection, with what a server can do on it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    server: Rude

    async def request(self) -> bytes:
        """Read a whole request; note and return its head."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        body = b""
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                body = await self.reader.readexactly(int(line.partition(b":")[2]))
        self.server.heads.append(head.decode("latin-1"))
        self.server.bodies.append(body)
        return head

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, body: bytes = b"{}", *lines: str, status: str = "200 OK") -> None:
        head = [f"HTTP/1.1 {status}", *lines, f"content-length: {len(body)}", "", ""]
        await self.say("\r\n".join(head).encode() + body)

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        linger = struct.pack("ii", 1, 0)
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()

    async def hang(self) -> None:
        await self.server.over.wait()


Manner = Callable[[Visit], Awaitable[None]]


@dataclass
class Rude:
    manner: Manner
    host: str = "127.0.0.1"
    port: int = 0
    tls: ssl.SSLContext | None = None
    heads: list[str] = field(default_factory=list[str])
    bodies: list[bytes] = field(default_factory=list[bytes])
    visits: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    writers: list[asyncio.StreamWriter] = field(default_factory=list[asyncio.StreamWriter])
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._visit, self.host, self.port, ssl=self.tls, limit=2**20
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.over.set()
        self._server.close()
        await asyncio.sleep(0)  # a connection that was just accepted gets its task now
        for writer in self.writers:
            writer.transport.abort()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await asyncio.sleep(0)  # aborted transports close their sockets in the next round

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        self.writers.append(writer)
        self.visits += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await self.manner(Visit(reader, writer, self))
        writer.close()
        with suppress(OSError, ssl.SSLError):
            await writer.wait_closed()
        self.tasks.discard(task)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    @property
    def policy(self) -> Policy:
        return Policy(allow=(HostRule(self.host, self.port),))


async def polite(visit: Visit) -> None:
    """Answer every request on the connection."""
    while True:
        await visit.request()
        await visit.reply()
