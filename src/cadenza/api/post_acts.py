"""What people do with posts: approve, publish now, time by hand, cancel, try again.

Every act works on the deliveries that are there: no path here makes a second post. Acts that make something
go out take from a key's daily budget of publishings, one a place.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from cadenza.api.ask import Act, Acting
from cadenza.api.declare import Resource
from cadenza.api.post_shapes import (
    Place,
    PostShown,
    TooLateShown,
    refuse,
    show_post,
    targets_of,
)
from cadenza.api.posts import APPROVE, one, seen, tag
from cadenza.api.queue_shapes import Shown, ShownAnswer, show
from cadenza.api.shape import Asked, Id, IdField, Line, ZoneName
from cadenza.core.rollup import DeliveryState
from cadenza.deliveries.cancel_post import CanceledPost
from cadenza.people.model import Role
from cadenza.posts import approve, cancel, publish_now, retry, schedule_at
from cadenza.posts.targets import Targets
from cadenza.sql.tx import Tx

routes = Resource("posts", "/workspaces/{workspace_id}/posts/{post_id}")


def in_our_days(time: datetime) -> datetime:
    """Refuse years that no clock of ours can turn into an instant."""
    if not 1971 <= time.year <= 9000:
        raise ValueError("no post goes out in that year")
    return time


class Seen(Asked):
    """Which revision was looked at: another one is not approved by this."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 1}, {}]})
    revision: int | None = Field(default=None, strict=True, ge=1)


class Doubts(Asked):
    """Why the approval goes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "the price is wrong"}]})
    reason: Line | None = None


class Where(Asked):
    """Which places; left out: everywhere that it has a delivery for."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{}, {"accounts": [{"account_id": "0193a7"}]}]}
    )
    accounts: list[Place] | None = Field(default=None, min_length=1, max_length=100)


class WhereSeen(Where):
    """Which places, and which revision was looked at."""

    revision: int | None = Field(default=None, strict=True, ge=1)


class When(Where):
    """An instant with an offset, or a wall time with a zone; a wall time alone names nothing."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"at": "2031-03-30T09:00:00+02:00"},
                {"at": "2031-03-30T09:00", "zone": "Europe/Berlin"},
            ]
        }
    )
    at: Annotated[datetime, AfterValidator(in_our_days)]
    zone: ZoneName | None = None


class Chosen(Asked):
    """Which deliveries of the post; left out: all that it fits."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}, {"deliveries": ["0193a7"]}]})
    deliveries: list[IdField] | None = Field(default=None, min_length=1, max_length=200)


class Canceling(Chosen):
    """Which deliveries are taken off the road, and why."""

    reason: Line = "canceled by hand"


class ApprovedShown(ShownAnswer):
    """It is approved; `before` says that it was so already."""

    post: PostShown
    before: bool
    scheduled: list[str]
    missed: list[str] = Field(description="Their time was past")


class UnapprovedShown(ShownAnswer):
    """It waits for an approval again."""

    post: PostShown
    drafts: list[str]
    too_late: list[TooLateShown]


class PlaceShown(Shown):
    """What the click found or did at one place."""

    delivery_id: str
    account_id: str
    channel: str
    click: publish_now.Click
    attempt_id: str | None
    url: str | None
    warnings: list[str]


class PublishingShown(ShownAnswer):
    """It goes out now, place by place."""

    post: PostShown
    places: list[PlaceShown]


class TimedShown(Shown):
    """It goes then."""

    outcome: Literal["timed"] = "timed"
    delivery_id: str
    account_id: str
    channel: str
    due_at: datetime
    wall_time: str
    zone: str
    note: str | None
    warnings: list[str]


class LeftShown(Shown):
    """It was too late there: it was left alone."""

    outcome: Literal["too_late"] = "too_late"
    delivery_id: str
    account_id: str
    channel: str
    state: DeliveryState


class ScheduledShown(ShownAnswer):
    """What became of each place."""

    post: PostShown
    places: list[Annotated[TimedShown | LeftShown, Field(discriminator="outcome")]]


