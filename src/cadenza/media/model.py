"""What an uploaded file is, as the product knows it, and the shape in which a delivery carries it.

A `Media` is one row. `as_content` gives the JSON that `deliveries/render.py` reads: the name in the
storage, not an address, because public addresses expire and are signed when the message is rendered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from cadenza.providers.message import MediaKind
from cadenza.sql.tx import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a file's content says of itself."""

    kind: MediaKind
    mime: str
    extension: str  # ours, from the type; never the one of the upload's name
    size: int
    sha256: str
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    shows: bool = False  # a small picture of it can be made
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """One file of a workspace."""

    workspace_id: str
    id: str
    file: str  # in the storage
    kind: MediaKind
    mime: str
    size: int
    width: int | None
    height: int | None
    seconds: float | None
    sha256: str
    name: str  # for people
    alt: str
    thumbnail: str | None
    notes: tuple[str, ...]
    created_at: datetime
    created_by: str
    stored_at: datetime | None
    deleted_at: datetime | None

    @property
    def usable(self) -> bool:
        """Say whether a post may show it: its file is whole and nobody deleted it."""
        return self.stored_at is not None and self.deleted_at is None

    def as_content(self, alt: str | None = None) -> dict[str, Any]:
        """Return it as a delivery's content holds it; a post may describe it in its own words."""
        return {
            "id": self.id,
            "name": self.name,
            "file": self.file,
            "kind": self.kind.value,
            "mime": self.mime,
            "size": self.size,
            "width": self.width,
            "height": self.height,
            "seconds": self.seconds,
            "alt": self.alt if alt is None else alt,
        }


@dataclass(frozen=True, slots=True)
class NoSuchMedia:
    """The workspace has no such file, or not any more."""

    ids: tuple[str, ...]
    message: str


def media_of(row: Row) -> Media:
    """Read a row of the table."""
    return Media(
        workspace_id=row["workspace_id"],
        id=row["id"],
        file=row["file"],
        kind=MediaKind(row["kind"]),
        mime=row["mime"],
        size=row["size"],
        width=row["width"],
        height=row["height"],
        seconds=row["seconds"],
        sha256=row["sha256"],
        name=row["name"],
        alt=row["alt"],
        thumbnail=row["thumbnail"],
        notes=tuple(msgspec.json.decode(row["notes"], type=list[str])),
        created_at=row["created_at"],
        created_by=row["created_by"],
        stored_at=row["stored_at"],
        deleted_at=row["deleted_at"],
    )


def in_order(ids: Sequence[str], found: Sequence[Media]) -> list[Media] | NoSuchMedia:
    """Return what was found in the order asked, or say what is missing."""
    by_id = {media.id: media for media in found}
    missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in by_id]
    return no_such(missing) if missing else [by_id[id_] for id_ in ids]


def no_such(ids: list[str]) -> NoSuchMedia:
    """Say which are not there, and what to do."""
    named = ", ".join(ids)
    return NoSuchMedia(
        tuple(ids),
        f"there is no media {named} in this workspace (deleted, or its upload did not end): "
        "upload it again, or take it out of the post",
    )
