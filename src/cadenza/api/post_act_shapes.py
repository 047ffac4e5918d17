"""What acts on posts ask for and show; the acts themselves stand in `post_acts.py`."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from cadenza.api.post_shapes import Place, PostShown, TooLateShown
from cadenza.api.queue_shapes import Shown, ShownAnswer
from cadenza.api.shape import Asked, IdField, Instant, Line, ZoneName
from cadenza.core.rollup import DeliveryState
from cadenza.posts import publish_now


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
    seen_at: Annotated[
        Instant | None,
        Field(description="Where it stood when you looked: it is not moved from anywhere else."),
    ] = None


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
