"""The client without an event loop, made from `core.py`: one request, safely repeated; pages, files and events one after another.

It runs in its user's process and speaks to the address its user gives: it is not the product's way out.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from time import sleep
from typing import Any

import httpx2

from cadenza.client.methods_sync import ServerCalls, WorkspaceCalls
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
from cadenza.core.ids import Ids, SystemIds


class SyncClient(ServerCalls):
    """Speaks to one server."""

    def __init__(self, http: httpx2.Client, *, ids: Ids | None = None) -> None:
        super().__init__(self, "")
        self._http = http
        self._ids: Ids = ids or SystemIds()

    def workspace(self, id: str) -> "SyncWorkspace":
        """Return the operations of one workspace."""
        return SyncWorkspace(self, id)

    def home(self) -> "SyncWorkspace":
        """Return the operations of the workspace that the key belongs to."""
        return self.workspace((self.key.show_own())["workspace_id"])

    def request(
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
        return read(self._ask(request))

    def pages(
        self, path: str, *, query: Mapping[str, Any] | None = None, most: int | None = None
    ) -> Iterator[Any]:
        """Go through a list of pages, item by item."""
        cursor: str | None = None
        given = 0
        while most is None or given < most:
            page = self.request("GET", path, query={**(query or {}), "cursor": cursor})
            for item in page["items"][: None if most is None else most - given]:
                given += 1
                yield item
            cursor = page.get("next")
            if cursor is None:
                return

    def upload(
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
        return read(self._ask(request, file=file, fields=fields, told=told))

    def download(self, path: str) -> Iterator[bytes]:
        """Receive a file piece by piece; a break in the middle is an error."""
        try:
            with self._http.stream("GET", API + path, timeout=SILENCE) as response:
                if not response.is_success:
                    response.read()
                    raise refusal(response)
                for piece in response.iter_bytes():
                    yield piece
        except httpx2.TransportError as error:
            raise silent(self._http.base_url, error) from error

    def follow(self, path: str, *, last: str | None = None) -> Iterator[Event]:
        """Follow events for ever; after a break go on where it was, each event once."""
        ear = EventReader(last)
        broken = 0
        while True:
            try:
                with closing(self._lines(path, ear.headers())) as lines:
                    for line in lines:
                        broken = 0
                        event = ear.hear(line)
                        if event is not None:
                            yield event
            except httpx2.TransportError as error:
                broken += 1
                if broken >= TRIES:
                    raise silent(self._http.base_url, error) from error
            sleep(0.5)

    def _lines(self, path: str, headers: dict[str, str]) -> Generator[str]:
        with self._http.stream("GET", API + path, headers=headers, timeout=SILENCE) as response:
            if not response.is_success:
                response.read()
                raise refusal(response)
            for line in response.iter_lines():
                yield line

    def _ask(
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
                response = self._once(request, file, fields or {}, told)
            except httpx2.TransportError as error:
                failed = error
            wait = pause_before(response, count)
            if wait is None:
                if response is None:
                    raise silent(self._http.base_url, failed or OSError()) from failed
                return response
            sleep(wait)
        raise AssertionError("the last try waits for nothing")

    def _once(
        self,
        request: Request,
        file: File | None,
        fields: Mapping[str, str | None],
        told: Told | None,
    ) -> httpx2.Response:
        said = {"params": request.params, "headers": request.headers}
        if file is None:
            return self._http.request(request.method, request.path, content=request.content, **said)
        with opened_file(file, told) as sent:
            return self._http.request(
                request.method,
                request.path,
                data={name: text for name, text in fields.items() if text is not None},
                files={"file": sent},
                **said,
            )


class SyncWorkspace(WorkspaceCalls):
    """One workspace: `posts`, `queues`, `accounts` and so on, each with its methods."""

    def __init__(self, client: SyncClient, id: str) -> None:
        super().__init__(client, f"/workspaces/{part(id)}")
        self.client = client
        self.id = id


@contextmanager
def connect_sync(address: str, *, key: str, timeout: float = 30.0) -> Generator[SyncClient]:
    """Speak to the server at an address with an API key."""
    with httpx2.Client(
        base_url=address.rstrip("/"),
        headers={"authorization": f"Bearer {key}", "accept": "application/json"},
        timeout=timeout,
    ) as http:
        yield SyncClient(http)
