"""Schedules deliveries: the only insert there is, for all planners.

A delivery that nobody approved is a draft and can never be claimed. The answer to a delivery that is
there already (same post, account and channel) is that one; a slot that is taken is said to be taken, and
the planner takes the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.check_fit import flags_of
from cadenza.deliveries.model import NewDelivery, account_scope
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Scheduled:
    """It is scheduled."""

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


def schedule(
    tx: Tx, now: datetime, new: Sequence[NewDelivery], *, fits: bool = False
) -> list[Answer]:
    """Add deliveries, each answered in order; `fits`: the caller has just checked their content."""
    if not new:
        return []
    unfit = {} if fits else flags_of(tx, new)
    rows = [(*_row(delivery), unfit.get(delivery.id)) for delivery in new]
    added = {(row["workspace_id"], row["id"]) for row in tx.all(_INSERT, new=rows, now=now)}
    answers: list[Answer] = []
    for delivery in new:
        key = (delivery.workspace_id, delivery.id)
        answers.append(_scheduled(delivery) if key in added else _why_not(tx, delivery))
        added.discard(key)  # the same once more is there already
    _mark_posts(tx, new)
    lanes.refresh(tx, [(delivery.workspace_id, _lane_of(delivery)) for delivery in new])
    return answers


def _mark_posts(tx: Tx, new: Sequence[NewDelivery]) -> None:
    """Note on the posts that they have deliveries: lists find by it those that have none."""
    posts = {(each.workspace_id, each.post_id) for each in new if each.post_id is not None}
    if posts:
        tx.run(
            """
            UPDATE post SET planned = true FROM TABLE(:posts) AS asked (workspace_id text, id text)
            WHERE post.workspace_id = asked.workspace_id AND post.id = asked.id AND NOT planned
            """,
            posts=sorted(posts),
        )


_INSERT = """
    INSERT INTO delivery (
        workspace_id, id, lane_id, account_id, channel, action, post_id, campaign_id, sequence_id, contact_id,
        step, template_version_id, audience_id, recipient, state, due_at, wall_time, zone, slot_at, not_after_at, priority, content, approved, mode, retry_limit,
        unfit, created_at
    ) SELECT workspace_id, id, lane_id, account_id, channel, action, post_id, campaign_id, sequence_id, contact_id,
        step, template_version_id, audience_id, recipient, state, due_at, wall_time, zone, slot_at, not_after_at, priority, content, approved, mode, retry_limit,
        unfit, :now
    FROM TABLE(:new) AS new (
        workspace_id text, id text, lane_id text, account_id text, channel text, action text, post_id text,
        campaign_id text, sequence_id text, contact_id text, step integer, template_version_id text,
        audience_id text, recipient text, state text, due_at timestamptz, wall_time text, zone text,
        slot_at timestamptz, not_after_at timestamptz, priority integer, content text, approved boolean,
        mode text, retry_limit integer, unfit text
    ) WHERE true
    ON CONFLICT DO NOTHING
    RETURNING workspace_id, id
"""


def _lane_of(delivery: NewDelivery) -> str:
    return delivery.lane_id or account_scope(delivery.account_id)


def _state_of(new: NewDelivery) -> State:
    return State.SCHEDULED if new.approved else State.DRAFT


def _scheduled(new: NewDelivery) -> Scheduled:
    return Scheduled(new.id, _state_of(new), new.due_at)


def _row(new: NewDelivery) -> tuple[object, ...]:
    return (
        new.workspace_id,
        new.id,
        _lane_of(new),
        new.account_id,
        new.channel.value,
        new.action.value,
        new.post_id,
        new.campaign_id,
        new.sequence_id,
        new.contact_id,
        new.step,
        new.template_version_id,
        new.audience_id,
        new.recipient,
        _state_of(new).value,
        new.due_at,
        new.wall_time,
        new.zone,
        new.slot_at,
        new.not_after_at,
        new.priority,
        new.content,
        new.approved,
        new.mode,
        new.retry_limit,
    )


def _why_not(tx: Tx, new: NewDelivery) -> AlreadyThere | SlotTaken:
    there = tx.value(
        """
        SELECT id FROM delivery
        WHERE workspace_id = :workspace_id
            AND (id = :id
                OR (campaign_id = :campaign_id AND recipient = :recipient AND step = :step)
                OR (sequence_id = :sequence_id AND contact_id = :contact_id AND step = :step)
                OR (post_id = :post_id AND account_id = :account_id AND channel = :channel
                AND recipient IS NULL AND state NOT IN ('canceled', 'skipped')))
        """,
        workspace_id=new.workspace_id,
        id=new.id,
        campaign_id=new.campaign_id,
        sequence_id=new.sequence_id,
        contact_id=new.contact_id,
        recipient=new.recipient,
        step=new.step,
        post_id=new.post_id,
        account_id=new.account_id,
        channel=new.channel.value,
    )
    if there is not None:
        return AlreadyThere(there)
    assert new.slot_at is not None, "only a taken slot is left"
    return SlotTaken(new.slot_at)
