"""Keeps a file's row: before its bytes are stored, and again when they are.

The same content twice in one workspace is one row. A row whose upload was cut short is taken over by
the next upload of that content: same row, same file name, same bytes. So `begin`, store, `finish` may
stop anywhere and be done again; what nobody ends is swept up (`sweep.py`).
"""

import re
from dataclasses import dataclass
from datetime import datetime

import msgspec

from cadenza.db.audit import record
from cadenza.media.limits import MIB
from cadenza.media.model import Facts, Media, media_of
from cadenza.sql.tx import Tx

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class Known:
    """The workspace has this content already; nothing is to be stored."""

    media: Media


@dataclass(frozen=True, slots=True)
class Store:
    """Store the bytes under `media.file` (and the small picture under `media.thumbnail`), then finish."""

    media: Media


@dataclass(frozen=True, slots=True)
class Full:
    """The workspace's files would take more than its owner allows."""

    message: str


@dataclass(frozen=True, slots=True)
class RemovedMeanwhile:
    """The row went while the bytes were on their way: upload again."""

    message: str = "the upload took so long that it was given up: upload the file again"


def begin(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    facts: Facts,
    name: str,
    alt: str,
    by: str,
    most: int | None = None,
) -> Known | Store | Full:
    """Find the row of this content or make one; an unfinished one starts its time again.

    `most` bounds the workspace's bytes; uploads at the same instant may pass it by their own size.
    """
    if most is not None and (taken := _taken(tx, workspace_id)) + facts.size > most:
        return Full(
            f"the workspace's files take {taken // MIB} of {most // MIB} MB and this one would "
            "not fit: delete what is not needed, or ask the owner for more"
        )
    made = _insert(tx, now, workspace_id=workspace_id, facts=facts, name=name, alt=alt, by=by)
    if made is not None:
        return Store(made)
    rows = tx.all(
        """
        UPDATE media SET created_at = CASE WHEN stored_at IS NULL THEN :now ELSE created_at END
        WHERE workspace_id = :workspace_id AND sha256 = :sha256 AND deleted_at IS NULL
        RETURNING *
        """,
        now=now,
        workspace_id=workspace_id,
        sha256=facts.sha256,
    )
    if not rows:  # deleted in this very moment: its place is free now
        return begin(tx, now, workspace_id=workspace_id, facts=facts, name=name, alt=alt, by=by)
    media = media_of(rows[0])
    return Known(media) if media.stored_at is not None else Store(media)


def finish(tx: Tx, now: datetime, *, media: Media, by: str) -> Media | RemovedMeanwhile:
    """Write that its bytes are whole: from now on posts may show it."""
    rows = tx.all(
        """
        UPDATE media SET stored_at = COALESCE(stored_at, :now)
        WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL
        RETURNING *
        """,
        now=now,
        workspace_id=media.workspace_id,
        id=media.id,
    )
    if not rows:
        return RemovedMeanwhile()
    stored = media_of(rows[0])
    if stored.stored_at == now:
        record(
            tx,
            now,
            workspace_id=media.workspace_id,
            by=by,
            action="media.add",
            subject_id=media.id,
            after={"name": stored.name, "mime": stored.mime, "size": stored.size},
        )
    return stored


def _insert(
    tx: Tx, now: datetime, *, workspace_id: str, facts: Facts, name: str, alt: str, by: str
) -> Media | None:
    id_ = tx.new_id()
    if not _SAFE.fullmatch(workspace_id) or not _SAFE.fullmatch(id_):
        raise ValueError(
            f"workspace {workspace_id!r} or media {id_!r} cannot be part of a file's name"
        )
    stem = f"{workspace_id}/{facts.sha256}-{id_}"
    rows = tx.all(
        """
        INSERT INTO media (workspace_id, id, file, kind, mime, size, width, height, seconds, sha256, name,
            alt, thumbnail, notes, created_at, created_by)
        VALUES (:workspace_id, :id, :file, :kind, :mime, :size, :width, :height, :seconds, :sha256, :name,
            :alt, :thumbnail, :notes, :now, :by)
        ON CONFLICT (workspace_id, sha256) WHERE deleted_at IS NULL DO NOTHING
        RETURNING *
        """,
        workspace_id=workspace_id,
        id=id_,
        file=f"{stem}.{facts.extension}",
        kind=facts.kind.value,
        mime=facts.mime,
        size=facts.size,
        width=facts.width,
        height=facts.height,
        seconds=facts.seconds,
        sha256=facts.sha256,
        name=name,
        alt=alt,
        thumbnail=f"{stem}.small.jpg" if facts.shows else None,
        notes=msgspec.json.encode(list(facts.notes)).decode(),
        now=now,
        by=by,
    )
    return media_of(rows[0]) if rows else None


def _taken(tx: Tx, workspace_id: str) -> int:
    taken = tx.value(
        """
        SELECT COALESCE(sum(size), 0) FROM media
        WHERE workspace_id = :workspace_id AND deleted_at IS NULL
        """,
        workspace_id=workspace_id,
    )
    return int(taken)
