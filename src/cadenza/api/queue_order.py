"""The order of a queue: who holds which instant, and which instants are left out."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, RootModel

from cadenza.api.action_routes import ActionContext
from cadenza.api.posts import one as one_post
from cadenza.api.queue_schemas import AnswerView, MovedView, Refused, ValueView, show
from cadenza.api.queues import QUEUE, acts_on_queues
from cadenza.api.request_context import Reader
from cadenza.api.schemas import Id, IdField, InputModel, Instant
from cadenza.people.model import Role
from cadenza.queues import move_to_slot, reorder, skip

on_queue = acts_on_queues("queue_order")
routes = on_queue.routes
Revision = Annotated[int, Field(ge=0, strict=True, description="Of the queue, as it was seen")]


class SetOrder(InputModel):
    """The whole order: posts or deliveries, first to last."""

    verb: Literal["order"]
    ids: list[IdField] = Field(min_length=1, max_length=20_000)
    revision: Revision


class Move(InputModel):
    """One goes before or after another."""

    verb: Literal["move"]
    id: IdField
    before: IdField | None = None
    after: IdField | None = None
    revision: Revision | None = None


class MoveToTop(InputModel):
    """One goes first."""

    verb: Literal["to_top"]
    id: IdField
    revision: Revision | None = None


class Swap(InputModel):
    """Two change places."""

    verb: Literal["swap"]
    ids: tuple[IdField, IdField]
    revision: Revision | None = None


class Shuffle(InputModel):
    """All in an order that the seed decides: the same seed, the same order."""

    verb: Literal["shuffle"]
    seed: int | Annotated[str, Field(max_length=64)]
    revision: Revision | None = None


class Reverse(InputModel):
    """Last to first."""

    verb: Literal["reverse"]
    revision: Revision | None = None


class OrderInput(
    RootModel[
        Annotated[SetOrder | Move | MoveToTop | Swap | Shuffle | Reverse, Discriminator("verb")]
    ]
):
    """How the order is to change."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"verb": "to_top", "id": "0193e0f2-6a7b-7c3d-8e4f-5a6b7c8d9e0f", "revision": 7}
            ]
        }
    )


class NotMovedView(ValueView):
    """One that could not move, and why."""

    id: str
    why: str


class Reordered(AnswerView):
    """Who holds which instant now; the instants themselves stay."""

    moved: list[MovedView]
    stays: list[NotMovedView]
    revision: int


class SlotInput(InputModel):
    """Which post, and the slot that it shall have."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"post_id": "0193a7", "at": "2031-03-30T09:00:00Z"}]}
    )
    post_id: IdField
    at: Instant
    seen_at: Annotated[
        Instant | None,
        Field(description="Where it stood when you looked: it is not moved from anywhere else."),
    ] = None


class SlotTaken(AnswerView):
    """It stands there now; `was_at` is null where it is new on this account."""

    account_id: str
    ids: list[str]
    at: datetime
    zone: str
    wall_time: str
    was_at: datetime | None
    was_slot: bool = Field(description="False: it was timed by hand")
    revision: int
    warnings: list[str]


class SkipInput(InputModel):
    """Which slots to leave out: named ones, or the next free ones."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "a day off"}]})
    instants: list[Instant] | None = Field(default=None, min_length=1, max_length=200)
    count: int | None = Field(default=None, ge=1, le=50, strict=True)
    reason: str | None = Field(default=None, max_length=200)


class UnskipInput(InputModel):
    """Which slots to offer again; left out: all."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})
    instants: list[Instant] | None = Field(default=None, max_length=200)


class SkipView(ValueView):
    """A slot that is left out."""

    at: datetime
    wall_time: str
    by: str
    reason: str | None


class SkippedView(AnswerView):
    """What is left out, and what made room."""

    skips: list[SkipView]
    moved: list[MovedView]
    revision: int
    fresh: bool = Field(description="False: one was pending already, and nothing was changed")


@routes.get(QUEUE + "/skips", needs=Role.VIEWER, scope="queue:read")
async def list_skips(ask: Reader, workspace_id: Id, account_id: Id) -> list[SkipView]:
    """List the slots that are left out from now on."""
    ask.check_account(account_id)
    found = await ask.read(
        lambda tx, now: skip.list_skips(tx, now, workspace_id=workspace_id, account_id=account_id)
    )
    return [show(SkipView, each) for each in found]


@on_queue.act("/order", done=reorder.Reordered, shows=Reordered)
def change_order(context: ActionContext, body: OrderInput) -> reorder.Answer:
    """Change who holds which instant: the whole order, a move, to the top, a swap, a shuffle, reversed."""
    requested, at, about = body.root, (context.tx, context.now), context.about
    match requested:
        case SetOrder():
            return reorder.reorder(*at, **about, ids=requested.ids, revision=requested.revision)
        case Move(id=id_, before=before, after=after):
            return reorder.move(
                *at, **about, id=id_, before=before, after=after, revision=requested.revision
            )
        case MoveToTop():
            return reorder.to_top(*at, **about, id=requested.id, revision=requested.revision)
        case Swap():
            return reorder.swap(*at, **about, ids=requested.ids, revision=requested.revision)
        case Shuffle():
            return reorder.shuffle(*at, **about, seed=requested.seed, revision=requested.revision)
        case Reverse():
            return reorder.reverse(*at, **about, revision=requested.revision)


@on_queue.act("/slots", done=move_to_slot.MovedToSlot, shows=SlotTaken)
def take_one(context: ActionContext, body: SlotInput) -> move_to_slot.MovedToSlot | Refused:
    """Put a post on one free slot: moved there from wherever it waits on this account, else added."""
    read = one_post(context.act, context.tx, context.now, body.post_id)
    answer = move_to_slot.move_to_slot(
        context.tx,
        context.now,
        **context.about,
        **body.model_dump(),
        files=context.act.runtime.files,
    )
    newly = isinstance(answer, move_to_slot.MovedToSlot) and answer.was_at is None
    if newly and read.post.approved:  # else the approval spends
        context.act.spend(context.tx, context.now)
    return answer


@on_queue.act("/skips", done=skip.Skipped, shows=SkippedView)
def skip_slots(context: ActionContext, body: SkipInput) -> skip.Skipped | Refused:
    """Leave out named slots, whose posts move on, or the next free ones."""
    at, about = (context.tx, context.now), context.about
    if body.instants is None:
        return skip.skip_next(*at, **about, reason=body.reason, count=body.count)
    return skip.skip(*at, **about, reason=body.reason, instants=body.instants)


@on_queue.act("/skips/lift", done=skip.Skipped, shows=SkippedView)
def lift_skips(context: ActionContext, body: UnskipInput) -> skip.Skipped | Refused:
    """Offer slots again that were left out."""
    return skip.unskip(context.tx, context.now, **context.about, instants=body.instants)
