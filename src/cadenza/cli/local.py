"""The client on the local database, in this process: the same API, without a server and without a key.

Who can read the data folder may do everything anyhow; so that the audit names a person, each call is made
as one: the owner of the installation, or whom `person` names. The session lasts as long as the client.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import httpx2
from starlette.types import ASGIApp, Message

from cadenza.api.app import create_app
from cadenza.api.authorize import CSRF
from cadenza.api.cookies import cookie_name
from cadenza.api.rate_limit import Pace
from cadenza.bootstrap.model import Runtime
from cadenza.client.core import Client
from cadenza.client.errors import ClientError
from cadenza.people.model import fold_email
from cadenza.people.sessions import SessionOrigin, end_session, open_session
from cadenza.people.tokens import draw_token
from cadenza.sql.tx import Tx

UNHURRIED = Pace(per_second=1e6, at_once=1_000_000)  # nobody else is kept waiting


@asynccontextmanager
async def open_local(runtime: Runtime, *, person: str | None = None) -> AsyncGenerator[Client]:
    """Talk to an open runtime as one of its people."""
    token = draw_token()
    origin = SessionOrigin(address="this machine", agent="the command line")

    def enter(tx: Tx, now: datetime) -> tuple[str, str]:
        person_id = _find_person(tx, person)
        session = open_session(tx, now, person_id=person_id, token_hash=token.hash, origin=origin)
        return person_id, session

    person_id, session_id = await runtime.operations.run(enter)
    http = httpx2.AsyncClient(
        transport=Inside(create_app(runtime, pace=UNHURRIED)),
        base_url=runtime.settings.home,
        cookies={cookie_name(runtime.settings.public_url): token.text},
        headers={CSRF: "1"},
    )
    try:
        async with http:
            yield Client(http, clock=runtime.clock, ids=runtime.ids)
    finally:
        await runtime.operations.run(
            lambda tx, now: end_session(tx, now, person_id=person_id, id=session_id)
        )


class Inside(httpx2.AsyncBaseTransport):
    """Hands requests to an application in this process; answers come piece by piece, as over a wire."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Carry one request."""
        talk = _Talk(request)
        task = asyncio.ensure_future(talk.hold(self._app))
        start = await talk.said.get()
        if start is None:
            await task  # it broke before it answered: its error is raised here
            raise httpx2.RemoteProtocolError("the application said nothing", request=request)
        return httpx2.Response(
            start["status"], headers=start.get("headers", []), stream=_Pieces(talk, task)
        )


class _Talk:
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

    def __init__(self, talk: _Talk, task: asyncio.Future[None]) -> None:
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


def _find_person(tx: Tx, email: str | None) -> str:
    if email is None:
        found = tx.value(
            "SELECT id FROM person WHERE instance_owner ORDER BY created_at, id LIMIT 1"
        )
        if found is None:
            raise ClientError(
                "nobody lives here yet: make the first owner with `cadenza person create`"
            )
        return found
    found = tx.value("SELECT id FROM person WHERE email = :email", email=fold_email(email))
    if found is None:
        raise ClientError(f"there is nobody with the address {email} here")
    return found
