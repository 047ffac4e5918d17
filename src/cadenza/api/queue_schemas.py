"""What queues show over HTTP, read off the values that their operations answer with."""

from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.schemas import Answer
from cadenza.core.slots import Passed
from cadenza.core.zones import Mark
from cadenza.deliveries.resume_plan import NotConnected
from cadenza.posts.model import MovedMeanwhile, NoSuchPost
from cadenza.posts.preflight import DoesNotFit
from cadenza.posts.targets import BadTarget
from cadenza.queues.model import NoQueue, NoRoom, Queue
from cadenza.queues.pause import PauseOver
from cadenza.queues.reorder import Stale, Unknown
from cadenza.queues.schedule import BadSchedule, HasSchedule, as_data
from cadenza.queues.show import Kind
from cadenza.queues.skip import NotASlot
from cadenza.queues.undo import TooLate

Model = TypeVar("Model", bound=BaseModel)
Refused = (
    NoQueue
    | NoRoom
    | BadTarget
    | NoSuchPost
    | Stale
    | Unknown
    | NotASlot
    | BadSchedule
    | HasSchedule
    | TooLate
    | NotConnected
    | MovedMeanwhile
    | DoesNotFit
    | PauseOver
)


class ValueView(BaseModel):
    """A part of an answer, read off a value."""

    model_config = ConfigDict(from_attributes=True)


class AnswerView(Answer):
    """An answer, read off a value."""

    model_config = ConfigDict(from_attributes=True)


class MovedView(ValueView):
    """A delivery that got another instant."""

    id: str
    post_id: str | None
    was_at: datetime
    now_at: datetime


class EntryView(ValueView):
    """A post's place in the queue."""

    id: str
    post_id: str | None
    at: datetime
    wall_time: str | None


class RefusalView(ValueView):
    """A slot that was passed over, or all slots of some days."""

    reason: str
    day: date
    instant: datetime | None
    last_day: date | None


class PassedView(ValueView):
    """Why not earlier: how many slots were passed over and why, the first few by name."""

    past: int
    taken: int
    skipped: int
    full_days: int
    blackout_days: int
    first: list[RefusalView]


class QueuedView(ValueView):
    """The post has an instant on this account."""

    outcome: Literal["queued"] = "queued"
    account_id: str
    ids: list[str]
    at: datetime
    zone: str
    wall_time: str
    mark: Mark
    passed: PassedView | None
    moved: list[MovedView]
    revision: int
    warnings: list[str]


class AlreadyView(ValueView):
    """It is on its way by that account already."""

    outcome: Literal["already_queued"] = "already_queued"
    account_id: str
    id: str
    state: str
    at: datetime


class NotQueuedView(ValueView):
    """Nothing was changed on this account, and why."""

    outcome: Literal["not_queued"] = "not_queued"
    account_id: str
    message: str
    passed: PassedView | None = None


AddedTo = Annotated[QueuedView | AlreadyView | NotQueuedView, Field(discriminator="outcome")]


class LineView(ValueView):
    """One instant of a day."""

    at: datetime
    wall_time: str
    kind: Kind
    mark: Mark
    post_id: str | None
    text: str | None = Field(default=None, description="How the post begins")
    ids: list[str]
    channels: tuple[str, ...] = ()
    state: str | None
    note: str | None
    unfit: str | None = Field(description="Why its channel would refuse it: change the post")


class DayView(ValueView):
    """One local date."""

    day: date
    posts: int
    max_per_day: int | None
    blackout: bool
    lines: list[LineView]


class ScheduleView(AnswerView):
    """An account's weekly slots."""

    account_id: str
    name: str
    zone: str
    slots_by_day: dict[str, Any]
    max_per_day: int | None
    enabled: bool
    blackouts: list[date]
    revision: int

    @classmethod
    def of(cls, queue: Queue) -> "ScheduleView":
        """Show a queue's schedule."""
        data = as_data(queue.schedule)
        return cls(
            account_id=queue.account_id,
            name=queue.name,
            zone=queue.schedule.zone.name,
            slots_by_day=data["slots_by_day"],
            max_per_day=queue.own_max_per_day,
            enabled=queue.enabled,
            blackouts=sorted(queue.schedule.blackouts),
            revision=queue.revision,
        )


def show(model: type[Model], value: object) -> Model:
    """Read an answer off a value."""
    return model.model_validate(value, from_attributes=True)


def show_passed(passed: Passed | None) -> PassedView | None:
    """Show what was passed over."""
    return None if passed is None else show(PassedView, passed)


def does_not_fit(answer: DoesNotFit) -> Problem:
    """Say account by account what its channel would not take."""
    return Problem(
        422,
        "does_not_fit",
        f"{answer.message}.",
        findings=[asdict(each) for each in answer.findings],
    )


def refuse(answer: Refused) -> NoReturn:
    """Raise what an operation of queues refused."""
    match answer:
        case NoQueue(message=message):
            raise Problem(404, "no_queue", f"There is no queue: {message}.")
        case NoSuchPost():
            raise not_found("post")
        case BadTarget(message=message):
            raise invalid("body.accounts", message, "bad_target")
        case NoRoom(message=message, passed=passed):
            shown = show_passed(passed)
            extra = {} if shown is None else {"passed": shown.model_dump(mode="json")}
            raise conflict("no_room", message[:1].upper() + message[1:] + ".", **extra)
        case Stale(revision=revision, order=order):
            current = [show(EntryView, entry).model_dump(mode="json") for entry in order]
            raise conflict(
                "queue_changed",
                "Somebody changed the queue meanwhile: this is its order now.",
                revision=revision,
                order=current,
            )
        case DoesNotFit():
            raise does_not_fit(answer)
        case MovedMeanwhile(message=message):
            raise conflict("moved_meanwhile", f"{message[:1].upper()}{message[1:]}.")
        case Unknown(ids=ids, message=message):
            raise Problem(422, "unknown_ids", message, ids=list(ids))
        case NotASlot(instants=instants, message=message):
            raise Problem(422, "not_a_slot", message, instants=[at.isoformat() for at in instants])
        case BadSchedule(message=message):
            raise invalid("body.slots", message, "bad_schedule")
        case HasSchedule():
            raise conflict("has_schedule", "The account has a schedule: change it with PATCH.")
        case PauseOver(message=message):
            raise invalid("body.until", message, "past")
        case TooLate(message=message):
            raise conflict("too_late", message)
        case NotConnected(state=state):
            raise conflict("not_connected", f"The account is {state}: connect it first.")
