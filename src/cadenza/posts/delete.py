"""Deletes a post; refused while one of its calls is running. What it has sent stays where it is.

What waits is canceled, its files are let go, and its row stays, hidden, for the history of what was sent.
An unconfirmed send about one of its calls stays with the delivery until it is settled.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.db.audit import record
from cadenza.deliveries.cancel_post import cancel_post, under_way
from cadenza.deliveries.hold import hold_post
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.rewrite import Frozen
from cadenza.media.use import use
from cadenza.posts.find import Hold, find
from cadenza.posts.model import NoSuchPost
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Deleted:
    """It is gone; `canceled` will not be sent, `sent` is out there and was not taken back."""

    canceled: tuple[str, ...]
    sent: int

    @property
    def message(self) -> str | None:
        """Say what deleting did not do."""
        if not self.sent:
            return None
        return f"{self.sent} published on networks stay there: delete them there if you want to"


@dataclass(frozen=True, slots=True)
class Sending:
    """It is being sent right now: nothing was changed."""

    sending: tuple[Frozen, ...]
    message: str = "it is being sent right now: wait for the end, then delete it"


def delete(
    tx: Tx, now: datetime, *, workspace_id: str, post_id: str, by: str
) -> Deleted | Sending | NoSuchPost:
    """Delete a post and cancel what waits of it."""
    post = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(post, NoSuchPost):
        return post
    held = hold_post(tx, workspace_id, post_id)
    if sending := under_way(held):
        return Sending(sending)
    canceled = cancel_post(
        tx, now, workspace_id=workspace_id, post_id=post_id, reason=Reason.of(Code.POST_DELETED)
    ).canceled
    tx.run(
        "UPDATE post SET deleted_at = :now WHERE workspace_id = :workspace_id AND id = :id",
        now=now,
        workspace_id=workspace_id,
        id=post_id,
    )
    if post.content.media_ids:
        use(tx, workspace_id, post_id, ())
    sent = sum(1 for row in held if row.state in ("sent", "unconfirmed"))
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="post.delete",
        subject_id=post_id,
        after={"canceled": len(canceled), "sent": sent},
    )
    return Deleted(canceled, sent)
