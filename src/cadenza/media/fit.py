"""Brings a picture to what a network takes, once: made in a thread, stored beside its source, remembered in a row.

The first result stands: every later preview, send and repeat uses its bytes, also after an upgrade that would draw
otherwise; only one whose file is gone from the storage is made again. A crash between file and row leaves a file
that the next making writes over. Called between transactions, by the worker and by the preview alike.
"""

import hashlib
import tempfile
from datetime import datetime
from pathlib import Path

from cadenza.media.convert import Converted, convert
from cadenza.media.storage import checked
from cadenza.media.upload import UploadDesk
from cadenza.providers.fit_picture import JPEG, FittedFile, PictureChange
from cadenza.sql.tx import Row, Tx


async def fit(desk: UploadDesk, source: str, change: PictureChange) -> FittedFile | None:
    """Return the changed picture, made now or before; None: this file cannot be changed."""
    known, _ = await _known(desk, source, change)
    if known is not None:
        return known
    async with desk.turns:
        known, lost = await _known(desk, source, change)
        if known is not None:  # another made it while this one waited
            return known
        data = await desk.storage.read(source)
        made: Converted | None = await desk.threads.call(
            convert, {"data": data, "change": change, "most_pixels": desk.limits.pixels}
        )
    if made is None:
        return None
    digest = hashlib.sha256(made.data).hexdigest()
    stem = checked(source).rpartition(".")[0]
    new = FittedFile(
        file=f"{stem}.fit-{digest[:16]}.jpg",
        mime=JPEG,
        size=len(made.data),
        width=made.width,
        height=made.height,
        stopped=made.stopped,
    )
    await _store(desk, new, made.data, digest)
    return await desk.operations.run(
        lambda tx, now: _remember(tx, now, source, change.name, new, lost)
    )


def read_fitted(tx: Tx, source: str, change: str) -> FittedFile | None:
    """Return what was made of a file before."""
    row = tx.one(
        """
        SELECT file, mime, size, width, height, stopped FROM media_fit
        WHERE workspace_id = :workspace_id AND source = :source AND change = :change
        """,
        workspace_id=_workspace_of(source),
        source=source,
        change=change,
    )
    return None if row is None else _fitted(row)


def files_made_of(tx: Tx, source: str) -> list[str]:
    """Name all that was made of a file, for when it goes."""
    rows = tx.all(
        "SELECT file FROM media_fit WHERE workspace_id = :workspace_id AND source = :source",
        workspace_id=_workspace_of(source),
        source=source,
    )
    return [row["file"] for row in rows]


def forget_fitted(tx: Tx, source: str) -> None:
    """Let the rows go whose files are gone."""
    tx.run(
        "DELETE FROM media_fit WHERE workspace_id = :workspace_id AND source = :source",
        workspace_id=_workspace_of(source),
        source=source,
    )


async def _known(
    desk: UploadDesk, source: str, change: PictureChange
) -> tuple[FittedFile | None, FittedFile | None]:
    """Return what was made before, or else what was made and is gone."""
    known = await desk.operations.read(lambda tx, _: read_fitted(tx, source, change.name))
    if known is not None and await desk.storage.size(known.file) is None:
        return None, known
    return known, None


def _remember(
    tx: Tx, now: datetime, source: str, change: str, new: FittedFile, lost: FittedFile | None
) -> FittedFile | None:
    """Write the row; of two that made it at once, the first stands, and both use its file."""
    if lost is not None:
        tx.run(
            """
            DELETE FROM media_fit
            WHERE workspace_id = :workspace_id AND source = :source AND change = :change AND file = :file
            """,
            workspace_id=_workspace_of(source),
            source=source,
            change=change,
            file=lost.file,
        )
    tx.run(
        """
        INSERT INTO media_fit (workspace_id, source, change, file, mime, size, width, height, stopped, made_at)
        VALUES (:workspace_id, :source, :change, :file, :mime, :size, :width, :height, :stopped, :now)
        ON CONFLICT DO NOTHING
        """,
        workspace_id=_workspace_of(source),
        source=source,
        change=change,
        file=new.file,
        mime=new.mime,
        size=new.size,
        width=new.width,
        height=new.height,
        stopped=new.stopped,
        now=now,
    )
    return read_fitted(tx, source, change)


async def _store(desk: UploadDesk, new: FittedFile, data: bytes, digest: str) -> None:
    with tempfile.TemporaryDirectory(prefix="cadenza-fit-", dir=desk.scratch) as folder:
        path = Path(folder) / "picture"
        await desk.threads.call(path.write_bytes, {"data": data})
        await desk.storage.write(new.file, path, mime=new.mime, sha256=digest)


def _workspace_of(source: str) -> str:
    return source.partition("/")[0]


def _fitted(row: Row) -> FittedFile:
    return FittedFile(
        file=row["file"],
        mime=row["mime"],
        size=row["size"],
        width=row["width"],
        height=row["height"],
        stopped=bool(row["stopped"]),
    )
