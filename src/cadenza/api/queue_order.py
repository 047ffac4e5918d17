"""The order of a queue: who holds which instant, and which instants are left out."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel

from cadenza.api.ask import Act, Ask
from cadenza.api.declare import Resource
from cadenza.api.posts import one as one_post
from cadenza.api.queue_shapes import MovedShown, Shown, ShownAnswer, refuse, show
from cadenza.api.queues import QUEUE, on_account
from cadenza.api.shape import Asked, Id, IdField, Instant
from cadenza.people.model import Role
from cadenza.queues import reorder, skip, take_slot
from cadenza.sql.tx import Tx

routes = Resource("queue_order", "/workspaces/{workspace_id}")
Revision = Annotated[int, Field(ge=0, strict=True, description="Of the queue, as it was seen")]


class Whole(Asked):
    """The whole order: posts or deliveries, first to last."""

    verb: Literal["order"]
    ids: list[IdField] = Field(min_length=1, max_length=20_000)
    revision: Revision


class Move(Asked):
    """One goes before or after another."""

    verb: Literal["move"]
    id: IdField
    before: IdField | None = None
    after: IdField | None = None
    revision: Revision | None = None


class Top(Asked):
    """One goes first."""

    verb: Literal["to_top"]
    id: IdField
    revision: Revision | None = None


class Swap(Asked):
    """Two change places."""

    verb: Literal["swap"]
    ids: tuple[IdField, IdField]
    revision: Revision | None = None


class Shuffle(Asked):
    """All in an order that the seed decides: the same seed, the same order."""

    verb: Literal["shuffle"]
    seed: int | Annotated[str, Field(max_length=64)]
    revision: Revision | None = None


class Reverse(Asked):
    """Last to first."""

    verb: Literal["reverse"]
    revision: Revision | None = None


class OrderAsked(
    RootModel[Annotated[Whole | Move | Top | Swap | Shuffle | Reverse, Discriminator("verb")]]
):
    """How the order is to change."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"verb": "to_top", "id": "0193e0f2-6a7b-7c3d-8e4f-5a6b7c8d9e0f", "revision": 7}
            ]
        }
    )


class StaysShown(Shown):
    """One that could not move, and why."""

    id: str
    why: str


class Reordered(ShownAnswer):
    """Who holds which instant now; the instants themselves stay."""

    moved: list[MovedShown]
    stays: list[StaysShown]
    revision: int


class SlotAsked(Asked):
    """Which post, and the slot that it shall have."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"post_id": "0193a7", "at": "2031-03-30T09:00:00Z"}]}
    )
    post_id: IdField
    at: Instant


class SlotTaken(ShownAnswer):
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


class SkipAsked(Asked):
    """Which slots to leave out: named ones, or the next free ones."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "a day off"}]})
    instants: list[Instant] | None = Field(default=None, min_length=1, max_length=200)
    count: int | None = Field(default=None, ge=1, le=50, strict=True)
    reason: str | None = Field(default=None, max_length=200)


