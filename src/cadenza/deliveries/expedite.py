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
from cadenza.deliveries.transition import Changes, Move, as_approved, move
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
    _move(tx, now, rows, priority=HURRY, places={row.id: Instant(now, "", "") for row in rows})
    if rows:
        accounts = [row.account_key for row in rows]
        lanes.unpark(tx, accounts=accounts, by=PASSED)


def retime(tx: Tx, now: datetime, held: Sequence[Delivery], places: Mapping[str, Instant]) -> None:
    """Give these an instant of their own, timed by hand; unapproved ones stay or become drafts."""
    rows = [row for row in held if row.state in MOVABLE]
    _move(tx, now, rows, priority=0, places=places)


def _move(
    tx: Tx,
    now: datetime,
    rows: Sequence[Delivery],
    *,
    priority: int,
    places: Mapping[str, Instant],
) -> None:
    if not rows:
        return
    moves = [
        Move(
            row,
            as_approved(row),
            Changes(
                due_at=to.at,
                wall_time=to.wall_time or None,
                zone=to.zone or None,
                priority=priority,
                slot_at=None,
                not_after_at=None,
                reason=None,
                fresh=row.state in (State.FAILED, State.MISSED),
            ),
        )
        for row in rows
        if (to := places[row.id])
    ]
    move(tx, now, moves)
    hand_over_slots(tx, rows)
    settle_lanes(tx, rows)
