"""Cancels a post without deleting it: it is a draft again, keeping its approval."""

from collections.abc import Collection
from datetime import datetime

from cadenza.db.audit import record
from cadenza.deliveries.cancel_post import CanceledPost, cancel_post
from cadenza.deliveries.reasons import Code, Reason
from cadenza.posts.find import Hold, find
from cadenza.posts.model import NoSuchPost
from cadenza.sql.tx import Tx


def cancel(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    by: str,
    only: Collection[str] | None = None,
    reason: str = "canceled by hand",
) -> CanceledPost | NoSuchPost:
    """Cancel a post's deliveries, `only` some or all; done twice, the second finds nothing."""
    post = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(post, NoSuchPost):
        return post
    canceled = Reason.of(Code.CANCELED, message=reason)
    answer = cancel_post(
        tx, now, workspace_id=workspace_id, post_id=post_id, reason=canceled, only=only
    )
    if answer.canceled:
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="post.cancel",
            subject_id=post_id,
            after={"canceled": len(answer.canceled), "sending": len(answer.sending)},
        )
    return answer
