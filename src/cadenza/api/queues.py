"""Queues: an account's weekly slots, adding posts to them, pausing, resuming and clearing."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Annotated, Any, TypeVar

from fastapi import Query
from pydantic import ConfigDict, Field

from cadenza.api.ask import Act, Acting, Ask
from cadenza.api.declare import Resource
from cadenza.api.queue_shapes import (
    AddedTo,
    AlreadyShown,
    DayShown,
    MovedShown,
    NotQueuedShown,
    QueuedShown,
    ScheduleShown,
    Shown,
    ShownAnswer,
    refuse,
    show,
)
from cadenza.api.shape import Asked, Id, IdField, Instant, Line, ZoneName
from cadenza.core.channels import normalise
from cadenza.people.model import Role
from cadenza.posts.targets import Targets
from cadenza.queues import keep, late, resume, runway, schedule
from cadenza.queues.add import Added, AlreadyQueued, Queued, To, add
from cadenza.queues.change import Changed, How, change
from cadenza.queues.clear import Cleared, Undone, clear, undo, undo_accounts
from cadenza.queues.model import NoQueue, locks
from cadenza.queues.open_slot import Named
from cadenza.queues.pause import Paused, pause
from cadenza.queues.remember import usual_accounts
from cadenza.queues.show import DAYS, MOST_DAYS, View
from cadenza.queues.show import show as show_days
from cadenza.sql.tx import Tx

routes = Resource("queues", "/workspaces/{workspace_id}")
Result = TypeVar("Result")
Slots = dict[str, list[Any]] | list[dict[str, Any]]
QUEUE = "/accounts/{account_id}/queue"


class QueueShown(ShownAnswer):
    """Some days of a queue, with what the head of a screen needs."""

    revision: int
    zone: str
    now_there: str
    paused: bool
    pause_reason: str | None
    paused_until: datetime | None
    account_state: str
    enabled: bool
    next_send: datetime | None
    days: list[DayShown]
    next_day: date


class ScheduleAsked(Asked):
    """The weekly slots of an account, as a map of weekdays (Sunday is 0) or as a flat list."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"slots": {"1": ["09:00", "17:30"], "3": ["12:00"]}, "zone": "Europe/Berlin"},
                {"slots": [{"day": 1, "time": "09:00"}], "max_per_day": 3},
            ]
        }
    )
    slots: Slots
    name: str = Field(default="", max_length=200)
    zone: ZoneName | None = None
    max_per_day: int | None = Field(default=None, ge=1, le=500, strict=True)
    enabled: bool = True
    blackouts: list[date] = Field(default=[], max_length=400)


class ScheduleChange(Asked):
    """What to change of a schedule, and what becomes of the posts that stand in it."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"slots": {"1": ["10:00"]}, "how": "follow"}]}
    )
    slots: Slots | None = None
    name: str | None = Field(default=None, max_length=200)
    zone: ZoneName | None = None
    max_per_day: int | None = Field(default=None, ge=1, le=500, strict=True)
    no_max_per_day: bool = False
    enabled: bool | None = None
    blackouts: list[date] | None = Field(default=None, max_length=400)
    how: How = How.FOLLOW
    revision: int | None = Field(default=None, strict=True)


class ScheduleChanged(ShownAnswer):
    """What the change does to the posts in the queue."""

    keeps: int
    moves: list[MovedShown]
    pinned: list[str]
    revision: int


class Place(Asked):
    """An account, and a channel of it where not all usual ones are meant."""

    account_id: IdField
    channel: str | None = Field(default=None, max_length=40)


class AddAsked(Asked):
    """Which post, to which accounts, and where in the queue."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"post_id": "0193e0f2-6a7b-7c3d-8e4f-5a6b7c8d9e0f", "to": "first_free"}]
        }
    )
    post_id: IdField
    accounts: list[Place] | None = Field(
        default=None, max_length=100, description="Left out: those used last, else all"
    )
    to: To = To.FIRST_FREE
    slot: Instant | None = Field(default=None, description="A free slot, instead of `to`")
    at: Instant | None = Field(default=None, description="An instant of one's own, instead of `to`")

    def where(self) -> To | Named | datetime:
        """Return the place in the queue as the room takes it."""
        return Named(self.slot) if self.slot is not None else self.at or self.to


class AddedShown(ShownAnswer):
    """One answer an account, and when the post goes out first."""

    answers: list[AddedTo]
    scheduled_at: datetime | None


class PauseAsked(Asked):
    """Why, and until when."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "breaking news"}]})
    reason: Line
    until: Instant | None = None


class PausedShown(ShownAnswer):
    """Nothing of the account is claimed any more."""

    reason: str
    until: datetime | None
    under_way: int
    revision: int


class ResumeAsked(Asked):
    """What becomes of what came due meanwhile."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "shift"}]})
    choice: resume.Choice = resume.Choice.SHIFT
    minutes_apart: int = Field(default=5, ge=1, le=1440, strict=True)


