"""What a composer's one button does: save the words and send them on their way, in one transaction.

All of it is done, or nothing. With `dry_run` it is all done and taken back, so the button can say the result
before it is pressed: times, places and refusals are those of exactly this act. What single accounts refuse
(no queue, no free slot) is an answer beside the account and stops no other.
"""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from cadenza.api.lock_posts import post_locks
from cadenza.api.post_action_schemas import (
    PublishTargetView,
    RefusedTargetView,
    TimedView,
    plausible_year,
)
from cadenza.api.post_actions import approve_and_send, give_time, send_now
from cadenza.api.post_schemas import (
    PostChange,
    PostFields,
    PostInput,
    PostSaved,
    TargetInput,
    post_fields,
    refuse,
    targets_of,
)
from cadenza.api.posts import (
    APPROVE,
    check_approval,
    find_trouble,
    one,
    overwrite_post,
    tag,
    unchanged,
    write_new,
)
from cadenza.api.problems import Problem, conflict, invalid
from cadenza.api.queue_schemas import AlreadyView, AnswerView, ValueView
from cadenza.api.queues import assign_next_slots
from cadenza.api.request_context import WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id, IdField, InputModel, ZoneName
from cadenza.people.model import Role
from cadenza.posts import retry
from cadenza.posts.publish_now import Click
from cadenza.posts.schedule_at import When
from cadenza.posts.send_warnings import what_holds
from cadenza.posts.targets import Targets
from cadenza.queues.add import To
from cadenza.queues.check_slot import Named
from cadenza.sql.tx import Tx

routes = Resource("posts", "/workspaces/{workspace_id}/posts")


class ComposeAction(StrEnum):
    """What becomes of the saved words."""

    NOWHERE = "nowhere"  # they are saved, and that is all
    QUEUE = "queue"
    TIME = "time"
    NOW = "now"
    AGAIN = "again"  # what failed or was missed is tried once more, and nothing else


# What a key must hold beside the route's own scope.
NEEDS = {
    ComposeAction.QUEUE: "queue:write",
    ComposeAction.NOW: "posts:publish",
    ComposeAction.AGAIN: "posts:publish",
}


