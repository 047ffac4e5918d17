"""What is done to all deliveries of a campaign: cancel those that wait, try again those that failed; in batches."""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.reasons import Reason
from cadenza.deliveries.transition import Changes, Move, end_waiting, move, remove
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values


def cancel_waiting(
    tx: Tx, now: datetime, workspace_id: str, campaign_id: str, *, reason: Reason, limit: int
) -> int:
    """Cancel up to `limit` deliveries that nobody holds; say how many."""
    waiting = _read(tx, workspace_id, campaign_id, "scheduled", "AND leased_until IS NULL", limit)
    canceled = end_waiting(tx, now, waiting, State.CANCELED, reason)
    lanes.refresh(tx, {each.delivery.lane_key for each in canceled})
    return len(canceled)


def retry_failed(tx: Tx, now: datetime, workspace_id: str, campaign_id: str, *, limit: int) -> int:
    """Let up to `limit` failed deliveries wait again, with fresh tries; say how many."""
    failed = _read(tx, workspace_id, campaign_id, "failed", "", limit)
    again = Changes(due_at=now, reason=None, fresh=True)
    moved = move(tx, now, [Move(each, State.SCHEDULED, again) for each in failed])
    lanes.refresh(tx, {each.delivery.lane_key for each in moved})
    return len(moved)


def remove_sent(
    tx: Tx, workspace_id: str, campaign_ids: Sequence[str], *, sent_before: datetime, limit: int
) -> int:
    """Remove up to `limit` old sent deliveries with their attempts and exchanges; their ledger rows stay."""
    ids = [
        (row["id"],)
        for row in tx.all(
            """
            SELECT delivery.id FROM TABLE(:campaigns) AS asked (id text)
            JOIN delivery ON delivery.workspace_id = :workspace_id AND delivery.campaign_id = asked.id
            WHERE state = 'sent' AND sent_at < :sent_before LIMIT :limit
            """,
            campaigns=[(id_,) for id_ in campaign_ids],
            workspace_id=workspace_id,
            sent_before=sent_before,
            limit=limit,
        )
    ]
    if ids:
        for statement in _REMOVE:
            tx.run(statement, workspace_id=workspace_id, ids=ids)
        remove(tx, workspace_id, ids)
    return len(ids)


_THESE = "IN (SELECT id FROM TABLE(:ids) AS asked (id text))"
_REMOVE = (
    f"DELETE FROM exchange WHERE workspace_id = :workspace_id AND delivery_id {_THESE}",  # noqa: S608 - a constant
    f"DELETE FROM attempt WHERE workspace_id = :workspace_id AND delivery_id {_THESE}",  # noqa: S608 - a constant
)


def _read(
    tx: Tx, workspace_id: str, campaign_id: str, state: str, also: str, limit: int
) -> list[Delivery]:
    lock = "FOR UPDATE" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND campaign_id = :campaign_id AND state = :state {also}
        ORDER BY recipient LIMIT :limit {lock}
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        campaign_id=campaign_id,
        state=state,
        limit=limit,
    )
    return read_values(Delivery, rows)
