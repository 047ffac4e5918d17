"""The client on the server that runs beside the local database, through the socket in the data folder.

The server has everything loaded already: a command that loaded it again would take a second for its first call.
Each request has a connection of its own. Where nobody listens, or the server has another database, the caller
falls back on `local.py`.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import h11
import httpx2

from cadenza.cli.local_session import local_session
from cadenza.client.core import Client
from cadenza.client.errors import NotSignedIn, Unreachable

if TYPE_CHECKING:
    from cadenza.config.model import Settings
    from cadenza.sql.transactions import Operations

PIECE = 64 * 1024
PATIENCE = 120.0  # seconds without a byte of an answer: some look at many rows


async def is_listening(path: Path) -> bool:
    """Say whether a server listens on the socket."""
    try:
        _, writer = await asyncio.open_unix_connection(os.fspath(path))
    except OSError:
        return False
    writer.transport.abort()
    return True


@asynccontextmanager
async def open_local_server(
    settings: "Settings", operations: "Operations", *, person: str | None
) -> AsyncGenerator[Client | None]:
    """Talk to the server as one of its people; None where it does not know them."""
    async with (
        local_session(operations, settings.public_url, person=person) as session,
        httpx2.AsyncClient(
            transport=SocketTransport(settings.socket),
            base_url=settings.home,
            cookies=session.cookies,
            headers=session.headers,
            timeout=PATIENCE,
        ) as http,
    ):
        client = Client(http)
        try:
            await client.me.show_me()
        except (NotSignedIn, Unreachable):
            yield None
        else:
            yield client


class SocketTransport(httpx2.AsyncBaseTransport):
    """Carries requests to a socket in the file system, and answers piece by piece."""

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Carry one request."""
        try:
            reader, writer = await asyncio.open_unix_connection(self._path)
        except OSError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        exchange = _Exchange(request, reader, writer)
        try:
            head = await exchange.begin()
        except BaseException:
            await exchange.aclose()
            raise
        return httpx2.Response(head.status_code, headers=list(head.headers), stream=exchange)


class _Exchange(httpx2.AsyncByteStream):
    """One request on its connection, and then the body of the answer."""

    def __init__(
        self, request: httpx2.Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._request, self._reader, self._writer = request, reader, writer
        self._http = h11.Connection(h11.CLIENT)
        self._patience: float | None = request.extensions.get("timeout", {}).get("read")
        self._sending: asyncio.Future[None] | None = None

    async def begin(self) -> h11.Response:
        """Send the request; return the head of the answer, which may come before all is sent."""
        self._sending = asyncio.ensure_future(self._send())
        while True:
            event = await self._next()
            if isinstance(event, h11.Response):
                return event

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            event = await self._next()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return

    async def aclose(self) -> None:
        """End the connection."""
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
        self._writer.transport.abort()  # what was not sent is not needed any more

    async def _send(self) -> None:
        request = self._request
        headers = [
            (name, value) for name, value in request.headers.raw if name.lower() != b"connection"
        ]
        head = h11.Request(
            method=request.method,
            target=request.url.raw_path,
            headers=[*headers, (b"connection", b"close")],
        )
        with suppress(OSError):  # it answered before it read all: the answer says why
            self._writer.write(self._http.send(head) or b"")
            stream = request.stream
            assert isinstance(stream, httpx2.AsyncByteStream)
            async for piece in stream:
                self._writer.write(self._http.send(h11.Data(data=piece)) or b"")
                await self._writer.drain()
            self._writer.write(self._http.send(h11.EndOfMessage()) or b"")
            await self._writer.drain()

    async def _next(self) -> h11.Event | type[h11.PAUSED]:
        """Return the next part of the answer."""
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(
                    await asyncio.wait_for(self._reader.read(PIECE), self._patience)
                )
        except TimeoutError as error:
            raise httpx2.ReadTimeout("no answer in time", request=self._request) from error
        except (OSError, h11.RemoteProtocolError) as error:
            raise httpx2.ReadError(str(error), request=self._request) from error
        if isinstance(event, h11.ConnectionClosed):
            raise httpx2.ReadError("the server went away", request=self._request)
        return event  # pyright: ignore[reportReturnType] - more data is never needed here
