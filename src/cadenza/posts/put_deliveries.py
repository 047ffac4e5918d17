"""Puts a post's pieces in the pipeline at one instant: deliveries for places that have none yet."""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.channels import Channel
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import AlreadyThere, Scheduled, schedule
from cadenza.posts.compose import compose_post
from cadenza.posts.model import Post
from cadenza.sql.tx import Tx


def put_deliveries(
    tx: Tx,
    now: datetime,
    post: Post,
    places: Sequence[tuple[str, Channel]],
    *,
    due_at: datetime,
    priority: int = 0,
    wall_time: str | None = None,
    zone: str | None = None,
) -> dict[tuple[str, Channel], str]:
    """Add one delivery a place; return their ids, or the id of the one that was there.

    Callers have asked `refuse_unfit` before.
    """
    if not places:
        return {}
    new = [
        NewDelivery(
            id=tx.new_id(),
            workspace_id=post.workspace_id,
            account_id=piece.account_id,
            channel=piece.channel,
            action=Action.POST,
            due_at=due_at,
            content=piece.content,
            post_id=post.id,
            approved=piece.approved,
            wall_time=wall_time,
            zone=zone,
            priority=priority,
        )
        for piece in compose_post(tx, post, places)
    ]
    answers = schedule(tx, now, new, fits=True)
    return {
        (each.account_id, each.channel): answer.id
        for each, answer in zip(new, answers, strict=True)
        if isinstance(answer, Scheduled | AlreadyThere)
    }
