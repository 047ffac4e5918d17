"""Write a request as it goes out: headers checked, body encoded, secrets gathered.

Headers that decide framing, routing or the host are ours alone. Nothing is sent from here. Limit:
an open file in a multipart body is read in the event loop, in small pieces.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

import httpx2

from cadenza.providers.http.outcome import Reason, Stop
from cadenza.providers.http.parse_target import Target
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Body, Form, Json, Multipart, Request, Stream

AGENT = "Cadenza (self-hosted scheduler)"
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x20-\x7e\t]*")
OURS = frozenset(
    {
        *("host", "connection", "keep-alive", "upgrade", "te", "trailer", "expect"),
        *("content-length", "transfer-encoding", "accept-encoding"),
        *("proxy-authorization", "proxy-connection"),
    }
)


@dataclass(frozen=True, slots=True, repr=False)
class OutboundRequest:
    """One hop, ready to be sent."""

    method: str
    target: Target
    headers: dict[str, str]
    body: Body
    secrets: tuple[Secret, ...]

    def encode(self) -> httpx2.Request:
        """Encode it again, so that a repeated call does not meet a used-up stream."""
        try:
            content = _content(self.body)
        except (TypeError, ValueError) as wrong:
            raise Stop(Reason.BAD_REQUEST, f"the body cannot be encoded: {wrong}") from wrong
        return httpx2.Request(self.method, self.target.url, headers=self.headers, **content)


def pack(request: Request, target: Target) -> OutboundRequest:
    """Check the headers and gather the secrets of a request."""
    headers = {"user-agent": AGENT, "accept": "*/*"}
    for name, value in request.headers.items():
        headers[name.lower()] = _checked(name, value)
    headers["accept-encoding"] = "gzip"
    if isinstance(request.body, Stream) and request.body.length is not None:
        headers["content-length"] = str(request.body.length)
    if isinstance(request.body, Json):
        headers.setdefault("content-type", "application/json")
    return OutboundRequest(request.method, target, headers, request.body, secrets_of(request))


def secrets_of(request: Request) -> tuple[Secret, ...]:
    """Return all that must not be read: what the caller named, and what stands in headers and body."""
    in_headers = [value for value in request.headers.values() if isinstance(value, Secret)]
    return (*request.secrets, *in_headers, *_inside(request.body))


def _checked(name: str, value: str | Secret) -> str:
    plain = value.reveal() if isinstance(value, Secret) else value
    if name.lower() in OURS:
        raise Stop(Reason.BAD_REQUEST, f"header {name} is set by the client, not by a caller")
    if not _NAME.fullmatch(name) or not _VALUE.fullmatch(plain):
        raise Stop(Reason.BAD_REQUEST, f"header {name!r} holds what a header cannot carry")
    return plain.strip()


def _content(body: Body) -> dict[str, Any]:
    match body:
        case None:
            return {}
        case bytes():
            return {"content": body}
        case Json():
            return {"content": json.dumps(body.value, default=_reveal, ensure_ascii=False).encode()}
        case Form():
            return {"data": {name: _reveal(value) for name, value in body.fields.items()}}
        case Stream():
            return {"content": body.chunks}
        case Multipart():
            return {"files": [*_fields(body), *_files(body)]}


def _fields(body: Multipart) -> list[tuple[str, tuple[None, bytes]]]:
    # As parts without a file name: a form whose files are none would not be multipart.
    return [(name, (None, _reveal(value).encode())) for name, value in body.fields.items()]


def _files(body: Multipart) -> list[tuple[str, tuple[str, Any, str]]]:
    return [
        (name, (file.name, file.content, file.type))
        for name, given in body.files.items()
        for file in (given if isinstance(given, tuple) else (given,))
    ]


def _reveal(value: object) -> str:
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, str):
        return value
    raise TypeError(f"{type(value).__name__} cannot stand in a request body")


def _inside(body: object) -> list[Secret]:
    """Find the secrets that stand in a body, however deep."""
    match body:
        case Secret():
            return [body]
        case Json():
            return _inside(body.value)
        case Form() | Multipart():
            return _inside(dict(body.fields))
        case dict():
            return [found for value in body.values() for found in _inside(value)]
        case list() | tuple():
            return [found for value in body for found in _inside(value)]
        case _:
            return []
