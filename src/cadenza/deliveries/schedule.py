"""Schedules deliveries, for all planners.

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
from cadenza.deliveries.model import NewDelivery
from cadenza.deliveries.transition import as_approved, insert
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
    added = insert(tx, now, new, unfit)
    answers: list[Answer] = []
    for delivery in new:
        key = (delivery.workspace_id, delivery.id)
        answers.append(
            Scheduled(delivery.id, as_approved(delivery), delivery.due_at)
            if key in added
            else _why_not(tx, delivery)
        )
        added.discard(key)  # the same once more is there already
    _mark_posts(tx, new)
    lanes.refresh(tx, [(delivery.workspace_id, delivery.lane) for delivery in new])
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