class ResumedShown(ShownAnswer):
    """It runs again."""

    choice: resume.Choice
    held: list[str]
    moved: list[MovedShown]
    taken_back: list[str]
    revision: int
    was_paused: bool


class ClearAsked(Asked):
    """Whether posts that were timed by hand go too."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"by_hand": False}]})
    by_hand: bool = False


class ClearedShown(ShownAnswer):
    """What was taken off the queue; `clear_id` takes it back for ten minutes."""

    clear_id: str | None
    canceled: list[str]
    on_their_way: list[str]
    drafts: list[str]
    undo_until: datetime | None


class UndoneShown(ShownAnswer):
    """What stands where it stood, and what could not."""

    restored: list[str]
    lost: list[tuple[str, str]]


class RunwayShown(Shown):
    """How long the queue lasts."""

    posts: int
    last_at: datetime | None
    dry_at: datetime | None
    empty_slots: int


class RescueAsked(Asked):
    """What is to become of missed posts; all of them unless some are named."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"wish": "next_slot"}]})
    wish: late.Wish
    ids: list[IdField] | None = Field(default=None, max_length=500)


class RescuedShown(ShownAnswer):
    """Where they go now."""

    moved: list[MovedShown]
    drafts: list[str]
    gone: list[str]
    full: list[str]
    revision: int


@routes.get(QUEUE, needs=Role.VIEWER, scope="queue:read")
async def show_queue(
    ask: Ask,
    workspace_id: Id,
    account_id: Id,
    from_day: Annotated[date | None, Query(description="Today there, unless said")] = None,
    days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = DAYS,
) -> QueueShown:
    """Show days with their slots: filled, empty, skipped, capped or held."""
    ask.check_account(account_id)

    def look(tx: Tx, now: datetime) -> QueueShown:
        found = show_days(
            tx, now, workspace_id=workspace_id, account_id=account_id, from_day=from_day, days=days
        )
        if not isinstance(found, View):
            refuse(found)
        return show(QueueShown, found)

    return await ask.read(look)


@routes.get(QUEUE + "/schedule", needs=Role.VIEWER, scope="queue:read")
async def show_schedule(ask: Ask, workspace_id: Id, account_id: Id) -> ScheduleShown:
    """Show the weekly slots."""
    ask.check_account(account_id)
    return ask.tag(await ask.read(lambda tx, _: _schedule(tx, workspace_id, account_id)))


@routes.put(QUEUE + "/schedule", needs=Role.EDITOR, scope="queue:write")
async def give_schedule(
    act: Act, workspace_id: Id, account_id: Id, body: ScheduleAsked
) -> ScheduleShown:
    """Give an account its first weekly slots."""

    def operation(tx: Tx, now: datetime) -> ScheduleShown:
        answer = schedule.write(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            by=act.by,
            **body.model_dump(),
        )
        if not isinstance(answer, schedule.Written):
            refuse(answer)
        return ScheduleShown.of(answer.queue)

    return await on_account(act, account_id, operation)


@routes.patch(QUEUE + "/schedule", needs=Role.EDITOR, scope="queue:write")
async def change_schedule(
    act: Act, workspace_id: Id, account_id: Id, body: ScheduleChange
) -> ScheduleChanged:
    """Change slots, zone or cap; with `dry_run` it says what would keep its time and what would move."""

    def operation(tx: Tx, now: datetime) -> ScheduleChanged:
        answer = change(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            by=act.by,
            **body.model_dump(),
        )
        if not isinstance(answer, Changed):
            refuse(answer)
        return show(ScheduleChanged, answer)

    return await on_account(act, account_id, operation)


@routes.post("/queue", needs=Role.EDITOR, scope="queue:write")
async def add_to_queue(act: Act, workspace_id: Id, body: AddAsked) -> AddedShown:
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
        lambda tx, now: give_slots(act, tx, now, body.post_id, targets, to=body.where()),
        locks=locks(workspace_id, *accounts),
    )


@routes.post(QUEUE + "/pause", needs=Role.EDITOR, scope="queue:write")
async def pause_queue(act: Act, workspace_id: Id, account_id: Id, body: PauseAsked) -> PausedShown:
    """Let nothing of the account be sent from now on; adding and reordering still work."""

    def operation(tx: Tx, now: datetime) -> PausedShown:
        answer = pause(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            reason=body.reason,
            until=body.until,
            by=act.by,
        )
        if not isinstance(answer, Paused):
            refuse(answer)
        return show(PausedShown, answer)

    return await on_account(act, account_id, operation)


