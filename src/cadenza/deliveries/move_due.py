"""Gives waiting deliveries other times, and brings back canceled ones with a new time, for planners.

What moved on meanwhile, or is in a worker's hands, is left alone. Run under the locks of their accounts.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.model import Delivery, NewDelivery
from cadenza.deliveries.reasons import Reason
from cadenza.deliveries.transition import Changes, Move, move
from cadenza.sql.tx import Tx


def move_due(
    tx: Tx,
    now: datetime,
    moves: Sequence[tuple[Delivery, datetime]],
    *,
    reason: Reason,
) -> set[str]:
    """Move deliveries that wait and that nobody has claimed; return the ids of those that moved."""
    moved = move(
        tx,
        now,
        [
            Move(each, State.SCHEDULED, Changes(due_at=at, reason=reason))
            for each, at in moves
            if each.state is State.SCHEDULED and not each.is_leased
        ],
    )
    lanes.refresh(tx, [each.lane_key for each, _ in moves])
    return {each.delivery.id for each in moved}


def restore(tx: Tx, now: datetime, moves: Sequence[tuple[Delivery, NewDelivery]]) -> set[str]:
    """Bring canceled deliveries back as a planner makes them now; return the ids of those that are back."""
    back = move(
        tx,
        now,
        [
            Move(each, State.SCHEDULED, _as_planned(new))
            for each, new in moves
            if each.state is State.CANCELED and each.approved
        ],
    )
    lanes.refresh(tx, [(each.workspace_id, new.lane) for each, new in moves])
    return {each.delivery.id for each in back}


def _as_planned(new: NewDelivery) -> Changes:
    return Changes(
        due_at=new.due_at,
        lane_id=new.lane,
        account_id=new.account_id,
        content=new.content,
        template_version_id=new.template_version_id,
        recipient=new.recipient,
        reason=None,
        revised=True,
        fresh=True,
    )
