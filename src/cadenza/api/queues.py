"""Queues: an account's weekly slots, what stands in them, and adding posts.

What is done with a whole queue stands in `queue_acts.py`, its order in `queue_order.py`.
"""

from datetime import date, datetime
from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import ConfigDict, Field

from cadenza.api.action_routes import ActionContext, ActionRoutes
from cadenza.api.json_response import json_response
from cadenza.api.posts import one as one_post
from cadenza.api.problems import Problem
from cadenza.api.queue_schemas import (
    AddedTo,
    AlreadyView,
    AnswerView,
    DayView,
    MovedView,
    NotQueuedView,
    QueuedView,
    Refused,
    ScheduleView,
    ValueView,
    refuse,
    show,
)
from cadenza.api.request_context import Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id, IdField, InputModel, Instant, WallTime, ZoneName
from cadenza.core.channels import normalise
from cadenza.people.model import Role
from cadenza.posts.preflight import merge_unfit
from cadenza.posts.targets import Targets
from cadenza.queues import runway, schedule, store
from cadenza.queues.add import Added, AlreadyQueued, Queued, To, Unfit, add
from cadenza.queues.change import ChangedSchedule, How, change
from cadenza.queues.check_slot import Named
from cadenza.queues.last_accounts import usual_accounts
from cadenza.queues.model import NoQueue, locks
from cadenza.queues.show import DAYS, MOST_DAYS, View
from cadenza.queues.show import show as show_days
from cadenza.sql.tx import Tx

Slots = dict[str, list[Any]] | list[dict[str, Any]]
QUEUE = "/accounts/{account_id}/queue"


def acts_on_queues(tag: str) -> ActionRoutes:
    """Return what declares acts on the queue of the path's account, under that account's lock."""
    return ActionRoutes(
        routes=Resource(tag, "/workspaces/{workspace_id}"),
        path=QUEUE,
        id="account_id",
        scope="queue:write",
        refuse=refuse,
        show=lambda _, shows, answer: show(shows, answer),
        locks=_of_account,
    )


async def _of_account(act: WriteContext, account_id: str) -> list[str]:
    return locks(act.workspace_id, account_id)


on_queue = acts_on_queues("queues")
routes = on_queue.routes


class QueueView(AnswerView):
    """Some days of a queue, with what the head of a screen needs."""

    revision: int
    zone: str
    now_there: str
    paused: bool
    pause_reason: str | None
    paused_until: datetime | None
    account_state: str
    enabled: bool
    to_resume: int = Field(
        description="Posts that came due while the account was disconnected: resume decides"
    )
    next_send: datetime | None
    days: list[DayView]
    next_day: date


class ScheduleInput(InputModel):
    """The weekly slots of an account, as a map of weekdays (Sunday is 0) or as a flat list."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"slots": {"1": ["09:00", "17:30"], "3": ["12:00"]}, "zone": "Europe/Berlin"},
                {"slots": [{"dayOfWeek": 1, "hour": 9, "minute": 0}], "max_per_day": 3},
            ]
        }
    )
    slots: Slots
    name: str = Field(default="", max_length=200)
    zone: ZoneName | None = None
    max_per_day: int | None = Field(default=None, ge=1, le=500, strict=True)
    enabled: bool = True
    blackouts: list[date] = Field(default=[], max_length=400)


class Renaming(InputModel):
    """One slot of the week that became another of the same day; its posts go along. Sunday is 0."""

    day: int = Field(ge=0, le=6, strict=True)
    was: WallTime
    now: WallTime


class ScheduleChange(InputModel):
    """What to change of a schedule, and what becomes of the posts that stand in it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"slots": {"1": ["10:00"]}, "how": "follow"},
                {
                    "slots": {"1": ["10:00", "18:00"]},
                    "renamed": [{"day": 1, "was": "09:00", "now": "18:00"}],
                },
            ]
        }
    )
    slots: Slots | None = None
    name: str | None = Field(default=None, max_length=200)
    zone: ZoneName | None = None
    max_per_day: int | None = Field(default=None, ge=1, le=500, strict=True)
    no_max_per_day: bool = False
    enabled: bool | None = None
    blackouts: list[date] | None = Field(default=None, max_length=400)
    how: How = How.FOLLOW
    renamed: list[Renaming] | None = Field(
        default=None,
        max_length=200,
        description="Which time became which; left out, each that is gone is paired with the nearest new one",
    )
    revision: int | None = Field(default=None, strict=True)

    def words(self) -> dict[str, Any]:
        """Return what is asked as the operation takes it."""
        said = self.model_dump()
        if self.renamed is not None:
            said["renamed"] = {(each.day, each.was): each.now for each in self.renamed}
        return said


class ScheduleChanged(AnswerView):
    """What the change does to the posts in the queue."""

    keeps: int
    moves: list[MovedView]
    pinned: list[str]
    fixed: list[str] = Field(
        description="By another zone: fixed-time posts keep their instant, so their clock time differs"
    )
    revision: int


class QueueTargetInput(InputModel):
    """An account, and a channel of it where not all usual ones are meant."""

    account_id: IdField
    channel: str | None = Field(default=None, max_length=40)


