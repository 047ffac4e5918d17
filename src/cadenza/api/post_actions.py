"""What people do with posts: approve, publish now, time by hand, cancel, try again.

Every act works on the deliveries that are there: no path here makes a second post. Acts that make something
go out take from a key's daily budget of publishings, one a place.
"""

from datetime import datetime

from pydantic import BaseModel

from cadenza.api.action_routes import ActionContext, ActionRoutes
from cadenza.api.lock_posts import post_locks
from cadenza.api.post_action_schemas import (
    ApproveAndPublishInput,
    ApprovedView,
    ApproveInput,
    CanceledView,
    CancelInput,
    DeliveriesInput,
    PublishingView,
    PublishTargetView,
    RefusedTargetView,
    RetryingView,
    ScheduledView,
    TargetsInput,
    TimedView,
    TimeInput,
    UnapprovedView,
    UnapproveInput,
    UnchangedView,
)
from cadenza.api.post_schemas import refuse, show_post, targets_of
from cadenza.api.posts import APPROVE, one, seen, tag, unchanged
from cadenza.api.queue_schemas import show
from cadenza.api.request_context import WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id
from cadenza.deliveries.cancel_post import CanceledPost
from cadenza.people.model import Role
from cadenza.posts import approve, cancel, publish_now, retry, schedule_at
from cadenza.posts.edit import Conflict
from cadenza.posts.model import NoSuchPost
from cadenza.posts.read import ShownPost as Read
from cadenza.posts.targets import Targets
from cadenza.sql.tx import Tx


def _show(context: ActionContext, shows: type[BaseModel], answer: object) -> BaseModel:
    """Show what was done, beside the post as it stands now."""
    own = [name for name in shows.model_fields if name not in ("post", "dry_run")]
    post = tag(
        context.act, show_post(one(context.act, context.tx, context.now, context.about["post_id"]))
    )
    return shows.model_validate({"post": post} | {name: getattr(answer, name) for name in own})


on_post = ActionRoutes(
    routes=Resource("posts", "/workspaces/{workspace_id}/posts/{post_id}"),
    path="",
    id="post_id",
    scope="posts:write",
    refuse=refuse,
    show=_show,
    locks=post_locks,
    load_subject=unchanged,
)
routes = on_post.routes


@on_post.act(
    "/approve",
    scope=APPROVE,
    done=approve.Approved,
    shows=ApprovedView,
    spends=lambda approved: len(approved.scheduled),
)
def approve_post(context: ActionContext, body: ApproveInput) -> approve.Approved | approve.Refusal:
    """Approve what the post says now; what was planned of it goes in the pipeline."""
    before: Read = context.subject
    revision = _seen(context.act, body.revision, before)
    answer = approve.approve(
        context.tx, context.now, **context.about, revision=revision, files=context.act.runtime.files
    )
    if isinstance(answer, Conflict):
        refuse(answer, if_match=body.revision is None, current=show_post(before))
    return answer


@on_post.act("/unapprove", scope=APPROVE, done=approve.Unapproved, shows=UnapprovedView)
def unapprove_post(
    context: ActionContext, body: UnapproveInput
) -> approve.Unapproved | approve.Refusal:
    """Take the approval back; what waits is a draft again."""
    return approve.unapprove(context.tx, context.now, **context.about, reason=body.reason or "")


@on_post.act("/cancel", done=CanceledPost, shows=CanceledView)
def cancel_post(context: ActionContext, body: CancelInput) -> CanceledPost | NoSuchPost:
    """Cancel it without deleting it; it keeps its approval."""
    return cancel.cancel(
        context.tx, context.now, **context.about, only=body.deliveries, reason=body.reason
    )


@on_post.act(
    "/retry",
    scope="posts:publish",
    done=retry.Retrying,
    shows=RetryingView,
    spends=lambda retrying: len(retrying.deliveries),
)
def retry_post(context: ActionContext, body: DeliveriesInput) -> retry.Answer:
    """Try what failed or was missed once more; what is out is never touched."""
    files = context.act.runtime.files
    return retry.retry(context.tx, context.now, **context.about, only=body.deliveries, files=files)


@routes.post("/publish-now", needs=Role.EDITOR, scope="posts:publish")
async def publish_post_now(
    act: Writer, workspace_id: Id, post_id: Id, body: TargetsInput
) -> PublishingView:
    """Send an approved post now, on chosen channels; a second click finds the first one's attempt."""
    targets = targets_of(act, body.accounts)

    def operation(tx: Tx, now: datetime) -> PublishingView:
        unchanged(act, tx, now, post_id)
        return send_now(act, tx, now, post_id, targets)

    return await act.write(operation, locks=await post_locks(act, post_id, targets))


