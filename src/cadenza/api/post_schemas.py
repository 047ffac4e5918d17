"""What posts look like over HTTP: as they are asked for, as they are shown, and what is refused about them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, NoReturn

from msgspec import UNSET
from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView, does_not_fit, show
from cadenza.api.request_context import ReadContext
from cadenza.api.schemas import IdField, InputModel, Line
from cadenza.core.channels import Channel, normalise
from cadenza.core.rollup import DeliveryState, PostState
from cadenza.media.model import NoSuchMedia
from cadenza.posts.approve import Refusal as NotApprovable
from cadenza.posts.delete import Sending
from cadenza.posts.edit import Change, Conflict
from cadenza.posts.holds import Hold
from cadenza.posts.model import (
    Blocked,
    MovedMeanwhile,
    NewPost,
    NoSuchPost,
    NotAllowed,
    Post,
    PostMedia,
    Source,
    Variant,
)
from cadenza.posts.preflight import DoesNotFit
from cadenza.posts.publish_now import NotApproved, NoTarget
from cadenza.posts.read import ShownPost as Read
from cadenza.posts.schedule_at import NoInstant
from cadenza.posts.targets import BadTarget, Targets

Refused = (
    NotApprovable
    | Sending
    | NoTarget
    | NotApproved
    | NoInstant
    | BadTarget
    | NoSuchMedia
    | MovedMeanwhile
    | DoesNotFit
)
LONGEST = 100_000


def _channel(name: Any) -> Any:
    return normalise(name) if isinstance(name, str) else name


ChannelName = Annotated[Channel, BeforeValidator(_channel)]
Text = Annotated[str, StringConstraints(max_length=LONGEST)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Link = Annotated[
    str,
    StringConstraints(max_length=2_000, pattern=r"^(https?://[^\s<>\"]+)?$"),
]


class MediaInput(InputModel):
    """A file of the library; without `alt`, its own description counts."""

    media_id: IdField
    alt: str | None = Field(default=None, max_length=10_000)


class VariantInput(InputModel):
    """What is different on one channel; what is left out is as in the post."""

    text: Text | None = None
    media: list[MediaInput] | None = Field(default=None, max_length=50)
    hashtags: list[Tag] | None = Field(default=None, max_length=100)
    parts: list[Text] | None = Field(default=None, max_length=100)
    first_comment: Text | None = None
    link: Link | None = None
    options: dict[str, Any] = Field(default={}, max_length=50)


class PostFields(InputModel):
    """What a post says, and how it is filed."""

    text: Text = ""
    variants: dict[ChannelName, VariantInput] = Field(default={}, max_length=20)
    media: list[MediaInput] = Field(default=[], max_length=50)
    hashtags: list[Tag] = Field(default=[], max_length=100)
    parts: list[Text] = Field(
        default=[], max_length=100, description="Of a thread, after the first"
    )
    first_comment: Text | None = None
    link: Link | None = None
    title: str = Field(default="", max_length=500)
    category_id: IdField | None = None
    labels: list[Line] = Field(default=[], max_length=50)

    def new_post(self, workspace_id: str, author_id: str | None) -> NewPost:
        """Return it as the operation takes it."""
        return NewPost(
            workspace_id=workspace_id,
            text=self.text,
            variants=variants_of(self.variants),
            media=media_of(self.media),
            hashtags=tuple(self.hashtags),
            parts=tuple(self.parts),
            first_comment=self.first_comment,
            link=self.link,
            title=self.title,
            category_id=self.category_id,
            labels=tuple(self.labels),
            author_id=author_id,
        )


class PostInput(PostFields):
    """A new post."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "We open at nine.",
                    "hashtags": ["morning"],
                    "variants": {"x": {"text": "Open at nine."}},
                    "labels": ["shop"],
                }
            ]
        }
    )
    approve: bool | None = Field(
        default=None, description="Left out: as the workspace says; true: if you may; false: never"
    )


