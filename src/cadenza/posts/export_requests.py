"""Exports that are packed in the background: who asked, how far they are, until when they can be downloaded.

A workspace has one at work at a time; asking again answers with that one. A finished export is kept for three
days, the newest three of a workspace. Limit: rows are counted at the start, so the share that is done is near.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.db.audit import record
from cadenza.db.exported import READABLE, TABLES
from cadenza.sql.tx import Row, Tx

KEPT = timedelta(days=3)
KEPT_FAILED = timedelta(days=1)
NEWEST = 3  # finished ones of a workspace
LISTED = 20
OPEN = ("waiting", "running")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One export, as it stands."""

    workspace_id: str
    id: str
    asked_by: str
    asked_at: datetime
    state: str
    reason: str | None
    rows_done: int
    rows_total: int
    bytes: int | None
    finished_at: datetime | None
    expires_at: datetime | None

    @property
    def file(self) -> str:
        """Where its bytes are stored."""
        return f"exports/{self.id}.zip"

    @property
    def percent(self) -> int:
        """How much of it is done; 100 only when it is ready."""
        if self.state == "ready":
            return 100
        return min(99, 100 * self.rows_done // self.rows_total) if self.rows_total else 0


def request_export(tx: Tx, now: datetime, *, workspace_id: str, by: str) -> tuple[Export, bool]:
    """Ask for an export, or find the one that is at work; say whether it is new."""
    there = tx.one(
        """
        SELECT * FROM workspace_export
        WHERE workspace_id = :workspace_id AND state IN ('waiting', 'running')
        """,
        workspace_id=workspace_id,
    )
    if there is not None:
        return _export(there), False
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO workspace_export (workspace_id, id, asked_by, asked_at, state)
        VALUES (:workspace_id, :id, :by, :now, 'waiting')
        """,
        workspace_id=workspace_id,
        id=id_,
        by=by,
        now=now,
    )
    record(tx, now, workspace_id=workspace_id, by=by, action="workspace.export", subject_id=id_)
    made = find_export(tx, now, workspace_id=workspace_id, export_id=id_)
    assert made is not None, "it was written right now"
    return made, True


def find_export(tx: Tx, now: datetime, *, workspace_id: str, export_id: str) -> Export | None:
    """Return one of the workspace's exports, unless it has expired."""
    row = tx.one(
        """
        SELECT * FROM workspace_export
        WHERE workspace_id = :workspace_id AND id = :id AND (expires_at IS NULL OR expires_at > :now)
        """,
        workspace_id=workspace_id,
        id=export_id,
        now=now,
    )
    return None if row is None else _export(row)


def list_exports(tx: Tx, now: datetime, *, workspace_id: str) -> list[Export]:
    """Return the workspace's exports that have not expired, newest first."""
    rows = tx.all(
        """
        SELECT * FROM workspace_export
        WHERE workspace_id = :workspace_id AND (expires_at IS NULL OR expires_at > :now)
        ORDER BY asked_at DESC, id DESC LIMIT :most
        """,
        workspace_id=workspace_id,
        now=now,
        most=LISTED,
    )
    return [_export(row) for row in rows]


def count_rows(tx: Tx, _now: datetime, *, workspace_id: str, table: str) -> int:
    """Count the rows of one table that an export writes, as often as it writes them."""
    found = next(each for each in TABLES if each.name == table)
    files = 1 + (found in READABLE) + (table == "post")  # posts.csv besides
    count: int = tx.value(
        f"SELECT count(*) FROM {table} WHERE {found.workspace} = :workspace_id",  # noqa: S608 - our own names
        workspace_id=workspace_id,
    )
    return files * count


def tell_progress(
    tx: Tx, _now: datetime, *, workspace_id: str, export_id: str, done: int, total: int
) -> None:
    """Write how far it is."""
    tx.run(
        """
        UPDATE workspace_export SET state = 'running', rows_done = :done, rows_total = :total, reason = NULL,
            finished_at = NULL, expires_at = NULL
        WHERE workspace_id = :workspace_id AND id = :id AND state <> 'ready'
        """,
        workspace_id=workspace_id,
        id=export_id,
        done=done,
        total=total,
    )


def finish(
    tx: Tx, now: datetime, *, workspace_id: str, export_id: str, rows: int, bytes_: int
) -> None:
    """Say that it can be downloaded; of older ones only the newest stay."""
    tx.run(
        """
        UPDATE workspace_export SET state = 'ready', rows_done = :rows, rows_total = :rows, bytes = :bytes,
            finished_at = :now, expires_at = :until
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        workspace_id=workspace_id,
        id=export_id,
        rows=rows,
        bytes=bytes_,
        now=now,
        until=now + KEPT,
    )
    tx.run(
        """
        UPDATE workspace_export SET expires_at = :now
        WHERE workspace_id = :workspace_id AND state = 'ready' AND expires_at > :now AND id NOT IN (
            SELECT id FROM workspace_export WHERE workspace_id = :workspace_id AND state = 'ready'
            ORDER BY finished_at DESC, id DESC LIMIT :newest
        )
        """,
        workspace_id=workspace_id,
        now=now,
        newest=NEWEST,
    )


def fail(tx: Tx, now: datetime, *, workspace_id: str, export_id: str, reason: str) -> None:
    """Say that it did not work; it may be tried again meanwhile."""
    tx.run(
        """
        UPDATE workspace_export SET state = 'failed', reason = :reason, finished_at = :now, expires_at = :until
        WHERE workspace_id = :workspace_id AND id = :id AND state <> 'ready'
        """,
        workspace_id=workspace_id,
        id=export_id,
        reason=reason,
        now=now,
        until=now + KEPT_FAILED,
    )


def list_expired(tx: Tx, now: datetime) -> list[Export]:
    """Return what has expired, in all workspaces."""
    rows = tx.all(
        "SELECT * FROM workspace_export WHERE expires_at <= :now ORDER BY expires_at LIMIT 100",
        now=now,
    )
    return [_export(row) for row in rows]


def forget(tx: Tx, _now: datetime, *, workspace_id: str, export_id: str) -> None:
    """Remove the row of an export whose bytes are gone."""
    tx.run(
        "DELETE FROM workspace_export WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=export_id,
    )


def _export(row: Row) -> Export:
    return Export(**row)
