"""Applies a workspace's maximum per day to the queues that have none of their own.

A lower maximum moves what is too much on a day to the next free slots, by the code that a queue's own maximum
uses, in the transaction that changes it: so a dry run shows what will hold, and nothing has to move when it
is sent. Limit: one transaction for all queues of the workspace.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from cadenza.queues import store
from cadenza.queues.assign_slots import ALL, assign_slots, entries
from cadenza.queues.model import Moved, NoRoom, Queue
from cadenza.queues.spread import spread
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class AppliedMax:
    """What moves because of the new maximum, of all queues."""

    moved: tuple[Moved, ...]


def queues_without_max(tx: Tx, now: datetime, *, workspace_id: str) -> list[str]:
    """Name the accounts whose queues follow the workspace's maximum: their locks are needed."""
    rows = tx.all(
        """
        SELECT account_id FROM queue WHERE workspace_id = :workspace_id AND max_per_day IS NULL
        ORDER BY account_id
        """,
        workspace_id=workspace_id,
    )
    return [row["account_id"] for row in rows]


def apply_workspace_max(
    tx: Tx, now: datetime, *, workspace_id: str, max_per_day: int | None, by: str
) -> AppliedMax | NoRoom:
    """Move what is over the new maximum; locks: `model.locks` of `queues_without_max`."""
    moved: list[Moved] = []
    for account_id in queues_without_max(tx, now, workspace_id=workspace_id):
        queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
        if not isinstance(queue, Queue):
            continue
        new = replace(queue, schedule=replace(queue.schedule, max_per_day=max_per_day))
        line = entries(tx, new, since=now, page=ALL)
        over = spread(tx, now, new, [(entry, entry.at, entry.wall_time) for entry in line])
        if over is None:
            why = "not all posts find a slot within a year: add slots, or allow more a day"
            return NoRoom(account_id, why)
        if over:
            moved += assign_slots(tx, now, new, over, by=by, why=f"at most {max_per_day} a day")
            store.rise(tx, now, new)
    return AppliedMax(tuple(moved))