class PostChange(InputModel):
    """What is to be different; what is left out stays. An optional field is emptied by null."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "We open at ten.", "revision": 1}]}
    )
    text: Text | None = None
    variants: dict[ChannelName, VariantInput] | None = Field(default=None, max_length=20)
    media: list[MediaInput] | None = Field(default=None, max_length=50)
    hashtags: list[Tag] | None = Field(default=None, max_length=100)
    parts: list[Text] | None = Field(default=None, max_length=100)
    first_comment: Text | None = None
    link: Link | None = None
    title: str | None = Field(default=None, max_length=500)
    category_id: IdField | None = None
    labels: list[Line] | None = Field(default=None, max_length=50)
    approve: bool | None = None
    revision: int | None = Field(
        default=None, strict=True, ge=1, description="What you saw; or send If-Match"
    )

    def change(self) -> Change:
        """Return what was named; null empties what may be empty and is nothing elsewhere."""
        said = self.model_fields_set
        return Change(
            text=UNSET if self.text is None else self.text,
            variants=UNSET if self.variants is None else variants_of(self.variants),
            media=UNSET if self.media is None else media_of(self.media),
            hashtags=UNSET if self.hashtags is None else tuple(self.hashtags),
            parts=UNSET if self.parts is None else tuple(self.parts),
            first_comment=self.first_comment if "first_comment" in said else UNSET,
            link=self.link if "link" in said else UNSET,
            title=UNSET if self.title is None else self.title,
            category_id=self.category_id if "category_id" in said else UNSET,
            labels=UNSET if self.labels is None else tuple(self.labels),
        )


class TargetInput(InputModel):
    """An account, and a channel of it where not all usual ones are meant."""

    account_id: IdField
    channel: ChannelName | None = None


class MediaUsed(ValueView):
    """A file that it shows, with the post's own description."""

    media_id: str
    alt: str | None


class VariantView(ValueView):
    """What is different on one channel; null: as in the post."""

    text: str | None
    media: list[MediaUsed] | None
    hashtags: list[str] | None
    parts: list[str] | None
    first_comment: str | None
    link: str | None
    options: dict[str, Any]


class HeldView(ValueView):
    """Why something does not go at its time."""

    code: Hold
    message: str
    until: datetime | None


class PillView(ValueView):
    """How it stands on one account and channel."""

    delivery_id: str
    post_id: str
    account_id: str
    handle: str
    provider: str
    channel: str
    state: DeliveryState
    label: str
    at: datetime
    zone: str
    wall_time: str | None
    url: str | None
    reason: str | None
    held: HeldView | None
    unfit: str | None = Field(description="Why its channel would refuse it: change the post")
    attempts: int
    last_attempt_at: datetime | None = None


class ApprovalView(ValueView):
    """Who approved it, and when."""

    by: str
    at: datetime


class PostView(AnswerView):
    """A post as it stands, with what becomes of it on each account and channel."""

    id: str
    title: str
    text: str
    variants: dict[str, VariantView]
    media: list[MediaUsed]
    hashtags: list[str]
    parts: list[str]
    first_comment: str | None
    link: str | None
    category_id: str | None
    labels: list[str]
    source: Source
    author_id: str | None
    blockers: list[str]
    revision: int
    approved: bool
    approval: ApprovalView | None
    created_at: datetime
    updated_at: datetime
    state: PostState
    published_at: datetime | None
    scheduled_at: datetime | None
    pills: list[PillView]
    rule_id: str | None = Field(default=None, description="The rule that made it")
    target_month: str | None = Field(
        default=None, description="The month that the rule made it for, as YYYY-MM"
    )
    last_attempt_at: datetime | None = Field(
        default=None, description="When a network was last called for it"
    )


class FindingView(ValueView):
    """One thing about one place; blocking: it will not go out like this."""

    account_id: str
    channel: str
    code: str
    message: str
    field: str
    blocking: bool


class PostSaved(PostView):
    """A post after a save, with what a person should know about it."""

    why_not_approved: str | None = None
    voided: bool = Field(default=False, description="An approval that it had is gone")
    too_late: list["TooLateView"] = Field(default=[])
    message: str | None = None
    findings: list[FindingView] = Field(
        default=[], description="What would go wrong where it is planned"
    )


class TooLateView(ValueView):
    """Where the words of before are out or on their way."""

    id: str
    account_id: str
    channel: str
    state: DeliveryState