class UnskipAsked(Asked):
    """Which slots to offer again; left out: all."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})
    instants: list[Instant] | None = Field(default=None, max_length=200)


class SkipShown(Shown):
    """A slot that is left out."""

    at: datetime
    wall_time: str
    by: str
    reason: str | None


class SkippedShown(ShownAnswer):
    """What is left out, and what made room."""

    skips: list[SkipShown]
    moved: list[MovedShown]
    revision: int
    fresh: bool = Field(description="False: one was pending already, and nothing was changed")


@routes.post(QUEUE + "/order", needs=Role.EDITOR, scope="queue:write")
async def change_order(act: Act, workspace_id: Id, account_id: Id, body: OrderAsked) -> Reordered:
    """Change who holds which instant: the whole order, a move, to the top, a swap, a shuffle, reversed."""

    def operation(tx: Tx, now: datetime) -> Reordered:
        answer = _do(tx, now, workspace_id, account_id, body.root, by=act.by)
        if not isinstance(answer, reorder.Reordered):
            refuse(answer)
        return show(Reordered, answer)

    return await on_account(act, account_id, operation)


@routes.post(QUEUE + "/slots", needs=Role.EDITOR, scope="queue:write")
async def take_one(act: Act, workspace_id: Id, account_id: Id, body: SlotAsked) -> SlotTaken:
    """Put a post on one free slot: moved there from wherever it waits on this account, else added."""

    def operation(tx: Tx, now: datetime) -> SlotTaken:
        one_post(act, tx, now, body.post_id)
        answer = take_slot.take_slot(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            post_id=body.post_id,
            at=body.at,
            by=act.by,
        )
        if not isinstance(answer, take_slot.Taken):
            refuse(answer)
        if answer.was_at is None:
            act.spend(tx, now, 1)
        return show(SlotTaken, answer)

    return await on_account(act, account_id, operation)


@routes.get(QUEUE + "/skips", needs=Role.VIEWER, scope="queue:read")
async def list_skips(ask: Ask, workspace_id: Id, account_id: Id) -> list[SkipShown]:
    """List the slots that are left out from now on."""
    ask.check_account(account_id)
    found = await ask.read(
        lambda tx, now: skip.list_skips(tx, now, workspace_id=workspace_id, account_id=account_id)
    )
    return [show(SkipShown, each) for each in found]


@routes.post(QUEUE + "/skips", needs=Role.EDITOR, scope="queue:write")
async def skip_slots(act: Act, workspace_id: Id, account_id: Id, body: SkipAsked) -> SkippedShown:
    """Leave out named slots, whose posts move on, or the next free ones."""

    def operation(tx: Tx, now: datetime) -> SkippedShown:
        about = {"workspace_id": workspace_id, "account_id": account_id, "by": act.by}
        if body.instants is None:
            answer = skip.skip_next(tx, now, **about, reason=body.reason, count=body.count)
        else:
            answer = skip.skip(tx, now, **about, reason=body.reason, instants=body.instants)
        if not isinstance(answer, skip.Skipped):
            refuse(answer)
        return show(SkippedShown, answer)

    return await on_account(act, account_id, operation)


@routes.post(QUEUE + "/skips/lift", needs=Role.EDITOR, scope="queue:write")
async def lift_skips(act: Act, workspace_id: Id, account_id: Id, body: UnskipAsked) -> SkippedShown:
    """Offer slots again that were left out."""

    def operation(tx: Tx, now: datetime) -> SkippedShown:
        answer = skip.unskip(
            tx,
            now,
            workspace_id=workspace_id,
            account_id=account_id,
            by=act.by,
            instants=body.instants,
        )
        if not isinstance(answer, skip.Skipped):
            refuse(answer)
        return show(SkippedShown, answer)

    return await on_account(act, account_id, operation)


def _do(
    tx: Tx, now: datetime, workspace_id: str, account_id: str, asked: BaseModel, *, by: str
) -> reorder.Answer:
    about = {"workspace_id": workspace_id, "account_id": account_id, "by": by}
    match asked:
        case Whole():
            return reorder.reorder(tx, now, **about, ids=asked.ids, revision=asked.revision)
        case Move():
            return reorder.move(
                tx,
                now,
                **about,
                id=asked.id,
                before=asked.before,
                after=asked.after,
                revision=asked.revision,
            )
        case Top():
            return reorder.to_top(tx, now, **about, id=asked.id, revision=asked.revision)
        case Swap():
            return reorder.swap(tx, now, **about, ids=asked.ids, revision=asked.revision)
        case Shuffle():
            return reorder.shuffle(tx, now, **about, seed=asked.seed, revision=asked.revision)
        case _:
            assert isinstance(asked, Reverse)
            return reorder.reverse(tx, now, **about, revision=asked.revision)
