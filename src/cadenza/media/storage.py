"""The port to where bytes lie: a folder of this machine, or a bucket.

Names are the product's own (`<workspace>/<sha256>-<id>.<ending>`) and checked here once more, so that no
name leads out of its place. A write is whole or not there, and writing the same name again is harmless.
"""

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

PIECE = 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9][A-Za-z0-9._-]{0,249}")


class BadName(ValueError):
    """A name that was not made by the product."""


class NotStored(LookupError):
    """There are no bytes of that name."""


class StorageFailed(Exception):
    """The storage did not do what was asked; asking again later is harmless."""


class Storage(Protocol):
    """Where bytes lie."""

    async def write(self, name: str, source: Path, *, mime: str, sha256: str) -> None:
        """Store the file under the name, whole or not at all; durable when this returns."""
        ...

    async def read(self, name: str) -> bytes:
        """Return all of it."""
        ...

    def pieces(
        self, name: str, *, start: int = 0, length: int | None = None
    ) -> AsyncIterator[bytes]:
        """Yield a stretch of it piece by piece; at most a piece is held in memory."""
        ...

    async def size(self, name: str) -> int | None:
        """Return how many bytes it has; None: it is not there."""
        ...

    async def delete(self, name: str) -> None:
        """Remove it; what is not there is fine."""
        ...

    def public_url(self, name: str, *, now: datetime, lasts: timedelta) -> str | None:
        """Return an address that the whole world can fetch for a while; None: it has none of its own."""
        ...


def checked(name: str) -> str:
    """Return the name, or raise when it is none of ours."""
    if not _NAME.fullmatch(name):
        raise BadName(f"{name!r} is no name of a stored file")
    return name
