"""Calls the application from inside itself, through the same gate as everybody.

Credentials and address are those of the request that asks, so nothing is allowed here that would not be
allowed outside. Limit: whole answers only, no streams.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from fastapi import Request
from starlette.types import Message

INSIDE = "cadenza.inside"  # it is served in the turn of the request that asks
CARRIED = (b"authorization", b"cookie", b"host", b"origin", b"user-agent", b"x-cadenza-csrf")


@dataclass(frozen=True, slots=True)
class Answered:
    """What the application answered."""

    status: int
    body: Any

    @property
    def is_good(self) -> bool:
        """Say whether it did what was asked."""
        return self.status < 400


async def call_inside(
    request: Request, method: str, address: str, body: Any, headers: Mapping[str, str]
) -> Answered:
    """Make one request for the caller of another."""
    path, _, query = address.partition("?")
    raw = b"" if body is None else json.dumps(body).encode()
    own = [(name, value) for name, value in request.scope["headers"] if name in CARRIED]
    own += [(name.encode(), value.encode()) for name, value in headers.items()]
    own += [(b"content-type", b"application/json"), (b"content-length", str(len(raw)).encode())]
    scope = {
        **{key: request.scope[key] for key in ("type", "asgi", "http_version", "server", "client")},
        "scheme": request.scope.get("scheme", "http"),
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": own,
        "app": request.app,
        INSIDE: True,
    }
    status, pieces = 500, list[bytes]()

    async def receive() -> Message:
        return {"type": "http.request", "body": raw, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            pieces.append(message.get("body", b""))

    await request.app(scope, receive, send)
    said = b"".join(pieces)
    return Answered(status, json.loads(said) if said else None)