def show_post(read: Read) -> PostView:
    """Show a post."""
    return PostView.model_validate(post_fields(read))


def post_fields(read: Read) -> dict[str, Any]:
    """Return the fields of a shown post."""
    post = read.post
    return shown_content(post) | {
        "state": read.state,
        "published_at": read.published_at,
        "scheduled_at": read.scheduled_at,
        "pills": [show(PillView, pill) for pill in read.pills],
        "rule_id": read.rule_id,
        "target_month": read.target_month,
        "last_attempt_at": read.last_attempt_at,
    }


def shown_content(post: Post) -> dict[str, Any]:
    """Return what a post says, without what became of it."""
    content = post.content
    return {
        "id": post.id,
        "title": post.title,
        "text": content.text,
        "variants": {
            channel.value: show(VariantView, variant)
            for channel, variant in content.variants.items()
        },
        "media": [show(MediaUsed, item) for item in content.media],
        "hashtags": list(content.hashtags),
        "parts": list(content.parts),
        "first_comment": content.first_comment,
        "link": content.link,
        "category_id": post.category_id,
        "labels": list(post.labels),
        "source": post.source,
        "author_id": post.author_id,
        "blockers": list(post.blockers),
        "revision": post.revision,
        "approved": post.approved,
        "approval": post.approval,
        "created_at": post.created_at,
        "updated_at": post.updated_at,
    }


def media_of(requested: Sequence[MediaInput]) -> tuple[PostMedia, ...]:
    """Return files as the operation takes them."""
    return tuple(PostMedia(each.media_id, each.alt) for each in requested)


def variants_of(requested: dict[Channel, VariantInput]) -> dict[Channel, Variant]:
    """Return variants as the operation takes them."""
    return {
        channel: Variant(
            text=each.text,
            media=None if each.media is None else media_of(each.media),
            hashtags=None if each.hashtags is None else tuple(each.hashtags),
            parts=None if each.parts is None else tuple(each.parts),
            first_comment=each.first_comment,
            link=each.link,
            options=each.options,
        )
        for channel, each in requested.items()
    }


def targets_of(ask: ReadContext, places: Sequence[TargetInput] | None) -> Targets | None:
    """Return targets, after a look at what the caller's key may use."""
    if places is None:
        return None
    for place in places:
        ask.check_account(place.account_id)
    found: Any = [
        each.account_id if each.channel is None else (each.account_id, each.channel)
        for each in places
    ]
    return found


def refuse(answer: Refused, *, if_match: bool = False, current: Any = None) -> NoReturn:
    """Raise what an operation of posts refused; a conflict brings the post as it stands."""
    match answer:
        case NoSuchPost():
            raise not_found("post")
        case Conflict(current=post, message=message):
            now = current or show(_Content, shown_content(post))
            raise Problem(
                412 if if_match else 409,
                "changed_meanwhile",
                _sentence(message),
                current=now.model_dump(mode="json"),
                revision=post.revision,
            )
        case NotAllowed(message=message):
            raise Problem(403, "may_not_approve", _sentence(message))
        case Blocked(blockers=blockers):
            raise conflict("blocked", _sentence(answer.message), blockers=list(blockers))
        case Sending(sending=sending, message=message):
            shown = [show(TooLateView, each).model_dump(mode="json") for each in sending]
            raise conflict("sending", _sentence(message), sending=shown)
        case NotApproved(message=message):
            raise conflict("not_approved", _sentence(message))
        case DoesNotFit():
            raise does_not_fit(answer)
        case MovedMeanwhile(message=message):
            raise conflict("moved_meanwhile", _sentence(message))
        case NoTarget(message=message):
            raise conflict("no_place", _sentence(message))
        case NoInstant(message=message):
            raise invalid("body.at", message, "no_instant")
        case BadTarget(message=message):
            raise invalid("body.accounts", message, "bad_target")
        case NoSuchMedia(message=message, ids=ids):
            problem = invalid("body.media", message, "no_such_media")
            problem.extra = {"ids": list(ids)}
            raise problem


class _Content(ValueView):
    """A post without its pills."""

    model_config = ConfigDict(extra="allow")


def _sentence(message: str) -> str:
    return f"{message[:1].upper()}{message[1:]}."