@routes.post("/approve-and-publish-now", needs=Role.EDITOR, scope=APPROVE)
async def approve_and_publish_now(
    act: Writer, workspace_id: Id, post_id: Id, body: ApproveAndPublishInput
) -> PublishingView:
    """Approve what the post says and send it now."""
    targets = targets_of(act, body.accounts)
    return await act.write(
        lambda tx, now: approve_and_send(act, tx, now, post_id, targets, revision=body.revision),
        locks=await post_locks(act, post_id, targets),
    )


@routes.post("/schedule", needs=Role.EDITOR, scope="posts:write")
async def schedule_post(
    act: Writer, workspace_id: Id, post_id: Id, body: TimeInput
) -> ScheduledView:
    """Give it an instant by hand, everywhere or at chosen places."""
    targets = targets_of(act, body.accounts)
    when = schedule_at.When(body.at, body.zone, body.seen_at)

    def operation(tx: Tx, now: datetime) -> ScheduledView:
        unchanged(act, tx, now, post_id)
        return give_time(act, tx, now, post_id, when, targets)

    return await act.write(operation, locks=await post_locks(act, post_id, targets))


def send_now(
    act: WriteContext, tx: Tx, now: datetime, post_id: str, targets: Targets | None
) -> PublishingView:
    """Send an approved post now, or refuse."""
    one(act, tx, now, post_id)
    answer = publish_now.publish_now(
        tx,
        now,
        workspace_id=act.workspace_id,
        post_id=post_id,
        by=act.by,
        targets=targets,
        files=act.runtime.files,
    )
    if not isinstance(answer, publish_now.PublishingNow):
        refuse(answer)
    return _publishing(act, tx, now, post_id, answer)


def approve_and_send(
    act: WriteContext,
    tx: Tx,
    now: datetime,
    post_id: str,
    targets: Targets | None,
    *,
    revision: int | None,
) -> PublishingView:
    """Approve what the post says and send it now, or refuse."""
    before = one(act, tx, now, post_id)
    answer = publish_now.approve_and_publish_now(
        tx,
        now,
        workspace_id=act.workspace_id,
        post_id=post_id,
        by=act.by,
        targets=targets,
        revision=_seen(act, revision, before),
        files=act.runtime.files,
    )
    if not isinstance(answer, publish_now.PublishingNow):
        refuse(answer, if_match=revision is None, current=show_post(before))
    return _publishing(act, tx, now, post_id, answer)


def give_time(
    act: WriteContext,
    tx: Tx,
    now: datetime,
    post_id: str,
    when: schedule_at.When,
    targets: Targets | None,
) -> ScheduledView:
    """Give a post an instant by hand, or refuse."""
    one(act, tx, now, post_id)
    answer = schedule_at.schedule_at(
        tx,
        now,
        workspace_id=act.workspace_id,
        post_id=post_id,
        when=when,
        by=act.by,
        targets=targets,
        files=act.runtime.files,
    )
    if not isinstance(answer, schedule_at.ScheduledAt):
        refuse(answer)
    timed = [each for each in answer.places if isinstance(each, schedule_at.Timed)]
    post = tag(act, show_post(one(act, tx, now, post_id)))
    act.spend(tx, now, len(timed) if post.approved else 0)  # else the approval spends
    return ScheduledView(
        post=post,
        places=[
            show(TimedView if isinstance(each, schedule_at.Timed) else UnchangedView, each)
            for each in answer.places
        ],
        refused=[show(RefusedTargetView, each) for each in answer.refused],
    )


def _publishing(
    act: WriteContext, tx: Tx, now: datetime, post_id: str, answer: publish_now.PublishingNow
) -> PublishingView:
    started = [each for each in answer.places if each.click is publish_now.Click.STARTED]
    act.spend(tx, now, len(started))
    return PublishingView(
        post=tag(act, show_post(one(act, tx, now, post_id))),
        places=[show(PublishTargetView, each) for each in answer.places],
        refused=[show(RefusedTargetView, each) for each in answer.refused],
    )


def _seen(act: WriteContext, revision: int | None, before: Read) -> int | None:
    """Return the revision that the caller looked at, if they named one."""
    named = revision is not None or act.if_match is not None
    return seen(act, revision, before.post.revision) if named else None
