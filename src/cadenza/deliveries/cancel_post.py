"""Cancels a post's deliveries, chosen ones or all; what is being sent cannot be called back.

What a worker has claimed without a permit is taken out of its hands. What is sent, unconfirmed, failed or
missed stays as it is: it is history.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries.hand_over_slot import hand_over_slots
from cadenza.deliveries.hold import hold_post, settle_lanes
from cadenza.deliveries.model import Delivery
from cadenza.deliveries.reasons import Reason
from cadenza.deliveries.rewrite import Frozen
from cadenza.deliveries.transition import end_waiting
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class CanceledPost:
    """What was canceled, and what was too far on its way."""

    canceled: tuple[str, ...]
    sending: tuple[Frozen, ...]


def cancel_post(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    reason: Reason,
    only: Collection[str] | None = None,
) -> CanceledPost:
    """Cancel what waits; `only` names deliveries, else all of the post's."""
    held = [row for row in hold_post(tx, workspace_id, post_id) if only is None or row.id in only]
    waiting = [row for row in held if row.state in (State.DRAFT, State.SCHEDULED)]
    end_waiting(tx, now, waiting, State.CANCELED, reason)
    hand_over_slots(tx, waiting)
    settle_lanes(tx, waiting)
    return CanceledPost(tuple(row.id for row in waiting), under_way(held))


def under_way(held: list[Delivery]) -> tuple[Frozen, ...]:
    """Name those whose call may be running right now."""
    return tuple(
        Frozen(row.id, row.account_id, row.channel, row.state)
        for row in held
        if row.state is State.SENDING
    )