class CanceledShown(ShownAnswer):
    """What is off the road, and what was too far on its way."""

    post: PostShown
    canceled: list[str]
    sending: list[TooLateShown]


class StillShown(Shown):
    """A delivery that was asked for and has not failed."""

    delivery_id: str
    state: DeliveryState


class RetryingShown(ShownAnswer):
    """These go again."""

    post: PostShown
    deliveries: list[str]
    left: list[StillShown]


@routes.post("/approve", needs=Role.EDITOR, scope=APPROVE)
async def approve_post(act: Act, workspace_id: Id, post_id: Id, body: Seen) -> ApprovedShown:
    """Approve what the post says now; what was planned of it goes on the road."""

    def operation(tx: Tx, now: datetime) -> ApprovedShown:
        before = one(act, tx, now, post_id)
        named = body.revision is not None or act.if_match is not None
        answer = approve.approve(
            tx,
            now,
            workspace_id=workspace_id,
            post_id=post_id,
            by=act.by,
            revision=seen(act, body.revision, before.post.revision) if named else None,
        )
        if not isinstance(answer, approve.Approved):
            refuse(answer, if_match=body.revision is None, current=show_post(before))
        act.spend(tx, now, len(answer.scheduled))
        post = tag(act, show_post(one(act, tx, now, post_id)))
        return ApprovedShown(
            post=post,
            before=answer.before,
            scheduled=list(answer.scheduled),
            missed=list(answer.missed),
        )

    return await act.write(operation)


@routes.post("/unapprove", needs=Role.EDITOR, scope=APPROVE)
async def unapprove_post(act: Act, workspace_id: Id, post_id: Id, body: Doubts) -> UnapprovedShown:
    """Take the approval back; what waits is a draft again."""

    def operation(tx: Tx, now: datetime) -> UnapprovedShown:
        one(act, tx, now, post_id)
        answer = approve.unapprove(
            tx,
            now,
            workspace_id=workspace_id,
            post_id=post_id,
            by=act.by,
            reason=body.reason or "",
        )
        if not isinstance(answer, approve.Unapproved):
            refuse(answer)
        return UnapprovedShown(
            post=tag(act, show_post(one(act, tx, now, post_id))),
            drafts=list(answer.drafts),
            too_late=[show(TooLateShown, each) for each in answer.too_late],
        )

    return await act.write(operation)


@routes.post("/publish-now", needs=Role.EDITOR, scope="posts:publish")
async def publish_post_now(act: Act, workspace_id: Id, post_id: Id, body: Where) -> PublishingShown:
    """Send an approved post now, on chosen channels; a second click finds the first one's attempt."""
    targets = targets_of(act, body.accounts)
    return await act.write(lambda tx, now: send_now(act, tx, now, post_id, targets))


@routes.post("/approve-and-publish-now", needs=Role.EDITOR, scope=APPROVE)
async def approve_and_publish_now(
    act: Act, workspace_id: Id, post_id: Id, body: WhereSeen
) -> PublishingShown:
    """Approve what the post says and send it now."""
    targets = targets_of(act, body.accounts)
    return await act.write(
        lambda tx, now: approve_and_send(act, tx, now, post_id, targets, revision=body.revision)
    )


@routes.post("/schedule", needs=Role.EDITOR, scope="posts:write")
async def schedule_post(act: Act, workspace_id: Id, post_id: Id, body: When) -> ScheduledShown:
    """Give it an instant by hand, everywhere or at chosen places."""
    targets = targets_of(act, body.accounts)
    when = schedule_at.When(body.at, body.zone)
    return await act.write(lambda tx, now: give_time(act, tx, now, post_id, when, targets))


