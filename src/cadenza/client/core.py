"""The client with an event loop: one request, safely repeated; pages, files and events one after another.

It runs in its user's process and speaks to the address its user gives: it is not the product's way out.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx2

from cadenza.client.methods import ServerCalls, WorkspaceCalls
from cadenza.client.wire import (
    API,
    SILENCE,
    TRIES,
    Event,
    EventReader,
    File,
    Request,
    Told,
    opened_file,
    part,
    pause_before,
    prepare,
    read,
    refusal,
    silent,
)
from cadenza.core.clock import Clock, SystemClock
from cadenza.core.ids import Ids, SystemIds


class Client(ServerCalls):
    """Speaks to one server."""

    def __init__(
        self, http: httpx2.AsyncClient, *, clock: Clock | None = None, ids: Ids | None = None
    ) -> None:
        super().__init__(self, "")
        self._http = http
        self._clock: Clock = clock or SystemClock()
        self._ids: Ids = ids or SystemIds()

    def workspace(self, id: str) -> "Workspace":
        """Return the operations of one workspace."""
        return Workspace(self, id)

    async def home(self) -> "Workspace":
        """Return the operations of the workspace that the key belongs to."""
        return self.workspace((await self.key.show_own())["workspace_id"])

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        query: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        if_match: str | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Ask once, or again where that is safe; return the body, or raise what was refused."""
        request = prepare(
            method,
            path,
            key=idempotency_key or self._ids.new(),
            json=json,
            query=query,
            dry_run=dry_run,
            if_match=if_match,
        )
        return read(await self._ask(request))

    async def pages(
        self, path: str, *, query: Mapping[str, Any] | None = None, most: int | None = None
    ) -> AsyncIterator[Any]:
        """Go through a list of pages, item by item."""
        cursor: str | None = None
        given = 0
        while most is None or given < most:
            page = await self.request("GET", path, query={**(query or {}), "cursor": cursor})
            for item in page["items"][: None if most is None else most - given]:
                given += 1
                yield item
            cursor = page.get("next")
            if cursor is None:
                return

    async def upload(
        self,
        path: str,
        file: File,
        *,
        fields: Mapping[str, str | None],
        dry_run: bool = False,
        told: Told | None = None,
    ) -> Any:
        """Send a file, from its beginning at every try."""
        request = prepare("POST", path, key=self._ids.new(), dry_run=dry_run)
        return read(await self._ask(request, file=file, fields=fields, told=told))

    async def download(self, path: str) -> AsyncIterator[bytes]:
        """Receive a file piece by piece; a break in the middle is an error."""
        try:
            async with self._http.stream("GET", API + path, timeout=SILENCE) as response:
                if not response.is_success:
                    await response.aread()
                    raise refusal(response)
                async for piece in response.aiter_bytes():
                    yield piece
        except httpx2.TransportError as error:
            raise silent(self._http.base_url, error) from error

    async def follow(self, path: str, *, last: str | None = None) -> AsyncIterator[Event]:
        """Follow events for ever; after a break go on where it was, each event once."""
        ear = EventReader(last)
        broken = 0
        while True:
            try:
                async with aclosing(self._lines(path, ear.headers())) as lines:
                    async for line in lines:
                        broken = 0
                        event = ear.hear(line)
                        if event is not None:
                            yield event
            except httpx2.TransportError as error:
                broken += 1
                if broken >= TRIES:
                    raise silent(self._http.base_url, error) from error
            await self._clock.sleep(0.5)

    async def _lines(self, path: str, headers: dict[str, str]) -> AsyncGenerator[str]:
        async with self._http.stream(
            "GET", API + path, headers=headers, timeout=SILENCE
        ) as response:
            if not response.is_success:
                await response.aread()
                raise refusal(response)
            async for line in response.aiter_lines():
                yield line

    async def _ask(
        self,
        request: Request,
        *,
        file: File | None = None,
        fields: Mapping[str, str | None] | None = None,
        told: Told | None = None,
    ) -> httpx2.Response:
        for count in range(1, TRIES + 1):
            failed: httpx2.TransportError | None = None
            response: httpx2.Response | None = None
            try:
                response = await self._once(request, file, fields or {}, told)
            except httpx2.TransportError as error:
                failed = error
            wait = pause_before(response, count)
            if wait is None:
                if response is None:
                    raise silent(self._http.base_url, failed or OSError()) from failed
                return response
            await self._clock.sleep(wait)
        raise AssertionError("the last try waits for nothing")

    async def _once(
        self,
        request: Request,
        file: File | None,
        fields: Mapping[str, str | None],
        told: Told | None,
    ) -> httpx2.Response:
        said = {"params": request.params, "headers": request.headers}
        if file is None:
            return await self._http.request(
                request.method, request.path, content=request.content, **said
            )
        with opened_file(file, told) as sent:
            return await self._http.request(
                request.method,
                request.path,
                data={name: text for name, text in fields.items() if text is not None},
                files={"file": sent},
                **said,
            )


class Workspace(WorkspaceCalls):
    """One workspace: `posts`, `queues`, `accounts` and so on, each with its methods."""

    def __init__(self, client: Client, id: str) -> None:
        super().__init__(client, f"/workspaces/{part(id)}")
        self.client = client
        self.id = id


@asynccontextmanager
async def connect(address: str, *, key: str, timeout: float = 30.0) -> AsyncGenerator[Client]:
    """Speak to the server at an address with an API key."""
    async with httpx2.AsyncClient(
        base_url=address.rstrip("/"),
        headers={"authorization": f"Bearer {key}", "accept": "application/json"},
        timeout=timeout,
    ) as http:
        yield Client(http)