class AddInput(InputModel):
    """Which post, to which accounts, and where in the queue."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"post_id": "0193e0f2-6a7b-7c3d-8e4f-5a6b7c8d9e0f", "to": "first_free"}]
        }
    )
    post_id: IdField
    accounts: list[QueueTargetInput] | None = Field(
        default=None, max_length=100, description="Left out: those used last, else all"
    )
    to: To = To.FIRST_FREE
    slot: Instant | None = Field(default=None, description="A free slot, instead of `to`")
    at: Instant | None = Field(default=None, description="An instant of one's own, instead of `to`")

    def where(self) -> To | Named | datetime:
        """Return the place in the queue as the operation takes it."""
        return Named(self.slot) if self.slot is not None else self.at or self.to


class AddedView(AnswerView):
    """One answer an account, and when the post goes out first."""

    answers: list[AddedTo]
    scheduled_at: datetime | None


class RunwayView(ValueView):
    """How long the queue lasts."""

    posts: int
    last_at: datetime | None
    dry_at: datetime | None
    empty_slots: int


@routes.get(QUEUE, needs=Role.VIEWER, scope="queue:read", response_model=QueueView)
async def show_queue(
    ask: Reader,
    workspace_id: Id,
    account_id: Id,
    from_day: Annotated[date | None, Query(description="Today there, unless said")] = None,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = DAYS,
) -> Response:
    """Show days with their slots: filled, empty, skipped, capped or held."""
    ask.check_account(account_id)
    found = await ask.read(
        lambda tx, now: show_days(
            tx, now, workspace_id=workspace_id, account_id=account_id, from_day=from_day, days=days
        )
    )
    if not isinstance(found, View):
        refuse(found)
    return json_response(QueueView, found)


@routes.get(QUEUE + "/schedule", needs=Role.VIEWER, scope="queue:read")
async def show_schedule(ask: Reader, workspace_id: Id, account_id: Id) -> ScheduleView:
    """Show the weekly slots."""
    ask.check_account(account_id)
    return ask.tag(await ask.read(lambda tx, _: _schedule(tx, workspace_id, account_id)))


@on_queue.act(
    "/schedule",
    done=schedule.Written,
    shows=ScheduleView,
    show=lambda context, shows, written: context.act.tag(shows.of(written.queue)),
    method="PUT",
)
def create_schedule(context: ActionContext, body: ScheduleInput) -> schedule.Written | Refused:
    """Give an account its first weekly slots."""
    _check_match(context)
    return schedule.write(context.tx, context.now, **context.about, **body.model_dump())


@on_queue.act("/schedule", done=ChangedSchedule, shows=ScheduleChanged, method="PATCH")
def change_schedule(context: ActionContext, body: ScheduleChange) -> ChangedSchedule | Refused:
    """Change slots, zone or cap; with `dry_run` it says what would keep its time and what would move."""
    _check_match(context)
    return change(context.tx, context.now, **context.about, **body.words())


@routes.post("/queue", needs=Role.EDITOR, scope="queue:write")
async def add_to_queue(act: Writer, workspace_id: Id, body: AddInput) -> AddedView:
    """Give a post the next free slot of each account, or another place in their queues."""
    targets: Targets
    if body.accounts is None:
        targets = await act.read(
            lambda tx, now: usual_accounts(tx, now, workspace_id=workspace_id, author=act.by)
        )
    else:
        targets = [_target(place) for place in body.accounts]
    accounts = {each if isinstance(each, str) else each[0] for each in targets}
    for account_id in accounts:
        act.check_account(account_id)

    return await act.write(
        lambda tx, now: assign_next_slots(act, tx, now, body.post_id, targets, to=body.where()),
        locks=locks(workspace_id, *accounts),
    )


@routes.get(QUEUE + "/runway", needs=Role.VIEWER, scope="queue:read")
async def show_runway(ask: Reader, workspace_id: Id, account_id: Id) -> RunwayView:
    """Say when the queue runs dry."""
    ask.check_account(account_id)
    found = await ask.read(
        lambda tx, now: runway.runway(tx, now, workspace_id=workspace_id, account_id=account_id)
    )
    if isinstance(found, NoQueue):
        refuse(found)
    return show(RunwayView, found)


def assign_next_slots(
    act: WriteContext,
    tx: Tx,
    now: datetime,
    post_id: str,
    targets: Targets,
    *,
    to: To | Named | datetime,
) -> AddedView:
    """Queue a post that the caller may see, or refuse; locks: `model.locks` of the accounts."""
    read = one_post(act, tx, now, post_id)
    answer = add(
        tx,
        now,
        workspace_id=act.workspace_id,
        post_id=post_id,
        by=act.by,
        targets=targets,
        to=to,
        files=act.runtime.files,
    )
    if not isinstance(answer, Added):
        refuse(answer)
    unfit = [each.refusal for each in answer.answers if isinstance(each, Unfit)]
    if unfit and len(unfit) == len(answer.answers):
        refuse(merge_unfit(unfit))
    if read.post.approved:  # else the approval spends
        act.spend(tx, now, sum(isinstance(each, Queued) for each in answer.answers))
    shown = [_added(each) for each in answer.answers]
    return AddedView(answers=shown, scheduled_at=answer.scheduled_at)


def _schedule(tx: Tx, workspace_id: str, account_id: str) -> ScheduleView:
    queue = store.read(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        refuse(queue)
    return ScheduleView.of(queue)


def _check_match(context: ActionContext) -> None:
    """Refuse to change slots that are no longer as the caller saw them."""
    if context.act.if_match is None:
        return
    account_id = context.about["account_id"]
    queue = store.read(context.tx, workspace_id=context.act.workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        raise Problem(412, "changed_meanwhile", "There are no weekly slots any more, or not yet.")
    context.act.check_match(ScheduleView.of(queue))


def _target(place: QueueTargetInput) -> Any:
    return (
        place.account_id if place.channel is None else (place.account_id, normalise(place.channel))
    )


def _added(answer: object) -> QueuedView | AlreadyView | NotQueuedView:
    match answer:
        case Queued():
            return show(QueuedView, answer)
        case AlreadyQueued():
            return show(AlreadyView, answer)
        case _:
            return show(NotQueuedView, answer)
