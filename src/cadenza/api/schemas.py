"""The shapes that all resources share: ids, times, pages, and answers that may be a dry run.

Input refuses what it does not know (`extra="forbid"`); text carries no control characters; a time
without an offset is refused, unless a zone is given with it. Times are answered in UTC.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, time
from hashlib import sha256
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from fastapi import Depends, Path, Query
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from cadenza.api.problems import Problem
from cadenza.core.zones import UnknownZoneError, get_zone
from cadenza.sql.tx import Row

Item = TypeVar("Item")
ID = r"^[A-Za-z0-9][A-Za-z0-9:._@-]*$"
Id = Annotated[str, Path(min_length=1, max_length=128, pattern=ID)]
IdField = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=ID)]
WorkspaceId = Id


def _no_controls(text: str) -> str:
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in text):
        raise ValueError("it holds control characters: write one plain line")
    return text


def _utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("this instant is beyond what we can keep") from error


def _zone(name: str) -> str:
    try:
        get_zone(name)
    except UnknownZoneError as error:
        raise ValueError(str(error)) from error
    return name


Line = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, strip_whitespace=True),
    AfterValidator(_no_controls),
]
Instant = Annotated[AwareDatetime, AfterValidator(_utc)]
# A clock on a wall has no offset, which the format `time` asks for.
WallTime = Annotated[
    time,
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?$",
            "examples": ["09:00"],
        }
    ),
]
ZoneName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_+/-]+$"),
    AfterValidator(_zone),
    Field(description="A zone of the tz database", examples=["Europe/Berlin"]),
]
Email = Annotated[
    str,
    StringConstraints(
        min_length=3, max_length=254, pattern=r"^[^@\s<>,;:\\\"()\[\]]+@[^@\s<>,;:\\\"()\[\]]+$"
    ),
    AfterValidator(_no_controls),
    Field(examples=["ada@example.org"]),
]


class InputModel(BaseModel):
    """Input: what is not known is refused."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """What a write answers; `dry_run` says that it was only tried, and nothing is changed."""

    dry_run: bool = False


class SecretView(Answer):
    """An answer that holds a secret: it is shown once and not kept for repetition."""


class Page(BaseModel, Generic[Item]):
    """Some of a list; `next` is the cursor of what follows."""

    items: list[Item]
    next: str | None = None


class PageInput:
    """Which part of a list is wanted."""

    def __init__(self, limit: int, cursor: str | None) -> None:
        self.limit = limit
        self.after: tuple[datetime, str] | None = None if cursor is None else _read(cursor)

    def cut(
        self, rows: Sequence[Row], show: Callable[[Row], Item], *, at: str, id: str = "id"
    ) -> Page[Item]:
        """Make a page of `limit + 1` rows that came in order of (`at`, `id`)."""
        shown = [show(row) for row in rows[: self.limit]]
        last = rows[self.limit - 1] if len(rows) > self.limit else None
        return Page(items=shown, next=None if last is None else _write(last[at], last[id]))


async def _paged(  # `async`, so that it is not sent to a thread
    limit: Annotated[int, Query(ge=1, le=200, description="How many at most")] = 50,
    cursor: Annotated[
        str | None,
        Query(max_length=600, description="`next` of the page before", pattern=r"^[\w=-]+$"),
    ] = None,
) -> PageInput:
    return PageInput(limit, cursor)


Paged = Annotated[PageInput, Depends(_paged)]
FIRST = datetime(1, 1, 2, tzinfo=UTC)
LAST = datetime(9999, 12, 30, tzinfo=UTC)


def one_of(column: str, values: Iterable[str] | None) -> tuple[str, dict[str, str]]:
    """Write `column IN (…)` with its parameters; None lets every value pass."""
    if values is None:
        return "1 = 1", {}
    named = {f"{column}_{n}": value for n, value in enumerate(sorted(set(values)))}
    return (f"{column} IN ({', '.join(':' + n for n in named)})" if named else "1 = 0"), named


def etag_of(shown: BaseModel) -> str:
    """Name a state of a thing: another state has another name."""
    said = shown.model_dump_json(exclude={"dry_run"})
    return f'"{sha256(said.encode()).hexdigest()[:32]}"'


def loads(text: str | None) -> Any:
    """Read a JSON column."""
    return None if text is None else msgspec.json.decode(text)


def cursor_at(at: datetime, id_: str) -> str:
    """Write the cursor of what follows a row."""
    return _write(at, id_)


def _write(at: datetime, id_: str) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode([at.astimezone(UTC), id_])).decode()


def _read(cursor: str) -> tuple[datetime, str]:
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii", "replace"))
        at, id_ = msgspec.json.decode(raw, type=tuple[datetime, str])
        return _utc(at), id_.encode().decode().replace("\x00", "")
    except (ValueError, binascii.Error, msgspec.MsgspecError) as error:
        raise Problem(
            400, "bad_cursor", "The cursor is none of ours: take `next` as it was answered."
        ) from error
