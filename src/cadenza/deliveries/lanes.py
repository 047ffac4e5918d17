"""Lanes: where deliveries wait their turn, and the only place that says when a lane may be looked at.

`runnable_at` is the later of its first waiting delivery's due time and the lane's park. Whoever adds,
moves or takes a delivery calls `refresh`; so a claim reads one index of lanes and never looks at what
cannot run. A paused or full lane is not in that index at all.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from cadenza.sql.tx import Tx


def open_lane(
    tx: Tx,
    *,
    workspace_id: str,
    lane_id: str,
    account_id: str | None = None,
    in_flight_limit: int = 1,
) -> None:
    """Make a lane if there is none of that name."""
    tx.run(
        """
        INSERT INTO lane (workspace_id, id, account_id, in_flight_limit)
        VALUES (:workspace_id, :id, :account_id, :limit)
        ON CONFLICT (workspace_id, id) DO NOTHING
        """,
        workspace_id=workspace_id,
        id=lane_id,
        account_id=account_id,
        limit=in_flight_limit,
    )


def refresh(tx: Tx, lanes: Iterable[tuple[str, str]]) -> None:
    """Say anew when these lanes may be looked at."""
    tx.run_each(
        """
        UPDATE lane SET runnable_at = (
            SELECT CASE WHEN lane.parked_until > min(due_at) THEN lane.parked_until ELSE min(due_at) END
            FROM delivery
            WHERE delivery.workspace_id = lane.workspace_id AND delivery.lane_id = lane.id
                AND state = 'scheduled' AND leased_until IS NULL
        )
        WHERE workspace_id = :workspace_id AND id = :lane_id
        """,
        [{"workspace_id": workspace, "lane_id": lane} for workspace, lane in sorted(set(lanes))],
    )


def park(
    tx: Tx, *, workspace_id: str, lane_id: str, until: datetime, reason: str, by: str = "network"
) -> None:
    """Let nothing of a lane be looked at before `until`; a longer park stays as it is."""
    tx.run(
        """
        UPDATE lane SET parked_until = :until, park_reason = :reason, parked_by = :by
        WHERE workspace_id = :workspace_id AND id = :lane_id
            AND (parked_until IS NULL OR parked_until < :until)
        """,
        workspace_id=workspace_id,
        lane_id=lane_id,
        until=until,
        reason=reason,
        by=by,
    )
    refresh(tx, [(workspace_id, lane_id)])


def unpark(tx: Tx, *, workspace_id: str, account_id: str, by: str) -> None:
    """End the parks that one gate asked for on an account's lanes: it may have opened."""
    opened = tx.all(
        """
        UPDATE lane SET parked_until = NULL, park_reason = NULL, parked_by = NULL
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND parked_by = :by
        RETURNING id
        """,
        workspace_id=workspace_id,
        account_id=account_id,
        by=by,
    )
    refresh(tx, [(workspace_id, row["id"]) for row in opened])


def pause(
    tx: Tx, *, workspace_id: str, lane_id: str, reason: str, until: datetime | None = None
) -> bool:
    """Claim nothing more from here on; what was claimed and not yet permitted is stale by its epoch."""
    changed = tx.run(
        """
        UPDATE lane SET paused = true, pause_reason = :reason, paused_until = :until, epoch = epoch + 1
        WHERE workspace_id = :workspace_id AND id = :lane_id AND NOT paused
        """,
        workspace_id=workspace_id,
        lane_id=lane_id,
        reason=reason,
        until=until,
    )
    return changed == 1


def resume(tx: Tx, *, workspace_id: str, lane_id: str) -> bool:
    """Open a paused lane. What came due meanwhile is the caller's to plan: see the resume choices."""
    changed = tx.run(
        """
        UPDATE lane SET paused = false, pause_reason = NULL, paused_until = NULL, epoch = epoch + 1
        WHERE workspace_id = :workspace_id AND id = :lane_id AND paused
        """,
        workspace_id=workspace_id,
        lane_id=lane_id,
    )
    refresh(tx, [(workspace_id, lane_id)])
    return changed == 1


def next_due(tx: Tx, now: datetime) -> datetime | None:
    """Say when the next lane may be looked at."""
    row = tx.one(
        """
        SELECT runnable_at FROM lane
        WHERE NOT paused AND runnable_at IS NOT NULL AND in_flight < in_flight_limit
        ORDER BY runnable_at LIMIT 1
        """
    )
    if row is None:
        return None
    at: datetime = row["runnable_at"]
    return max(at, now - timedelta(seconds=1))
