"""The client on the local database, in this process: the same API, without a server and without a key.

It is the way where no server runs beside the database. It loads the whole application, which takes a second.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from starlette.types import ASGIApp, Message

from cadenza.api.app import create_app
from cadenza.api.rate_limit import Pace
from cadenza.bootstrap.model import Runtime
from cadenza.cli.local_session import local_session
from cadenza.client.core import Client

UNHURRIED = Pace(per_second=1e6, at_once=1_000_000)  # nobody else is kept waiting


@asynccontextmanager
async def open_local(runtime: Runtime, *, person: str | None = None) -> AsyncGenerator[Client]:
    """Talk to an open runtime as one of its people."""
    settings = runtime.settings
    async with local_session(runtime.operations, settings.public_url, person=person) as session:
        http = httpx2.AsyncClient(
            transport=InProcess(create_app(runtime, pace=UNHURRIED)),
            base_url=settings.home,
            cookies=session.cookies,
            headers=session.headers,
        )
        async with http:
            yield Client(http, clock=runtime.clock, ids=runtime.ids)


class InProcess(httpx2.AsyncBaseTransport):
    """Hands requests to an application in this process; answers come piece by piece, as over a wire."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Carry one request."""
        talk = _RequestCycle(request)
        task = asyncio.ensure_future(talk.hold(self._app))
        start = await talk.said.get()
        if start is None:
            await task  # it broke before it answered: its error is raised here
            raise httpx2.RemoteProtocolError("the application said nothing", request=request)
        return httpx2.Response(
            start["status"], headers=start.get("headers", []), stream=_Pieces(talk, task)
        )


class _RequestCycle:
    """One request and what is said to it; None ends it."""

    def __init__(self, request: httpx2.Request) -> None:
        self.said: asyncio.Queue[Message | None] = asyncio.Queue(maxsize=8)
        self.gone = asyncio.Event()  # nobody listens any more
        self._read = False
        self._request = request
        stream = request.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._body = aiter(stream)

    async def hold(self, app: ASGIApp) -> None:
        try:
            await app(self._scope(), self._receive, self.said.put)
        except Exception:
            await self.said.put(None)
            raise
        await self.said.put(None)  # not if it was canceled: nobody takes it then

    async def _receive(self) -> Message:
        if self._read:
            await self.gone.wait()
            return {"type": "http.disconnect"}
        piece = await anext(self._body, None)
        self._read = piece is None
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    def _scope(self) -> dict[str, Any]:
        url = self._request.url
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self._request.method,
            "headers": [(name.lower(), value) for name, value in self._request.headers.raw],
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.split(b"?")[0],
            "query_string": url.query,
            "server": (url.host, url.port),
            "client": ("127.0.0.1", 0),
            "root_path": "",
        }


class _Pieces(httpx2.AsyncByteStream):
    """The body of an answer, while it is being made."""

    def __init__(self, talk: _RequestCycle, task: asyncio.Future[None]) -> None:
        self._talk, self._task = talk, task

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._talk.said.get()) is not None:
            if message.get("body"):
                yield message["body"]
        await self._task

    async def aclose(self) -> None:
        """End what is still being made."""
        self._talk.gone.set()
        if not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
