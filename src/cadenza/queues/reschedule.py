"""Puts deliveries that were missed or taken back back into the pipeline, at an instant of the queue.

The same rows go on, so their history stays and nothing is sent twice; they get fresh attempts. What was
approved is scheduled, the rest waits as a draft.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.transition import AS_APPROVED, Changes, move_posts
from cadenza.queues.model import Queue
from cadenza.sql.tx import Row, Tx


def is_idle(row: Row, now: datetime) -> bool:
    """Say whether a delivery waits for nothing: missed, or taken back and its time is over."""
    return row["state"] == "missed" or (row["state"] == "draft" and row["due_at"] <= now)


def reschedule(
    tx: Tx,
    now: datetime,
    queue: Queue,
    rows: Sequence[Row],
    *,
    at: datetime,
    wall: str | None,
    slot_at: datetime | None = None,
) -> int:
    """Give idle deliveries an instant; `slot_at` is for one alone. Return how many took it."""
    changes = Changes(
        due_at=at,
        slot_at=slot_at,
        wall_time=wall,
        zone=queue.schedule.zone.name,
        pinned=None,
        reason=None,
        fresh=True,
    )
    idle = (State.MISSED, State.DRAFT)
    ids = dict.fromkeys((row["id"] for row in rows), changes)
    taken = move_posts(tx, now, queue.workspace_id, ids, was=idle, to=AS_APPROVED)
    lanes.refresh(tx, [(queue.workspace_id, queue.lane_id)])
    return len(taken)
