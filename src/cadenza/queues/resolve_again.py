"""Resolves the wall times of queued posts again when the tz database is another one.

A government moves its clocks, a release brings the new rules, and nine o'clock is another instant. On
start-up every queue whose instants were resolved by another version is gone through; what moved is
listed. Hand-timed posts keep their instants. Who comes to a place that is held takes the next free slot.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.core.zones import tz_version
from cadenza.db import audit
from cadenza.queues import store
from cadenza.queues.assign_slots import ALL, assign_slots, entries
from cadenza.queues.change import follow
from cadenza.queues.model import Moved, NoQueue, NoRoom
from cadenza.queues.pin import pin
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Retimed:
    """What moved; `pinned` stand at a wall time that does not happen any more."""

    was: str
    version: str
    moved: tuple[Moved, ...]
    pinned: tuple[str, ...]


def outdated(tx: Tx, now: datetime, *, version: str | None = None) -> list[tuple[str, str]]:
    """Name the queues (workspace, account) that an older tz database resolved.

    Of two workers with different ones the newer decides: the older leaves its queues alone.
    """
    rows = tx.all(
        """
        SELECT workspace_id, account_id FROM queue WHERE tz_version < :version
        ORDER BY workspace_id, account_id
        """,
        version=version or tz_version(),
    )
    return [(row["workspace_id"], row["account_id"]) for row in rows]


def resolve_again(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    by: str = "system",
    version: str | None = None,
) -> Retimed | NoRoom | NoQueue:
    """Bring one queue to the tz database in use; a second time nothing moves."""
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    line = list(entries(tx, queue, since=now, page=ALL))
    laid = follow(tx, now, queue, line, {})
    if laid is None:
        return NoRoom(account_id, "not all posts find a slot within a year")
    moves, pins = laid
    pin(tx, now, queue, pins, why="its wall time does not happen any more")
    why = "the rules of its time zone changed"
    moved = tuple(assign_slots(tx, now, queue, moves, by=by, why=why, reason=f"moved: {why}"))
    current = version or tz_version()
    tx.run(
        """
        UPDATE queue SET tz_version = :version
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        version=current,
        **store.key(queue),
    )
    if moved or pins:
        audit.record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="queue.retime",
            subject_id=account_id,
            before={"tz_version": queue.tz_version},
            after={"tz_version": current, "moved": len(moved)},
        )
        store.rise(tx, now, queue)
    return Retimed(queue.tz_version, current, moved, tuple(entry.id for entry in pins))
