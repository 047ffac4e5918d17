"""Approves a post, or takes the approval back: its deliveries go in the pipeline or off it.

An approval is of what the post says now: whoever looked at an older revision gets that one's successor
to look at instead. A second approval of the same content changes nothing and names the first. A post
with a blocker, or without any content, cannot be approved.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from cadenza.core.channels import Channel
from cadenza.core.rollup import DeliveryState as State
from cadenza.db.audit import record
from cadenza.deliveries import approve as deliveries_approve
from cadenza.deliveries.hold import hold_post
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.render import Files
from cadenza.deliveries.rewrite import Frozen
from cadenza.posts.approval_rights import find_blockers, is_own, why_not
from cadenza.posts.compose import compose_post
from cadenza.posts.edit import Conflict, recompose
from cadenza.posts.find import Hold, find
from cadenza.posts.model import Approval, Blocked, NoSuchPost, NotAllowed, Post
from cadenza.posts.preflight import DoesNotFit, refuse_unfit
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Approved:
    """It is approved; `before` is true when it was so already."""

    approval: Approval
    scheduled: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()  # their time was past
    before: bool = False


@dataclass(frozen=True, slots=True)
class Unapproved:
    """It waits for an approval; `too_late` names what is out or on its way."""

    drafts: tuple[str, ...]
    too_late: tuple[Frozen, ...]


Refusal = NoSuchPost | NotAllowed | Blocked | Conflict | DoesNotFit


def approve(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    by: str,
    revision: int | None = None,
    files: Files | None = None,
) -> Approved | Refusal:
    """Approve what the post says; with `revision`, only if that is what it says."""
    post = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(post, NoSuchPost):
        return post
    if revision is not None and revision != post.revision:
        return Conflict(
            post, "the post was changed meanwhile: look at it again before you approve it"
        )
    if post.approval is not None and post.approved:
        return Approved(post.approval, before=True)
    return approve_held(tx, now, post, by=by, files=files)


def approve_held(
    tx: Tx, now: datetime, post: Post, *, by: str, files: Files | None = None
) -> Approved | NotAllowed | Blocked | DoesNotFit:
    """Approve a post that this transaction holds, if what waits for the approval can be sent then."""
    own = is_own(tx, post, by)
    if (refused := why_not(tx, post.workspace_id, by, own=own)) is not None:
        return NotAllowed(refused)
    if blockers := find_blockers(post.content, post.blockers):
        return Blocked(blockers)
    if unfit := refuse_unfit(
        tx, post.workspace_id, compose_post(tx, post, _waiting(tx, post)), files
    ):
        return unfit
    approval = Approval(by, now, post.content_hash)
    _write(tx, post, approval)
    recompose(
        tx, now, replace(post, approval=approval)
    )  # hashtags of brand or category may have changed since it was planned
    released = deliveries_approve.release(tx, now, workspace_id=post.workspace_id, post_id=post.id)
    _record(tx, now, post, by, "post.approve")
    return Approved(approval, released.scheduled, released.missed)


def _waiting(tx: Tx, post: Post) -> list[tuple[str, Channel]]:
    """Name where it is planned and waits for an approval."""
    held = hold_post(tx, post.workspace_id, post.id)
    return [
        (row.account_id, row.channel)
        for row in held
        if row.state == State.DRAFT and not row.approved
    ]


def unapprove(
    tx: Tx, now: datetime, *, workspace_id: str, post_id: str, by: str, reason: str = ""
) -> Unapproved | NoSuchPost | NotAllowed:
    """Take an approval back; what waits is a draft again."""
    post = find(tx, workspace_id, post_id, hold=Hold.CHANGE)
    if isinstance(post, NoSuchPost):
        return post
    if (refused := why_not(tx, workspace_id, by)) is not None:
        return NotAllowed(refused)
    _write(tx, post, None)
    taken = deliveries_approve.take_back(
        tx,
        now,
        workspace_id=workspace_id,
        post_id=post_id,
        reason=Reason.of(
            Code.APPROVAL_TAKEN_BACK,
            message=f"the approval was taken back{f': {reason}' if reason else ''}",
        ),
    )
    _record(tx, now, post, by, "post.unapprove")
    return Unapproved(taken.drafts, taken.frozen)


def _write(tx: Tx, post: Post, approval: Approval | None) -> None:
    tx.run(
        """
        UPDATE post SET approved_by = :by, approved_at = :at, approved_hash = :hash
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        by=approval.by if approval else None,
        at=approval.at if approval else None,
        hash=approval.hash if approval else None,
        workspace_id=post.workspace_id,
        id=post.id,
    )


def _record(tx: Tx, now: datetime, post: Post, by: str, action: str) -> None:
    record(
        tx,
        now,
        workspace_id=post.workspace_id,
        by=by,
        action=action,
        subject_id=post.id,
        before={"approved": post.approved},
        after={"approved": action == "post.approve", "revision": post.revision},
    )
