"""Requests and answers as the networks' handlers see them, with the bodies taken apart strictly.

A body is read only as what its content type says; anything else is `Unreadable`, which a world turns
into its own refusal. A lenient server would hide an adapter's mistakes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

Headers = tuple[tuple[str, str], ...]


class Unreadable(ValueError):
    """The body is not what its content type says, or the type is not taken here."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply: bytes and headers, as they go on the wire."""

    status: int
    body: bytes = b""
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One field of a multipart form; `filename` is None for plain fields."""

    name: str
    data: bytes
    filename: str | None = None
    mime: str = "text/plain"

    @property
    def text(self) -> str:
        return self.data.decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request that came in; `args` are the parts of the path that the route named."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    at: datetime
    endpoint: str = "api"
    args: Mapping[str, str] = field(default_factory=dict[str, str])
    lag: float = 0.0  # seconds for which lists shall not show what this request does

    @property
    def mime(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def bearer(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" and token.strip() else None

    def json(self) -> dict[str, Any]:
        """Read a JSON object."""
        if self.mime != "application/json":
            raise Unreadable(f"expected application/json, got {self.mime or 'no content type'}")
        try:
            data = json.loads(self.body)
        except ValueError as error:
            raise Unreadable("the body is not JSON") from error
        if not isinstance(data, dict):
            raise Unreadable("the body is not a JSON object")
        return data

    def form(self) -> list[tuple[str, str]]:
        """Read a URL-encoded form, fields in order; a name may come twice."""
        if self.mime != "application/x-www-form-urlencoded":
            raise Unreadable(f"expected a form, got {self.mime or 'no content type'}")
        return parse_qsl(self.body.decode(), keep_blank_values=True, strict_parsing=False)

    def parts(self) -> list[Part]:
        """Read a multipart form."""
        if self.mime != "multipart/form-data":
            raise Unreadable(f"expected multipart/form-data, got {self.mime or 'no content type'}")
        head = f"content-type: {self.headers['content-type']}\r\n\r\n".encode()
        message = BytesParser(policy=HTTP).parsebytes(head + self.body)
        if not message.is_multipart():
            raise Unreadable("the multipart body has no boundary")
        return [_part(each) for each in message.iter_parts()]


def say(status: int, payload: Any, headers: Iterable[tuple[str, str]] = ()) -> Answer:
    """Make a JSON answer."""
    body = json.dumps(payload, ensure_ascii=False).encode()
    return Answer(status, body, (("content-type", "application/json; charset=utf-8"), *headers))


def _part(part: Any) -> Part:
    name = part.get_param("name", header="content-disposition")
    if not name:
        raise Unreadable("a part of the form has no name")
    return Part(
        name=str(name),
        data=part.get_payload(decode=True) or b"",
        filename=part.get_filename(),
        mime=part.get_content_type(),
    )