@routes.post("/cancel", needs=Role.EDITOR, scope="posts:write")
async def cancel_post(act: Act, workspace_id: Id, post_id: Id, body: Canceling) -> CanceledShown:
    """Take it off the road without deleting it; it keeps its approval."""

    def operation(tx: Tx, now: datetime) -> CanceledShown:
        one(act, tx, now, post_id)
        answer = cancel.cancel(
            tx,
            now,
            workspace_id=workspace_id,
            post_id=post_id,
            by=act.by,
            only=body.deliveries,
            reason=body.reason,
        )
        if not isinstance(answer, CanceledPost):
            refuse(answer)
        return CanceledShown(
            post=tag(act, show_post(one(act, tx, now, post_id))),
            canceled=list(answer.canceled),
            sending=[show(TooLateShown, each) for each in answer.sending],
        )

    return await act.write(operation)


@routes.post("/retry", needs=Role.EDITOR, scope="posts:publish")
async def retry_post(act: Act, workspace_id: Id, post_id: Id, body: Chosen) -> RetryingShown:
    """Try what failed or was missed once more; what is out is never touched."""

    def operation(tx: Tx, now: datetime) -> RetryingShown:
        one(act, tx, now, post_id)
        answer = retry.retry(
            tx, now, workspace_id=workspace_id, post_id=post_id, by=act.by, only=body.deliveries
        )
        if not isinstance(answer, retry.Retrying):
            refuse(answer)
        act.spend(tx, now, len(answer.deliveries))
        return RetryingShown(
            post=tag(act, show_post(one(act, tx, now, post_id))),
            deliveries=list(answer.deliveries),
            left=[StillShown(delivery_id=id_, state=state) for id_, state in answer.left],
        )

    return await act.write(operation)


def send_now(
    act: Acting, tx: Tx, now: datetime, post_id: str, targets: Targets | None
) -> PublishingShown:
    """Send an approved post now, or refuse."""
    one(act, tx, now, post_id)
    answer = publish_now.publish_now(
        tx, now, workspace_id=act.workspace_id, post_id=post_id, by=act.by, targets=targets
    )
    if not isinstance(answer, publish_now.PublishingNow):
        refuse(answer)
    return _publishing(act, tx, now, post_id, answer)


def approve_and_send(
    act: Acting,
    tx: Tx,
    now: datetime,
    post_id: str,
    targets: Targets | None,
    *,
    revision: int | None,
) -> PublishingShown:
    """Approve what the post says and send it now, or refuse."""
    before = one(act, tx, now, post_id)
    named = revision is not None or act.if_match is not None
    answer = publish_now.approve_and_publish_now(
        tx,
        now,
        workspace_id=act.workspace_id,
        post_id=post_id,
        by=act.by,
        targets=targets,
        revision=seen(act, revision, before.post.revision) if named else None,
    )
    if not isinstance(answer, publish_now.PublishingNow):
        refuse(answer, if_match=revision is None, current=show_post(before))
    return _publishing(act, tx, now, post_id, answer)


def give_time(
    act: Acting,
    tx: Tx,
    now: datetime,
    post_id: str,
    when: schedule_at.When,
    targets: Targets | None,
) -> ScheduledShown:
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
    )
    if not isinstance(answer, schedule_at.ScheduledAt):
        refuse(answer)
    timed = [each for each in answer.places if isinstance(each, schedule_at.Timed)]
    post = tag(act, show_post(one(act, tx, now, post_id)))
    act.spend(tx, now, len(timed) if post.approved else 0)  # else the approval spends
    return ScheduledShown(
        post=post,
        places=[
            show(TimedShown if isinstance(each, schedule_at.Timed) else LeftShown, each)
            for each in answer.places
        ],
    )


def _publishing(
    act: Acting, tx: Tx, now: datetime, post_id: str, answer: publish_now.PublishingNow
) -> PublishingShown:
    started = [each for each in answer.places if each.click is publish_now.Click.STARTED]
    act.spend(tx, now, len(started))
    return PublishingShown(
        post=tag(act, show_post(one(act, tx, now, post_id))),
        places=[show(PlaceShown, each) for each in answer.places],
    )
