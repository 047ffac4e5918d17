"""The core of the client: one request, safely repeated; pages one after another; problems as exceptions.

Each write gets an idempotency key of its own, so a repetition after a lost answer does nothing twice.
Repeated is what got no answer, and what a server asks to repeat (429, 502, 503, 504), three times at most.
It runs in its user's process and speaks to the address its user gives: it is not the product's way out.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec

from cadenza.client.errors import Problem, Unreachable
from cadenza.client.workspace import Data, Workspace
from cadenza.core.clock import Clock, SystemClock
from cadenza.core.ids import Ids, SystemIds

API = "/api/v1"
TRIES = 3
AGAIN = frozenset({429, 502, 503, 504})
LONGEST_WAIT = 20.0


class Client:
    """Speaks to one server."""

    def __init__(
        self, http: httpx2.AsyncClient, *, clock: Clock | None = None, ids: Ids | None = None
    ) -> None:
        self._http = http
        self._clock: Clock = clock or SystemClock()
        self._ids: Ids = ids or SystemIds()

    def workspace(self, id: str) -> Workspace:
        """Return the operations of one workspace."""
        return Workspace(self, id)

    async def me(self) -> Data:
        """Say who is signed in; keys are nobody."""
        return await self.request("GET", "/me")

    async def workspaces(self) -> list[Data]:
        """List the workspaces of the person who is signed in."""
        return await self.request("GET", "/workspaces")

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        query: Mapping[str, Any] | None = None,
        dry_run: bool = False,
        if_match: str | None = None,
    ) -> Any:
        """Ask once, or again where that is safe; return the body, or raise what was refused."""
        params = {name: value for name, value in (query or {}).items() if value is not None}
        headers: dict[str, str] = {}
        if method != "GET":
            headers["idempotency-key"] = self._ids.new()
            if dry_run:
                params["dry_run"] = "true"
        if if_match is not None:
            headers["if-match"] = if_match
        content = None if json is None else msgspec.json.encode(json)
        if content is not None:
            headers["content-type"] = "application/json"
        response = await self._ask(method, API + path, content, params, headers)
        if response.is_success:
            return msgspec.json.decode(response.content) if response.content else None
        raise _problem(response)

    async def pages(
        self, path: str, *, query: Mapping[str, Any] | None = None, most: int | None = None
    ) -> AsyncIterator[Data]:
        """Go through a list of pages, item by item."""
        cursor: str | None = None
        given = 0
        while True:
            page = await self.request("GET", path, query={**(query or {}), "cursor": cursor})
            for item in page["items"]:
                if most is not None and given >= most:
                    return
                given += 1
                yield item
            cursor = page.get("next")
            if cursor is None:
                return

    async def _ask(
        self,
        method: str,
        path: str,
        content: bytes | None,
        params: dict[str, Any],
        headers: dict[str, str],
    ) -> httpx2.Response:
        for left in reversed(range(TRIES)):
            try:
                response = await self._http.request(
                    method, path, content=content, params=params, headers=headers
                )
            except httpx2.TransportError as error:
                if not left:
                    raise Unreachable(
                        f"nobody answers at {self._http.base_url}: {error or type(error).__name__}"
                    ) from error
                await self._clock.sleep(0.2 * (TRIES - left))
                continue
            if response.status_code not in AGAIN or not left:
                return response
            await self._clock.sleep(_wait(response, TRIES - left))
        raise AssertionError("every last try returns or raises")


@asynccontextmanager
async def connect(address: str, *, key: str, timeout: float = 30.0) -> AsyncGenerator[Client]:
    """Speak to the server at an address with an API key."""
    async with httpx2.AsyncClient(
        base_url=address.rstrip("/"),
        headers={"authorization": f"Bearer {key}", "accept": "application/json"},
        timeout=timeout,
    ) as http:
        yield Client(http)


def _wait(response: httpx2.Response, count: int) -> float:
    said = response.headers.get("retry-after", "")
    return min(float(said) if said.isdigit() else 0.3 * count, LONGEST_WAIT)


def _problem(response: httpx2.Response) -> Problem | Unreachable:
    try:
        body = msgspec.json.decode(response.content)
    except msgspec.DecodeError:
        body = None
    if not isinstance(body, dict):
        return Unreachable(
            f"{response.request.url.host} answered {response.status_code}, and not as Cadenza does: "
            "is the address right?"
        )
    return Problem(response.status_code, body)
