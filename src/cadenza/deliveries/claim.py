"""Takes the heads of runnable lanes, one each, under a lease.

One statement finds the lanes and leases their heads; a lane that is paused, parked, full or empty is not
looked at, so the cost follows what can run. Nothing is decided about limits here: the permit does that,
right before the call, under the account's lock.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from cadenza.deliveries import lanes
from cadenza.deliveries.model import Ticket
from cadenza.sql.tx import Tx

COLUMNS = (
    "workspace_id, id, lane_id, account_id, channel, action, recipient, content, revision, prepared, "
    "parts_sent, attempts, crashes, retry_limit, lease, due_at, mode"
)


def claim(tx: Tx, now: datetime, *, limit: int, worker: str, lease: timedelta) -> list[Ticket]:
    """Lease up to `limit` heads, each to this worker alone."""
    skip_locked = "FOR UPDATE SKIP LOCKED" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        WITH runnable AS (
            SELECT workspace_id, id FROM lane
            WHERE NOT paused AND runnable_at IS NOT NULL AND runnable_at <= :now
                AND in_flight < in_flight_limit
            ORDER BY runnable_at
            LIMIT :limit
            {skip_locked}
        ), heads AS (
            SELECT runnable.workspace_id, (
                SELECT delivery.id FROM delivery
                WHERE delivery.workspace_id = runnable.workspace_id AND delivery.lane_id = runnable.id
                    AND state = 'scheduled' AND leased_until IS NULL AND due_at <= :now
                ORDER BY priority, due_at, delivery.id
                LIMIT 1
            ) AS id
            FROM runnable
        )
        UPDATE delivery SET lease = lease + 1, leased_until = :until, worker = :worker
        WHERE (workspace_id, id) IN (SELECT workspace_id, id FROM heads WHERE id IS NOT NULL)
            AND state = 'scheduled' AND leased_until IS NULL
        RETURNING {COLUMNS}
        """,  # noqa: S608 - put together from constants
        now=now,
        limit=limit,
        until=now + lease,
        worker=worker,
    )
    tickets = [Ticket(row["workspace_id"], row["id"], row["lease"], row) for row in rows]
    _take_from_lanes(tx, tickets)
    return tickets


def release(tx: Tx, now: datetime, tickets: Sequence[Ticket]) -> int:
    """Give back what was claimed and not permitted, untouched."""
    given = [
        ticket
        for ticket in tickets
        if tx.run(
            """
            UPDATE delivery SET leased_until = NULL, worker = NULL
            WHERE workspace_id = :workspace_id AND id = :id AND lease = :lease
                AND leased_until IS NOT NULL AND state = 'scheduled'
            """,
            **_key(ticket),
        )
    ]
    leave_lanes(tx, given)  # what was not ours any more has left already
    return len(given)


def renew(tx: Tx, now: datetime, tickets: Sequence[Ticket], *, lease: timedelta) -> list[Ticket]:
    """Extend what is still held; return what is lost."""
    return [
        ticket
        for ticket in tickets
        if not tx.run(
            """
            UPDATE delivery SET leased_until = :until
            WHERE workspace_id = :workspace_id AND id = :id AND lease = :lease AND leased_until IS NOT NULL
            """,
            until=now + lease,
            **_key(ticket),
        )
    ]


def leave_lanes(tx: Tx, tickets: Sequence[Ticket]) -> None:
    """Make room in the lanes of deliveries that are out of hand."""
    tx.run_each(
        """
        UPDATE lane SET in_flight = CASE WHEN in_flight > 0 THEN in_flight - 1 ELSE 0 END
        WHERE workspace_id = :workspace_id AND id = :lane_id
        """,
        [{"workspace_id": t.workspace_id, "lane_id": t.row["lane_id"]} for t in _by_lane(tickets)],
    )
    lanes.refresh(tx, [(t.workspace_id, t.row["lane_id"]) for t in tickets])


def _take_from_lanes(tx: Tx, tickets: Sequence[Ticket]) -> None:
    tx.run_each(
        "UPDATE lane SET in_flight = in_flight + 1 WHERE workspace_id = :workspace_id AND id = :lane_id",
        [{"workspace_id": t.workspace_id, "lane_id": t.row["lane_id"]} for t in _by_lane(tickets)],
    )
    lanes.refresh(tx, [(t.workspace_id, t.row["lane_id"]) for t in tickets])


def _by_lane(tickets: Sequence[Ticket]) -> list[Ticket]:
    """Lanes are always written in one order, so that two workers never wait in a ring."""
    return sorted(tickets, key=lambda ticket: (ticket.workspace_id, ticket.row["lane_id"]))


def _key(ticket: Ticket) -> dict[str, object]:
    return {"workspace_id": ticket.workspace_id, "id": ticket.id, "lease": ticket.lease}