@routes.post(QUEUE + "/resume", needs=Role.EDITOR, scope="queue:write")
async def resume_queue(
    act: Act, workspace_id: Id, account_id: Id, body: ResumeAsked
) -> ResumedShown:
    """Let it send again; what came due meanwhile is shifted, sent spaced, or taken back as drafts."""

    def operation(tx: Tx, now: datetime) -> ResumedShown:
        answer = resume.resume(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            by=act.by,
            choice=body.choice,
            spacing=timedelta(minutes=body.minutes_apart),
        )
        if not isinstance(answer, resume.Resumed):
            refuse(answer)
        return show(ResumedShown, answer)

    return await on_account(act, account_id, operation)


@routes.post(QUEUE + "/clear", needs=Role.EDITOR, scope="queue:write")
async def clear_queue(act: Act, workspace_id: Id, account_id: Id, body: ClearAsked) -> ClearedShown:
    """Take everything off the queue; it can be undone for ten minutes."""

    def operation(tx: Tx, now: datetime) -> ClearedShown:
        answer = clear(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            by=act.by,
            by_hand=body.by_hand,
        )
        if not isinstance(answer, Cleared):
            refuse(answer)
        return show(ClearedShown, answer)

    return await on_account(act, account_id, operation)


@routes.post("/queue/clears/{clear_id}/undo", needs=Role.EDITOR, scope="queue:write")
async def undo_clear(act: Act, workspace_id: Id, clear_id: Id) -> UndoneShown:
    """Bring back what was cleared, where its instants are still free."""
    accounts = await act.read(
        lambda tx, now: undo_accounts(tx, now, workspace_id=workspace_id, clear_id=clear_id)
    )
    for account_id in accounts:
        act.check_account(account_id)

    def operation(tx: Tx, now: datetime) -> UndoneShown:
        answer = undo(tx, now, workspace_id=workspace_id, clear_id=clear_id, by=act.by)
        if not isinstance(answer, Undone):
            refuse(answer)
        return show(UndoneShown, answer)

    return await act.write(operation, locks=locks(workspace_id, *accounts))


@routes.get(QUEUE + "/runway", needs=Role.VIEWER, scope="queue:read")
async def show_runway(ask: Ask, workspace_id: Id, account_id: Id) -> RunwayShown:
    """Say when the queue runs dry."""
    ask.check_account(account_id)
    found = await ask.read(
        lambda tx, now: runway.runway(tx, now, workspace_id=workspace_id, account_id=account_id)
    )
    if isinstance(found, NoQueue):
        refuse(found)
    return show(RunwayShown, found)


@routes.post(QUEUE + "/missed", needs=Role.EDITOR, scope="queue:write")
async def rescue_missed(
    act: Act, workspace_id: Id, account_id: Id, body: RescueAsked
) -> RescuedShown:
    """Give missed posts the next slots, send them now, or take them back as drafts."""

    def operation(tx: Tx, now: datetime) -> RescuedShown:
        answer = late.rescue_missed(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            wish=body.wish,
            by=act.by,
            ids=body.ids,
        )
        if not isinstance(answer, late.Rescued):
            refuse(answer)
        return show(RescuedShown, answer)

    return await on_account(act, account_id, operation)


def give_slots(
    act: Acting, tx: Tx, now: datetime, post_id: str, targets: Targets, *, to: To | Named | datetime
) -> AddedShown:
    """Queue a post, or refuse; locks: `model.locks` of the accounts."""
    act.spend(tx, now, len({each if isinstance(each, str) else each[0] for each in targets}))
    answer = add(
        tx,
        now,
        workspace_id=act.workspace_id,
        post_id=post_id,
        by=act.by,
        targets=targets,
        to=to,
    )
    if not isinstance(answer, Added):
        refuse(answer)
    shown = [_added(each) for each in answer.answers]
    return AddedShown(answers=shown, scheduled_at=answer.scheduled_at)


async def on_account(
    act: Acting, account_id: str, operation: Callable[[Tx, datetime], Result]
) -> Result:
    """Run an operation under the lock of the account that it is about."""
    act.check_account(account_id)
    return await act.write(operation, locks=locks(act.workspace_id, account_id))


def _schedule(tx: Tx, workspace_id: str, account_id: str) -> ScheduleShown:
    queue = keep.read(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        refuse(queue)
    return ScheduleShown.of(queue)


def _target(place: Place) -> Any:
    return (
        place.account_id if place.channel is None else (place.account_id, normalise(place.channel))
    )


def _added(answer: object) -> QueuedShown | AlreadyShown | NotQueuedShown:
    match answer:
        case Queued():
            return show(QueuedShown, answer)
        case AlreadyQueued():
            return show(AlreadyShown, answer)
        case _:
            return show(NotQueuedShown, answer)
