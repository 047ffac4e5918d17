"""The pool of a category: media that rules may pick, how often each was used, and when last.

A file in a pool is kept by the library (`media_keep`). `take` is the pick: unused first, then the least
recently used, each counted before the next is picked. It must run under the workspace's drafts lock, which
makes it atomic on PostgreSQL; on SQLite writers are one at a time anyway.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.db.audit import record
from cadenza.drafts.model import NoSuchCategory, find_category
from cadenza.media.model import NoSuchMedia
from cadenza.media.use import keep
from cadenza.sql.tx import Row, Tx


@dataclass(frozen=True, slots=True)
class Asset:
    """One file of a pool."""

    media_id: str
    use_count: int
    last_used_at: datetime | None  # when the latest post that shows it is due


def save_pool(
    tx: Tx, now: datetime, *, workspace_id: str, category_id: str, media_ids: Sequence[str], by: str
) -> list[Asset] | NoSuchCategory | NoSuchMedia:
    """Let the pool hold exactly these; those that stay keep their counts."""
    found = find_category(tx, workspace_id, category_id)
    if isinstance(found, NoSuchCategory):
        return found
    ids = list(dict.fromkeys(media_ids))
    kept = keep(tx, workspace_id, f"asset:{category_id}", ids)
    if isinstance(kept, NoSuchMedia):
        return kept
    before = pool_of(tx, workspace_id=workspace_id, category_id=category_id)
    gone = [(asset.media_id,) for asset in before if asset.media_id not in ids]
    tx.run(
        """
        DELETE FROM asset WHERE workspace_id = :workspace_id AND category_id = :category_id
            AND media_id IN (SELECT media_id FROM TABLE(:gone) AS gone (media_id text))
        """,
        workspace_id=workspace_id,
        category_id=category_id,
        gone=gone,
    )
    tx.run(
        """
        INSERT INTO asset (workspace_id, category_id, media_id, added_at)
        SELECT :workspace_id, :category_id, new.media_id, :now
        FROM TABLE(:media) AS new (media_id text) WHERE true
        ON CONFLICT DO NOTHING
        """,
        workspace_id=workspace_id,
        category_id=category_id,
        now=now,
        media=[(id_,) for id_ in ids],
    )
    recount(tx, workspace_id, category_id, ids)  # one that comes back remembers its uses
    record(
        tx, now, workspace_id=workspace_id, by=by, action="category.pool", subject_id=category_id,
        before={"files": len(before)}, after={"files": len(ids)},
    )  # fmt: skip
    return pool_of(tx, workspace_id=workspace_id, category_id=category_id)


def pool_of(tx: Tx, *, workspace_id: str, category_id: str) -> list[Asset]:
    """Return a pool in the order in which its files will be picked."""
    return [_asset(row) for row in _ranked(tx, workspace_id, category_id)]


def take(
    tx: Tx, *, workspace_id: str, category_id: str, due: Sequence[datetime]
) -> list[str | None]:
    """Pick a file for each instant in order, and count it; None where the pool is empty."""
    pool = [_asset(row) for row in _ranked(tx, workspace_id, category_id)]
    if not pool:
        return [None] * len(due)
    taken: list[str] = []
    changed: dict[str, Asset] = {}
    for instant in due:
        chosen = pool.pop(0)
        last = instant if chosen.last_used_at is None else max(instant, chosen.last_used_at)
        used = Asset(chosen.media_id, chosen.use_count + 1, last)
        taken.append(chosen.media_id)
        changed[chosen.media_id] = used
        pool.append(used)
        pool.sort(key=_rank)
    tx.run(
        """
        UPDATE asset SET use_count = new.use_count, last_used_at = new.last_used_at
        FROM TABLE(:new) AS new (media_id text, use_count bigint, last_used_at timestamptz)
        WHERE asset.workspace_id = :workspace_id AND asset.category_id = :category_id
            AND asset.media_id = new.media_id
        """,
        workspace_id=workspace_id,
        category_id=category_id,
        new=[(each.media_id, each.use_count, each.last_used_at) for each in changed.values()],
    )
    return list(taken)


def recount(tx: Tx, workspace_id: str, category_id: str, media_ids: Sequence[str]) -> None:
    """Count uses again from what rules have laid out, for files whose posts went away."""
    tx.run(
        """
        UPDATE asset SET
            use_count = (
                SELECT count(*) FROM rule_occurrence AS used
                WHERE used.workspace_id = asset.workspace_id AND used.pool_id = asset.category_id
                    AND used.media_id = asset.media_id
            ),
            last_used_at = (
                SELECT max(used.due_at) FROM rule_occurrence AS used
                WHERE used.workspace_id = asset.workspace_id AND used.pool_id = asset.category_id
                    AND used.media_id = asset.media_id
            )
        WHERE workspace_id = :workspace_id AND category_id = :category_id
            AND media_id IN (SELECT media_id FROM TABLE(:media) AS asked (media_id text))
        """,
        workspace_id=workspace_id,
        category_id=category_id,
        media=[(id_,) for id_ in dict.fromkeys(media_ids)],
    )


def _ranked(tx: Tx, workspace_id: str, category_id: str) -> list[Row]:
    return tx.all(
        """
        SELECT asset.* FROM asset JOIN media
            ON media.workspace_id = asset.workspace_id AND media.id = asset.media_id
        WHERE asset.workspace_id = :workspace_id AND asset.category_id = :category_id
            AND media.stored_at IS NOT NULL AND media.deleted_at IS NULL
        ORDER BY CASE WHEN last_used_at IS NULL THEN 0 ELSE 1 END, last_used_at, use_count,
            added_at, media_id
        """,
        workspace_id=workspace_id,
        category_id=category_id,
    )


def _rank(asset: Asset) -> tuple[bool, float, int]:
    last = asset.last_used_at
    return last is not None, 0.0 if last is None else last.timestamp(), asset.use_count


def _asset(row: Row) -> Asset:
    return Asset(row["media_id"], row["use_count"], row["last_used_at"])
