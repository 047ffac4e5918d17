"""Puts deliveries that were missed or taken back back into the pipeline, at an instant of the queue.

The same rows go on, so their history stays and nothing is sent twice; they get fresh attempts. What was
approved is scheduled, the rest waits as a draft.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.deliveries import lanes
from cadenza.queues.model import Queue
from cadenza.sql.tx import Row, Tx


def is_idle(row: Row, now: datetime) -> bool:
    """Say whether a delivery waits for nothing: missed, or taken back and its time is over."""
    return row["state"] == "missed" or (row["state"] == "draft" and row["due_at"] <= now)


def reschedule(
    tx: Tx,
    queue: Queue,
    rows: Sequence[Row],
    *,
    at: datetime,
    wall: str | None,
    slot_at: datetime | None = None,
) -> int:
    """Give idle deliveries an instant; `slot_at` is for one alone. Return how many took it."""
    taken = tx.run(
        """
        UPDATE delivery SET state = CASE WHEN approved THEN 'scheduled' ELSE 'draft' END, due_at = :at,
            slot_at = :slot_at, wall_time = :wall, zone = :zone, pinned = NULL, attempts = 0, failures = 0,
            crashes = 0, deferrals = 0, failed_at = NULL, ended_at = NULL, prepared = NULL,
            unready_at = NULL, reason = NULL
        FROM TABLE(:rows) AS revived (id text)
        WHERE delivery.workspace_id = :workspace_id AND delivery.id = revived.id
            AND state IN ('missed', 'draft') AND leased_until IS NULL
        """,
        at=at,
        slot_at=slot_at,
        wall=wall,
        zone=queue.schedule.zone.name,
        rows=[(row["id"],) for row in rows],
        workspace_id=queue.workspace_id,
    )
    lanes.refresh(tx, [(queue.workspace_id, queue.lane_id)])
    return taken
