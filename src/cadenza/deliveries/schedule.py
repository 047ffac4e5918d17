"""Puts deliveries on the road: the only insert there is, for all planners.

A delivery that nobody approved is a draft and can never be claimed. The answer to a delivery that is
there already (same post, account and channel) is that one; a slot that is taken is said to be taken, and
the planner takes the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.model import NewDelivery
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Scheduled:
    """It is on the road."""

    id: str
    state: State
    due_at: datetime


@dataclass(frozen=True, slots=True)
class AlreadyThere:
    """The same post goes to the same place by that one."""

    id: str


@dataclass(frozen=True, slots=True)
class SlotTaken:
    """Another delivery of the account holds that slot."""

    slot_at: datetime


Answer = Scheduled | AlreadyThere | SlotTaken


def schedule(tx: Tx, now: datetime, new: Sequence[NewDelivery]) -> list[Answer]:
    """Add deliveries, each answered in order."""
    answers = [_schedule_one(tx, now, delivery) for delivery in new]
    lanes.refresh(tx, [(delivery.workspace_id, _lane_of(delivery)) for delivery in new])
    return answers


def _lane_of(delivery: NewDelivery) -> str:
    return delivery.lane_id or f"account:{delivery.account_id}"


def _schedule_one(tx: Tx, now: datetime, new: NewDelivery) -> Answer:
    state = State.SCHEDULED if new.approved else State.DRAFT
    inserted = tx.run(
        """
        INSERT INTO delivery (
            workspace_id, id, lane_id, account_id, channel, action, post_id, campaign_id, recipient, state,
            due_at, wall_time, zone, slot_at, not_after_at, priority, content, approved, mode, retry_limit,
            created_at
        ) VALUES (
            :workspace_id, :id, :lane_id, :account_id, :channel, :action, :post_id, :campaign_id, :recipient,
            :state, :due_at, :wall_time, :zone, :slot_at, :not_after_at, :priority, :content, :approved, :mode,
            :retry_limit, :now
        )
        ON CONFLICT DO NOTHING
        """,
        workspace_id=new.workspace_id,
        id=new.id,
        lane_id=_lane_of(new),
        account_id=new.account_id,
        channel=new.channel.value,
        action=new.action.value,
        post_id=new.post_id,
        campaign_id=new.campaign_id,
        recipient=new.recipient,
        state=state.value,
        due_at=new.due_at,
        wall_time=new.wall_time,
        zone=new.zone,
        slot_at=new.slot_at,
        not_after_at=new.not_after_at,
        priority=new.priority,
        content=new.content,
        approved=new.approved,
        mode=new.mode,
        retry_limit=new.retry_limit,
        now=now,
    )
    if inserted:
        return Scheduled(new.id, state, new.due_at)
    there = tx.value(
        """
        SELECT id FROM delivery
        WHERE workspace_id = :workspace_id
            AND (id = :id OR (post_id = :post_id AND account_id = :account_id AND channel = :channel
                AND recipient IS NULL AND state NOT IN ('canceled', 'skipped')))
        """,
        workspace_id=new.workspace_id,
        id=new.id,
        post_id=new.post_id,
        account_id=new.account_id,
        channel=new.channel.value,
    )
    if there is not None:
        return AlreadyThere(there)
    assert new.slot_at is not None, "only a taken slot is left"
    return SlotTaken(new.slot_at)
