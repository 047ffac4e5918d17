"""Makes held deliveries due: now and before others, or at an instant that a person chose.

The same rows, never new ones; their slots are free from here on, or pass to a channel of the post that
stays at the instant. What a worker has claimed without a
permit is taken back. Being sent, unconfirmed or sent are left alone: the caller says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.gates import HURRY, MAX_PER_DAY
from cadenza.deliveries.hand_over_slot import hand_over_slots
from cadenza.deliveries.hold import settle_lanes
from cadenza.deliveries.model import Delivery
from cadenza.sql.tx import Tx

PASSED = ("hours", MAX_PER_DAY)  # gates that what is sent by hand need not wait for
MOVABLE = frozenset({State.DRAFT, State.SCHEDULED, State.FAILED, State.MISSED})


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant, as a person chose it."""

    at: datetime
    wall_time: str
    zone: str


def expedite(tx: Tx, now: datetime, held: Sequence[Delivery]) -> None:
    """Send these now, before others; hours do not hold them, nor does a lane that waited for its hours."""
    rows = [row for row in held if row.state in MOVABLE]
    _move(tx, rows, priority=HURRY, places={row.id: Instant(now, "", "") for row in rows})
    if rows:
        accounts = [row.account_key for row in rows]
        lanes.unpark(tx, accounts=accounts, by=PASSED)


def retime(tx: Tx, held: Sequence[Delivery], places: Mapping[str, Instant]) -> None:
    """Give these an instant of their own, timed by hand; unapproved ones stay or become drafts."""
    rows = [row for row in held if row.state in MOVABLE]
    _move(tx, rows, priority=0, places=places)


def _move(
    tx: Tx, rows: Sequence[Delivery], *, priority: int, places: Mapping[str, Instant]
) -> None:
    if not rows:
        return
    tx.run(
        """
        UPDATE delivery SET due_at = new.to_at, slot_at = NULL, wall_time = new.wall, zone = new.zone,
            priority = :priority, not_after_at = NULL,
            attempts = CASE WHEN state IN ('failed', 'missed') THEN 0 ELSE attempts END,
            failures = CASE WHEN state IN ('failed', 'missed') THEN 0 ELSE failures END,
            crashes = CASE WHEN state IN ('failed', 'missed') THEN 0 ELSE crashes END,
            deferrals = CASE WHEN state IN ('failed', 'missed') THEN 0 ELSE deferrals END,
            prepared = CASE WHEN state = 'failed' THEN NULL ELSE prepared END,
            failed_at = NULL, ended_at = NULL, state = CASE WHEN approved THEN 'scheduled' ELSE 'draft' END,
            reason = NULL, lease = lease + 1, leased_until = NULL, worker = NULL
        FROM TABLE(:new) AS new (workspace_id text, id text, to_at timestamptz, wall text, zone text)
        WHERE delivery.workspace_id = new.workspace_id AND delivery.id = new.id
        """,
        priority=priority,
        new=[
            (row.workspace_id, row.id, to.at, to.wall_time or None, to.zone or None)
            for row in rows
            if (to := places[row.id])
        ],
    )
    hand_over_slots(tx, rows)
    settle_lanes(tx, rows)
