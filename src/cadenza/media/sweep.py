"""Cleans up: what nobody has used for a while, uploads that were cut short, bytes of what was deleted.

Rows first, bytes later: a row is marked in one transaction, days later its bytes are removed, and only
then is the row let go. A crash between leaves work for the next pass, never a row whose bytes are gone
unnoticed. What a post shows or a pool keeps is never touched. Each step takes a bounded number of rows.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.db.audit import record
from cadenza.media.fit import files_made_of, forget_fitted
from cadenza.media.model import Media, media_of
from cadenza.media.storage import Storage, StorageFailed
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx

log = logging.getLogger("cadenza.media")
UNUSED_FOR = timedelta(days=30)
CUT_SHORT = timedelta(days=1)
GRACE = timedelta(days=7)  # a delete by mistake can be undone by the owner until then
MOST = 200

_FREE = """
    NOT EXISTS (
        SELECT 1 FROM media_use u WHERE u.workspace_id = media.workspace_id AND u.media_id = media.id
    ) AND NOT EXISTS (
        SELECT 1 FROM media_keep k WHERE k.workspace_id = media.workspace_id AND k.media_id = media.id
    )
"""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What a pass did."""

    marked: int
    removed: int
    failed: int


def find_unused(
    tx: Tx, now: datetime, *, workspace_id: str, unused_for: timedelta = UNUSED_FOR
) -> list[Media]:
    """Return what the next pass would mark in this workspace: a dry run."""
    rows = tx.all(
        f"""
        SELECT * FROM media
        WHERE workspace_id = :workspace_id AND deleted_at IS NULL AND stored_at IS NOT NULL
            AND idle_at < :before_at AND {_FREE}
        ORDER BY idle_at LIMIT {MOST}
        """,  # noqa: S608 - fixed words
        workspace_id=workspace_id,
        before_at=now - unused_for,
    )
    return [media_of(row) for row in rows]


def notice_idle(tx: Tx, now: datetime) -> int:
    """Write since when each unused file has been so; `use` and `keep` take the note away again."""
    return tx.run(
        f"""
        UPDATE media SET idle_at = :now
        WHERE idle_at IS NULL AND deleted_at IS NULL AND stored_at IS NOT NULL AND {_FREE}
        """,  # noqa: S608 - fixed words
        now=now,
    )


def mark_unused(
    tx: Tx, now: datetime, *, unused_for: timedelta = UNUSED_FOR, most: int = MOST
) -> int:
    """Mark what has been idle long enough, and uploads that were cut short."""
    picked = tx.all(
        f"""
        SELECT workspace_id, id FROM media
        WHERE deleted_at IS NULL AND stored_at IS NOT NULL AND idle_at < :before_at AND {_FREE}
        ORDER BY idle_at LIMIT :most
        """,  # noqa: S608 - fixed words
        before_at=now - unused_for,
        most=most,
    )
    marked = 0
    for row in picked:
        # Asked again on the held row: a post may have taken it since.
        gone = tx.all(
            f"""
            UPDATE media SET deleted_at = :now
            WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL
                AND idle_at < :before_at AND {_FREE}
            RETURNING name
            """,  # noqa: S608 - fixed words
            now=now,
            before_at=now - unused_for,
            workspace_id=row["workspace_id"],
            id=row["id"],
        )
        for name in gone:
            marked += 1
            record(
                tx,
                now,
                workspace_id=row["workspace_id"],
                by="system",
                action="media.sweep",
                subject_id=row["id"],
                before={"name": name["name"]},
            )
    return marked + tx.run(
        """
        UPDATE media SET deleted_at = :now
        WHERE stored_at IS NULL AND deleted_at IS NULL AND created_at < :before_at
        """,
        now=now,
        before_at=now - CUT_SHORT,
    )


def removable(tx: Tx, now: datetime, *, grace: timedelta = GRACE, most: int = MOST) -> list[Media]:
    """Return the rows whose bytes may go now."""
    rows = tx.all(
        """
        SELECT * FROM media WHERE removed_at IS NULL AND deleted_at <= :before_at
        ORDER BY deleted_at LIMIT :most
        """,
        before_at=now - grace,
        most=most,
    )
    return [media_of(row) for row in rows]


def forget(tx: Tx, now: datetime, gone: Sequence[Media]) -> None:
    """Write that the bytes are gone; a row that no post's history names goes with them."""
    for media in gone:
        key = {"workspace_id": media.workspace_id, "id": media.id}
        tx.run(
            """
            UPDATE media SET removed_at = :now
            WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NOT NULL
            """,
            now=now,
            **key,
        )
        tx.run(
            f"""
            DELETE FROM media
            WHERE workspace_id = :workspace_id AND id = :id AND removed_at IS NOT NULL AND {_FREE}
            """,  # noqa: S608 - fixed words
            **key,
        )
        forget_fitted(tx, media.file)


async def sweep(
    operations: Operations,
    storage: Storage,
    *,
    unused_for: timedelta = UNUSED_FOR,
    grace: timedelta = GRACE,
) -> Cleaned:
    """Make one pass; run it daily. What the storage cannot remove now is tried in the next."""
    await operations.run(notice_idle)
    marked = await operations.run(lambda tx, now: mark_unused(tx, now, unused_for=unused_for))
    waiting = await operations.read(lambda tx, now: removable(tx, now, grace=grace))
    gone = [media for media in waiting if await _remove(operations, storage, media)]
    await operations.run(lambda tx, now: forget(tx, now, gone))
    return Cleaned(marked, len(gone), len(waiting) - len(gone))


async def _remove(operations: Operations, storage: Storage, media: Media) -> bool:
    made = await operations.read(lambda tx, _: files_made_of(tx, media.file))
    try:
        for name in (media.file, media.thumbnail, *made):
            if name is not None:
                await storage.delete(name)
    except (OSError, StorageFailed):
        log.warning("media could not be removed", exc_info=True, extra={"file": media.file})
        return False
    return True