class ComposeInput(InputModel):
    """The words (left out: as they are saved), where they go, and how."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"content": {"text": "We open at nine."}},
                {
                    "content": {"text": "We open at nine."},
                    "goes": "queue",
                    "accounts": [{"account_id": "0193a7"}],
                },
            ]
        }
    )
    content: PostFields | None = None
    post_id: IdField | None = Field(
        default=None, description="Of a saved post; left out: a new one"
    )
    revision: int | None = Field(default=None, strict=True, ge=1, description="What you saw of it")
    approve: bool | None = Field(
        default=None, description="As when a post is saved; with `now`: approve it"
    )
    goes: ComposeAction = ComposeAction.NOWHERE
    accounts: list[TargetInput] = Field(default=[], max_length=100)
    to: To = Field(default=To.FIRST_FREE, description="Of `queue`, without `at`")
    at: Annotated[datetime, AfterValidator(plausible_year)] | None = Field(
        default=None, description="Of `queue`: a slot, with an offset; of `time`: as in `schedule`"
    )
    zone: ZoneName | None = None


class ComposeOutcome(ValueView):
    """What it came to at one place; `refused` says why, and nothing was changed there."""

    account_id: str
    channel: str | None
    outcome: Literal["queued", "timed", "now", "already", "refused"]
    at: datetime | None = None
    zone: str | None = None
    by_hand: bool = Field(default=False, description="In no slot: the queue does not move it")
    message: str | None = None
    warnings: list[str] = Field(default=[])


class Composed(AnswerView):
    """The post as it is saved, and what it came to place by place."""

    post: PostSaved
    places: list[ComposeOutcome]


@routes.post("/compose", needs=Role.EDITOR, scope="posts:write")
async def compose(act: Writer, workspace_id: Id, body: ComposeInput) -> Composed:
    """Save words and queue, time or publish them at once; with `dry_run`, see what it would come to."""
    _check(act, body)
    targets = targets_of(act, body.accounts) or []

    def operation(tx: Tx, now: datetime) -> Composed:
        saved = _save(act, tx, now, body)
        places = WAYS[body.goes](act, tx, now, saved, targets, body)
        notes = {
            name: getattr(saved, name)
            for name in ("why_not_approved", "voided", "too_late", "message")
        }
        fresh = PostSaved(
            **post_fields(one(act, tx, now, saved.id)),
            **notes,
            findings=find_trouble(act, tx, now, saved.id),
        )
        return Composed(post=tag(act, fresh), places=places)

    return await act.write(operation, locks=await post_locks(act, body.post_id, targets))


def _check(act: WriteContext, body: ComposeInput) -> None:
    check_approval(act, approve=body.approve)
    scopes = act.caller.scopes
    wanted = APPROVE if body.goes is ComposeAction.NOW and body.approve else NEEDS.get(body.goes)
    if scopes is not None and wanted is not None and wanted not in scopes:
        raise Problem(403, "scope_needed", f"This key may not do this: it needs {wanted}.")
    if body.content is None and body.post_id is None:
        raise invalid("body.content", "there are no words, and no post that has some", "missing")
    if body.goes is ComposeAction.TIME and body.at is None:
        raise invalid("body.at", "say when", "missing")
    if body.goes is ComposeAction.AGAIN and body.post_id is None:
        raise invalid("body.post_id", "a new post has not failed anywhere", "missing")
    if body.goes not in (ComposeAction.NOWHERE, ComposeAction.AGAIN) and not body.accounts:
        raise invalid("body.accounts", "say where it goes", "missing")
    if body.goes is ComposeAction.QUEUE and body.at is not None and body.at.tzinfo is None:
        raise invalid("body.at", "a slot is an instant with an offset", "no_offset")


def _save(act: WriteContext, tx: Tx, now: datetime, body: ComposeInput) -> PostSaved:
    if body.content is None:
        seen = unchanged(act, tx, now, body.post_id or "", revision=body.revision)
        return PostSaved(**post_fields(seen))
    said = body.content.model_dump() | {"approve": body.approve}
    if body.post_id is None:
        return write_new(act, tx, now, PostInput.model_validate(said))
    change = PostChange.model_validate(said | {"revision": body.revision})
    return overwrite_post(act, tx, now, body.post_id, change)


def _nowhere(*_: Any) -> list[ComposeOutcome]:
    return []


def _queue(
    act: WriteContext, tx: Tx, now: datetime, post: PostSaved, targets: Targets, body: ComposeInput
) -> list[ComposeOutcome]:
    added = assign_next_slots(
        act, tx, now, post.id, targets, to=body.to if body.at is None else Named(body.at)
    )
    return [_queued(each) for each in added.answers]


def _queued(answer: Any) -> ComposeOutcome:
    if answer.outcome == "queued":
        return ComposeOutcome(
            account_id=answer.account_id,
            channel=None,
            outcome="queued",
            at=answer.at,
            zone=answer.zone,
            warnings=answer.warnings,
        )
    if isinstance(answer, AlreadyView):
        return ComposeOutcome(
            account_id=answer.account_id, channel=None, outcome="already", at=answer.at
        )
    return ComposeOutcome(
        account_id=answer.account_id, channel=None, outcome="refused", message=answer.message
    )


def _time(
    act: WriteContext, tx: Tx, now: datetime, post: PostSaved, targets: Targets, body: ComposeInput
) -> list[ComposeOutcome]:
    assert body.at is not None
    timed = give_time(act, tx, now, post.id, When(body.at, body.zone), targets)
    return [*map(_timed, timed.places), *map(_refused, timed.refused)]


def _timed(place: Any) -> ComposeOutcome:
    about: dict[str, Any] = {"account_id": place.account_id, "channel": place.channel}
    if isinstance(place, TimedView):
        warnings = [*([place.note] if place.note else []), *place.warnings]
        return ComposeOutcome(
            **about,
            outcome="timed",
            at=place.due_at,
            zone=place.zone,
            by_hand=True,
            warnings=warnings,
        )
    return ComposeOutcome(**about, outcome="refused", message=f"it is {place.state} there already")


def _now(
    act: WriteContext, tx: Tx, now: datetime, post: PostSaved, targets: Targets, body: ComposeInput
) -> list[ComposeOutcome]:
    if body.approve and not post.approved:
        sent = approve_and_send(act, tx, now, post.id, targets, revision=post.revision)
    else:
        sent = send_now(act, tx, now, post.id, targets)
    return [*(_sent(each, now) for each in sent.places), *map(_refused, sent.refused)]


def _refused(target: RefusedTargetView) -> ComposeOutcome:
    return ComposeOutcome(
        account_id=target.account_id, channel=None, outcome="refused", message=target.message
    )


def _sent(place: PublishTargetView, now: datetime) -> ComposeOutcome:
    about: dict[str, Any] = {"account_id": place.account_id, "channel": place.channel}
    match place.click:
        case Click.STARTED:
            return ComposeOutcome(
                **about, outcome="now", at=now, by_hand=True, warnings=place.warnings
            )
        case Click.UNCONFIRMED:
            return ComposeOutcome(
                **about, outcome="refused", message="nobody knows whether it is out there already"
            )
        case Click.RUNNING | Click.SENT:
            return ComposeOutcome(**about, outcome="already")


def _again(
    act: WriteContext, tx: Tx, now: datetime, post: PostSaved, targets: Targets, body: ComposeInput
) -> list[ComposeOutcome]:
    answer = retry.retry(
        tx,
        now,
        workspace_id=act.workspace_id,
        post_id=post.id,
        by=act.by,
        files=act.runtime.files,
    )
    if not isinstance(answer, retry.Retrying):
        refuse(answer)
    if not answer.deliveries:
        raise conflict("nothing_failed", "Nothing of this post has failed or was missed.")
    act.spend(tx, now, len(answer.deliveries))
    pills = one(act, tx, now, post.id).pills
    return [
        ComposeOutcome(
            account_id=pill.account_id,
            channel=pill.channel,
            outcome="now",
            at=now,
            by_hand=True,
            warnings=list(
                what_holds(tx, now, workspace_id=act.workspace_id, delivery_id=pill.delivery_id)
            ),
        )
        for pill in pills
        if pill.delivery_id in answer.deliveries
    ]


Way = Callable[[WriteContext, Tx, datetime, PostSaved, Targets, ComposeInput], list[ComposeOutcome]]
WAYS: dict[ComposeAction, Way] = {
    ComposeAction.NOWHERE: _nowhere,
    ComposeAction.QUEUE: _queue,
    ComposeAction.TIME: _time,
    ComposeAction.NOW: _now,
    ComposeAction.AGAIN: _again,
}
