"""Calls a route of the application from inside itself, through the same gate as everybody.

Credentials and client address are those of the request that asks, so nothing is allowed here that is not
allowed outside. The caller names the route itself and gives path values beside it: no text of an argument
can lead to another route. Limit: whole JSON answers only; what streams, grows or takes too long is cut off.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.types import Message

from cadenza.api.problems import TYPE
from cadenza.api.route_lookup import INSIDE
from cadenza.core.clock import SystemClock

CARRIED = (b"authorization", b"cookie", b"host", b"origin", b"user-agent", b"x-cadenza-csrf")
LARGEST = 4 * 1024 * 1024  # bytes of an answer
LONGEST = 120.0  # seconds for an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalCall:
    """One call of a route: which one, and what it is given."""

    route: APIRoute
    method: str
    in_path: Mapping[str, str]
    in_query: Sequence[tuple[str, str]] = ()
    body: Any = None

    @property
    def path(self) -> str:
        """Write the address for logs and fingerprints; nothing is looked up by it."""
        return self.route.path.format(
            **{name: quote(value, safe="") for name, value in self.in_path.items()}
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """What the application answered."""

    status: int
    body: Any

    @property
    def is_good(self) -> bool:
        """Say whether it did what was asked."""
        return self.status < 400


@dataclass(slots=True)
class _RequestCycle:
    """What is said to the route and what it answers."""

    raw: bytes
    status: int = 500
    pieces: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    was_read: bool = False
    refused: Answered | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self) -> Message:
        """Hand out the body once; after that, report a disconnect when nobody listens any more."""
        if self.was_read:
            await self.over.wait()
            return {"type": "http.disconnect"}
        self.was_read = True
        return {"type": "http.request", "body": self.raw, "more_body": False}

    async def send(self, message: Message) -> None:
        """Take one piece of the answer, or stop listening."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            kind = Headers(raw=list(message.get("headers", ()))).get("content-type", "")
            if kind and "json" not in kind:
                await self._stop(_refusal(406, "not_json", "This answers with a file or a stream."))
            return
        piece: bytes = message.get("body", b"")
        self.size += len(piece)
        if self.size > LARGEST:
            detail = f"The answer is larger than {LARGEST} bytes: ask for less of it."
            await self._stop(_refusal(413, "answer_too_large", detail))
        self.pieces.append(piece)
        if message.get("more_body"):
            await SystemClock().sleep(
                0
            )  # a stream that never waits must not hold up everybody else

    async def _stop(self, refused: Answered) -> None:
        self.refused = refused
        self.over.set()
        await asyncio.Event().wait()  # until the task is canceled


async def call_internally(
    request: Request, call: InternalCall, headers: Mapping[str, str]
) -> Answered:
    """Call one route for the caller of another."""
    raw = b"" if call.body is None else json.dumps(call.body).encode()
    talk = _RequestCycle(raw)
    task = asyncio.ensure_future(
        request.app(_scope(request, call, raw, headers), talk.receive, talk.send)
    )
    over = asyncio.ensure_future(talk.over.wait())
    try:
        await asyncio.wait({task, over}, timeout=LONGEST, return_when=asyncio.FIRST_COMPLETED)
        if talk.refused is not None:
            return talk.refused
        if not task.done():
            return _refusal(504, "too_slow", f"There was no answer within {LONGEST:g} seconds.")
        task.result()
    finally:
        talk.over.set()
        task.cancel()
        await asyncio.gather(task, over, return_exceptions=True)
    said = b"".join(talk.pieces)
    return Answered(talk.status, json.loads(said) if said else None)


def _scope(
    request: Request, call: InternalCall, raw: bytes, headers: Mapping[str, str]
) -> dict[str, Any]:
    own = [(name, value) for name, value in request.scope["headers"] if name in CARRIED]
    own += [(name.encode(), value.encode()) for name, value in headers.items()]
    own += [(b"content-type", b"application/json"), (b"content-length", str(len(raw)).encode())]
    return {
        **{key: request.scope[key] for key in ("type", "asgi", "http_version", "server", "client")},
        "scheme": request.scope.get("scheme", "http"),
        "method": call.method,
        "path": call.path,
        "raw_path": call.path.encode(),
        "root_path": "",
        "query_string": urlencode(call.in_query).encode(),
        "headers": own,
        "app": request.app,
        INSIDE: call,
    }


def _refusal(status: int, code: str, message: str) -> Answered:
    return Answered(
        status, {"type": TYPE + code, "title": "Refused", "status": status, "detail": message}
    )
