"""A request as the product writes it: what to ask, of whom, and within which bounds.

Frozen values; nothing is sent here. Secrets may stand as `Secret` in headers, forms and JSON; one
that is part of the URL is revealed there and named in `secrets`, so that it can be kept out of every
text. A `Stream` can be read once, so it is never repeated.
"""

from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from cadenza.providers.http.redact import Secret, redact

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
MOST_REDIRECTS = 3
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to get a connection, between two signs of life, and for all of it."""

    connect: float = 10
    read: float = 30
    total: float = 60


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON body; a `Secret` inside is revealed as it is written."""

    value: Any


@dataclass(frozen=True, slots=True)
class Form:
    """A form body, percent-encoded."""

    fields: Mapping[str, str | Secret]


@dataclass(frozen=True, slots=True)
class File:
    """One file of a multipart body; an open file is read in pieces as it is sent."""

    content: bytes | BinaryIO
    name: str
    type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Multipart:
    """A form with files, several under one name where a tuple stands; multipart also without any."""

    files: Mapping[str, File | tuple[File, ...]]
    fields: Mapping[str, str | Secret] = field(default_factory=dict[str, str | Secret])


@dataclass(frozen=True, slots=True)
class Stream:
    """A body that is made while it is sent; give its length where it is known."""

    chunks: AsyncIterable[bytes]
    length: int | None = None


Body = bytes | Json | Form | Multipart | Stream | None


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """One request. `idempotent`: repeating it does no harm, so it may use a kept connection."""

    method: str
    url: str
    headers: Mapping[str, str | Secret] = field(default_factory=dict[str, str | Secret])
    body: Body = None
    timeout: Timeouts = field(default_factory=Timeouts)
    max_bytes: int = MIB  # of the reply, as it comes and unpacked
    expect: tuple[str, ...] = ()  # media types of a good reply, e.g. "image/*"
    redirects: int = 0  # followed for GET and HEAD only
    idempotent: bool = False
    secrets: tuple[Secret, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", self.method.upper())
        if self.method not in METHODS:
            raise ValueError(f"method {self.method!r}: use one of {', '.join(sorted(METHODS))}")
        if not 0 <= self.redirects <= MOST_REDIRECTS:
            raise ValueError(f"redirects must be 0 to {MOST_REDIRECTS}, not {self.redirects}")

    @property
    def repeatable(self) -> bool:
        """Say whether sending it twice is as good as once."""
        return self.idempotent or self.method in HARMLESS

    def __repr__(self) -> str:
        return f"<Request {self.method} {redact(self.url, self.secrets)}>"
