"""What the classic interface works on: a document with four known fields, wherever they are kept.

`sleep_until` is the only state: a past time is due, a future one deferred or locked, none is
finished. The lock is a time that the worker wrote, and it is the fence as well: whoever settles
must still find the very value that it wrote.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Protocol

from cadenza.engine.errors import InvalidJob

_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INDEX = re.compile(r"\[([0-9]+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldPaths:
    """Where in a document the known fields are; dots lead into nested ones, numbers into lists.

    `jobs[0].at` is the same as `jobs.0.at`, and is kept so, because MongoDB knows no brackets.
    """

    id: str = "_id"
    sleep_until: str = "sleepUntil"
    interval: str = "interval"
    repeat_until: str = "repeatUntil"
    auto_remove: str = "autoRemove"

    def __post_init__(self) -> None:
        for each in fields(self):
            path = ".".join(split_path(getattr(self, each.name)))
            object.__setattr__(self, each.name, path)


@dataclass(slots=True)
class Document:
    """A locked document as it was before the lock.

    A handler may change it: what it then says of interval, end and removal decides what comes
    next. `locked_until` is the lock that was written, and must be left alone.
    """

    id: Any
    sleep_until: datetime | None
    interval: str | None = None
    repeat_until: datetime | None = None
    auto_remove: bool = False
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    locked_until: datetime | None = None


class ClassicStore(Protocol):
    """Three atomic steps over somebody's documents; all times are the worker's, in milliseconds."""

    async def lock_next(self, lock_until: datetime, *, now: datetime) -> Document | None:
        """Lock the document that has been due longest; None if none is due."""
        ...

    async def update(
        self, id: Any, *, sleep_until: datetime | None, locked_until: datetime | None
    ) -> bool:
        """Give a document its next time, or none; only if it still bears this lock."""
        ...

    async def remove(self, id: Any, *, locked_until: datetime | None) -> bool:
        """Delete a document; only if it still bears this lock."""
        ...


def split_path(path: str) -> tuple[str, ...]:
    """Take a dotted path apart; anything but plain names, and numbers behind one, is refused."""
    parts = tuple(_INDEX.sub(r".\1", path).split("."))
    if not _PART.fullmatch(parts[0]) or not all(
        _PART.fullmatch(part) or (part.isascii() and part.isdigit()) for part in parts
    ):
        message = (
            f"{path!r} is no field path: names of letters, digits and _, joined by dots, "
            "with the number of an item in brackets"
        )
        raise InvalidJob(message)
    return parts


def step_into(found: Any, part: str) -> Any:
    """Go one step along a path; None where there is nothing."""
    if isinstance(found, Mapping):
        return found.get(part)
    if isinstance(found, Sequence) and part.isdigit() and int(part) < len(found):
        return found[int(part)]
    return None


def pick(data: Mapping[str, Any], path: str) -> Any:
    """Read a nested field; None where the path ends early."""
    found: Any = data
    for part in split_path(path):
        found = step_into(found, part)
    return found
