"""What acts on posts ask for and show; the acts themselves stand in `post_acts.py`."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from cadenza.api.post_schemas import PostView, TargetInput, TooLateView
from cadenza.api.queue_schemas import AnswerView, ValueView
from cadenza.api.schemas import IdField, InputModel, Instant, Line, ZoneName
from cadenza.core.rollup import DeliveryState
from cadenza.posts import publish_now


def plausible_year(time: datetime) -> datetime:
    """Refuse years that no clock of ours can turn into an instant."""
    if not 1971 <= time.year <= 9000:
        raise ValueError("no post goes out in that year")
    return time


class ApproveInput(InputModel):
    """Which revision was looked at: another one is not approved by this."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revision": 1}, {}]})
    revision: int | None = Field(default=None, strict=True, ge=1)


class UnapproveInput(InputModel):
    """Why the approval goes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "the price is wrong"}]})
    reason: Line | None = None


class TargetsInput(InputModel):
    """Which places; left out: everywhere that it has a delivery for."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{}, {"accounts": [{"account_id": "0193a7"}]}]}
    )
    accounts: list[TargetInput] | None = Field(default=None, min_length=1, max_length=100)


class ApproveAndPublishInput(TargetsInput):
    """Which places, and which revision was looked at."""

    revision: int | None = Field(default=None, strict=True, ge=1)


class TimeInput(TargetsInput):
    """An instant with an offset, or a wall time with a zone; a wall time alone names nothing."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"at": "2031-03-30T09:00:00+02:00"},
                {"at": "2031-03-30T09:00", "zone": "Europe/Berlin"},
            ]
        }
    )
    at: Annotated[datetime, AfterValidator(plausible_year)]
    zone: ZoneName | None = None
    seen_at: Annotated[
        Instant | None,
        Field(
            description="TargetsInput it stood when you looked: it is not moved from anywhere else."
        ),
    ] = None


class DeliveriesInput(InputModel):
    """Which deliveries of the post; left out: all that it fits."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}, {"deliveries": ["0193a7"]}]})
    deliveries: list[IdField] | None = Field(default=None, min_length=1, max_length=200)


class CancelInput(DeliveriesInput):
    """Which deliveries are canceled, and why."""

    reason: Line = "canceled by hand"


class ApprovedView(AnswerView):
    """It is approved; `before` says that it was so already."""

    post: PostView
    before: bool
    scheduled: list[str]
    missed: list[str] = Field(description="Their time was past")


class UnapprovedView(AnswerView):
    """It waits for an approval again."""

    post: PostView
    drafts: list[str]
    too_late: list[TooLateView]


class PublishTargetView(ValueView):
    """What the click found or did at one place."""

    delivery_id: str
    account_id: str
    channel: str
    click: publish_now.Click
    attempt_id: str | None
    url: str | None
    warnings: list[str]


class RefusedTargetView(ValueView):
    """This account is disconnected: nothing was changed there."""

    account_id: str
    message: str


class PublishingView(AnswerView):
    """It goes out now, place by place."""

    post: PostView
    places: list[PublishTargetView]
    refused: list[RefusedTargetView] = Field(description="Accounts that cannot be asked, and why")


class TimedView(ValueView):
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


class UnchangedView(ValueView):
    """It was too late there: it was left alone."""

    outcome: Literal["too_late"] = "too_late"
    delivery_id: str
    account_id: str
    channel: str
    state: DeliveryState


class ScheduledView(AnswerView):
    """What became of each place."""

    post: PostView
    places: list[Annotated[TimedView | UnchangedView, Field(discriminator="outcome")]]
    refused: list[RefusedTargetView] = Field(description="Accounts that cannot be asked, and why")


class CanceledView(AnswerView):
    """What was canceled, and what was too far on its way."""

    post: PostView
    canceled: list[str]
    sending: list[TooLateView]


class NotFailedView(ValueView):
    """A delivery that was asked for and has not failed."""

    delivery_id: str
    state: DeliveryState


class RetryingView(AnswerView):
    """These go again."""

    post: PostView
    deliveries: list[str]
    left: list[NotFailedView]
