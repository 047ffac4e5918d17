"""Deletes a file from the library, unless a post that is still to go out shows it.

The row is only marked: posts that went out keep their history, and the bytes go later (`sweep.py`).
Limit: a post that failed or was missed does not hold its files; a retry then says what is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.db.audit import record
from cadenza.media.model import NoSuchMedia, no_such
from cadenza.sql.tx import Tx

# A post holds its files while something of it may still leave, and while it is a draft: nothing of it
# has a fate yet (what was canceled or skipped does not count).
HOLDING = """
    SELECT u.media_id, u.post_id FROM media_use u
    WHERE u.workspace_id = :workspace_id AND (
        EXISTS (
            SELECT 1 FROM delivery d
            WHERE d.workspace_id = u.workspace_id AND d.post_id = u.post_id
                AND d.state IN ('draft', 'scheduled', 'sending', 'unconfirmed')
        ) OR NOT EXISTS (
            SELECT 1 FROM delivery d
            WHERE d.workspace_id = u.workspace_id AND d.post_id = u.post_id
                AND d.state IN ('sent', 'failed', 'missed')
        )
    )
"""


@dataclass(frozen=True, slots=True)
class Deleted:
    """Nobody can choose it any more; its bytes go within days."""

    id: str


@dataclass(frozen=True, slots=True)
class InUse:
    """Posts that are still to go out show it, or a pool keeps it: nothing was changed."""

    posts: tuple[str, ...]
    keepers: tuple[str, ...]
    message: str


def delete(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str
) -> Deleted | InUse | NoSuchMedia:
    """Mark it deleted, or name what needs it."""
    held = tx.all(  # from here on nobody can begin to use it: `use` holds the same row
        """
        UPDATE media SET size = size
        WHERE workspace_id = :workspace_id AND id = :id AND deleted_at IS NULL AND stored_at IS NOT NULL
        RETURNING name
        """,
        workspace_id=workspace_id,
        id=id,
    )
    if not held:
        return no_such([id])
    posts = tx.all(
        f"{HOLDING} AND u.media_id = :id ORDER BY u.post_id",
        workspace_id=workspace_id,
        id=id,
    )
    keepers = tx.all(
        """
        SELECT keeper FROM media_keep WHERE workspace_id = :workspace_id AND media_id = :id
        ORDER BY keeper
        """,
        workspace_id=workspace_id,
        id=id,
    )
    if posts or keepers:
        return _in_use([row["post_id"] for row in posts], [row["keeper"] for row in keepers])
    tx.run(
        "UPDATE media SET deleted_at = :now WHERE workspace_id = :workspace_id AND id = :id",
        now=now,
        workspace_id=workspace_id,
        id=id,
    )
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="media.delete",
        subject_id=id,
        before={"name": held[0]["name"]},
    )
    return Deleted(id)


def _in_use(posts: Sequence[str], keepers: Sequence[str]) -> InUse:
    users = [*(f"post {post}" for post in posts), *keepers]
    return InUse(
        tuple(posts),
        tuple(keepers),
        f"it is still needed by {', '.join(users)}: take it out there first",
    )
