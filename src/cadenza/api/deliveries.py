"""Deliveries: what goes out, when, why not yet, and what a person may do about one of them."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from cadenza.api.post_schemas import HeldView
from cadenza.api.problems import conflict, invalid, not_found
from cadenza.api.queue_schemas import does_not_fit
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import (
    FIRST,
    ID,
    LAST,
    Answer,
    Id,
    InputModel,
    Instant,
    Line,
    Page,
    Paged,
    loads,
    one_of,
)
from cadenza.core.rollup import DeliveryState as State
from cadenza.db.audit import record
from cadenza.deliveries import change, model
from cadenza.deliveries.check_fit import StoredPiece
from cadenza.deliveries.explain import Past, explain
from cadenza.deliveries.model import locks_of
from cadenza.deliveries.reasons import Code
from cadenza.people.model import Role
from cadenza.posts.holds import Held, read_holds
from cadenza.posts.preflight import refuse_unfit
from cadenza.sql.tx import Row, Tx
from cadenza.sql.values import read_value

routes = Resource("deliveries", "/workspaces/{workspace_id}/deliveries")


class Delivery(Answer):
    """This content, by this account, to this place, at this instant."""

    id: str
    account_id: str
    channel: str
    action: str
    post_id: str | None
    campaign_id: str | None
    recipient: str | None
    state: State
    reason: str | None
    reason_code: str | None = Field(
        default=None, description="What `reason` says, for programs: see the guide to reasons"
    )
    reason_params: dict[str, Any] = Field(default={}, description="What the sentence is made with")
    due_at: datetime
    wall_time: str | None
    zone: str | None
    content: dict[str, Any]
    revision: int
    fence: int = Field(description="Rises with every try; a decision names the one looked at")
    approved: bool
    mode: str
    attempts: int
    deferrals: int
    retry_limit: int
    url: str | None
    remote_id: str | None
    created_at: datetime
    sent_at: datetime | None
    failed_at: datetime | None
    ended_at: datetime | None = Field(
        default=None, description="When it was missed, canceled or skipped"
    )
    last_attempt_at: datetime | None = Field(
        default=None, description="When the network was last called for it"
    )
    look_at: datetime | None = Field(
        default=None, description="Of an unconfirmed one: when it is looked for again"
    )
    unconfirmed_part: int | None = Field(
        default=None, description="Of a thread unconfirmed: which part nobody answered, from 1"
    )
    held: HeldView | None = Field(
        default=None, description="What keeps it from going at its time, if something does"
    )
    warning: str | None = None


class Explained(BaseModel):
    """Every gate with its answer; `message` is the first thing to say."""

    message: str
    judged_at: datetime = Field(
        description="The instant that the gates were asked about: when it is due, or now"
    )
    gates: dict[str, dict[str, Any]]


class Reason(InputModel):
    """Why."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reason": "the offer has ended"}]})
    reason: Line = "canceled by a person"


class DecisionInput(InputModel):
    """What a person saw when they looked."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"fence": 1, "is_there": True}]})
    fence: int = Field(
        strict=True,
        ge=0,
        description="The delivery's `fence` when you looked: a later try is another doubt",
    )
    is_there: bool = Field(strict=True, description="False sends it again")
    remote_id: Line | None = Field(
        default=None, description="Its id over there: a thread's other parts follow it"
    )
    rest: bool = Field(default=True, strict=True, description="False leaves other parts unsent")


@routes.get(needs=Role.VIEWER, scope="deliveries:read")
async def list_deliveries(
    ask: Reader,
    workspace_id: Id,
    page: Paged,
    state: Annotated[list[State] | None, Query()] = None,
    account_id: Annotated[str | None, Query(max_length=128, pattern=ID)] = None,
    post_id: Annotated[str | None, Query(max_length=128, pattern=ID)] = None,
    reason_code: Annotated[
        list[Code] | None,
        Query(max_length=20, description="Only what waits or ended for one of these reasons"),
    ] = None,
    order: Annotated[
        Literal["soonest", "newest", "happened"],
        Query(
            description="By when they are due; `happened`: what is over or under way, the latest first"
        ),
    ] = "soonest",
) -> Page[Delivery]:
    """List deliveries in the order in which they are due, the other way round, or as things happened."""
    in_states, states = _in_states(state)
    in_accounts, accounts = one_of("account_id", _accounts(ask, account_id))
    in_posts, posts = one_of("post_id", [post_id] if post_id else None)
    in_reasons, reasons = one_of("reason_code", reason_code)
    beyond, way = (">", "") if order == "soonest" else ("<", "DESC")
    at, id_ = page.after or (FIRST if order == "soonest" else LAST, "")
    # Each half has an index in this order, and so has each state; asked for all at once, no index would do.
    halves = [in_posts] if post_id else ["post_id IS NOT NULL", "post_id IS NULL"]
    by = "due_at"
    if order == "happened":
        by, halves = _HAPPENED, [f"{in_posts} AND state NOT IN ('draft', 'scheduled')"]

    def look(tx: Tx, now: datetime) -> list[Row]:
        in_order = f"ORDER BY {by} {way}, id {way} LIMIT :limit"
        # SQLite, asked for an order, would walk through the whole workspace to find one post's.
        first = "" if post_id and tx.dialect == "sqlite" else in_order
        found = (
            f"""
            SELECT * FROM (
                SELECT *, {by} AS listed_at FROM delivery
                WHERE workspace_id = :workspace_id AND {half} AND {of_state} AND {in_accounts} AND {in_reasons}
                    AND ({by}, id) {beyond} (:at, :id)
                {first}
            ) AS half
            """  # noqa: S608 - names of parameters, and constants
            for half in halves
            for of_state in in_states
        )
        return tx.all(
            " UNION ALL ".join(found) + f"ORDER BY listed_at {way}, id {way} LIMIT :limit",
            workspace_id=workspace_id,
            at=at,
            id=id_,
            limit=page.limit + 1,
            **states,
            **accounts,
            **posts,
            **reasons,
        )

    def with_holds(tx: Tx, now: datetime) -> tuple[list[Row], dict[str, Held]]:
        rows = look(tx, now)
        return rows, read_holds(tx, now, workspace_id=workspace_id, deliveries=rows)

    rows, held = await ask.read(with_holds)
    return page.cut(
        [row for row in rows if ask.caller.may_use(row["account_id"])],
        lambda row: show(row, held=held.get(row["id"])),
        at="listed_at",
    )


# As the index `delivery_happened` has it. What is over has an end of its own, else the last call tells when.
_HAPPENED = "coalesce(sent_at, failed_at, ended_at, last_attempt_at, due_at)"


def _in_states(states: Sequence[State] | None) -> tuple[list[str], dict[str, Any]]:
    """Name the states that are asked for, one at a time; what was sent is most of all and is found on the way."""
    if not states or State.SENT in states:
        in_states, params = one_of("state", [each.value for each in states] if states else None)
        return [in_states], params
    return [f"state = '{each.value}' AND state <> 'sent'" for each in dict.fromkeys(states)], {}


def _accounts(ask: ReadContext, requested: str | None) -> Iterable[str] | None:
    """Say of which accounts the caller may see what was asked for; None: of all."""
    if requested is None:
        return ask.caller.accounts
    return [requested] if ask.caller.may_use(requested) else []


@routes.get("/{delivery_id}", needs=Role.VIEWER, scope="deliveries:read")
async def show_delivery(ask: Reader, workspace_id: Id, delivery_id: Id) -> Delivery:
    """Show one delivery."""
    return await ask.read(lambda tx, now: _tagged(ask, tx, now, delivery_id))


@routes.get("/{delivery_id}/explain", needs=Role.VIEWER, scope="deliveries:read")
async def explain_delivery(
    ask: Reader,
    workspace_id: Id,
    delivery_id: Id,
    at: Annotated[
        Instant | None,
        Query(description="The instant to judge, not past; left out: when it is due, or now"),
    ] = None,
) -> Explained:
    """Say why it does not go, when it may, and who can change that; what is due later is judged then."""

    def look(tx: Tx, now: datetime) -> Explained:
        one_row(ask, tx, delivery_id)
        found = explain(
            tx,
            now,
            workspace_id=workspace_id,
            delivery_id=delivery_id,
            at=at,
            files=ask.runtime.files,
        )
        if found is None:
            raise not_found("delivery")
        if isinstance(found, Past):
            raise invalid("query.at", found.message)
        return Explained(**found.as_data())

    return await ask.read(look)


@routes.post("/{delivery_id}/cancel", needs=Role.EDITOR, scope="deliveries:write")
async def cancel(act: Writer, workspace_id: Id, delivery_id: Id, body: Reason) -> Delivery:
    """Cancel it; a call that is under way cannot be called back."""

    def operation(tx: Tx, now: datetime) -> Delivery:
        act.check_match(_one(act, tx, delivery_id))
        answer = change.cancel(
            tx, now, workspace_id=workspace_id, id=delivery_id, reason=body.reason
        )
        return _changed(act, tx, now, delivery_id, answer, "delivery.cancel")

    return await act.write(operation, locks=await _locks(act, delivery_id))


@routes.post("/{delivery_id}/retry", needs=Role.EDITOR, scope="deliveries:write")
async def retry(act: Writer, workspace_id: Id, delivery_id: Id) -> Delivery:
    """Try what failed or was missed once more."""

    def operation(tx: Tx, now: datetime) -> Delivery:
        act.check_match(_one(act, tx, delivery_id))
        _check_fit(act, tx, delivery_id, State.FAILED, State.MISSED)
        act.spend(tx, now)
        answer = change.retry(tx, now, workspace_id=workspace_id, id=delivery_id)
        return _changed(act, tx, now, delivery_id, answer, "delivery.retry")

    return await act.write(operation, locks=await _locks(act, delivery_id))


@routes.post("/{delivery_id}/publish-now", needs=Role.EDITOR, scope="deliveries:write")
async def publish_now(act: Writer, workspace_id: Id, delivery_id: Id) -> Delivery:
    """Make it due now, before others; never past a stop, a pause, approval or a budget."""

    def operation(tx: Tx, now: datetime) -> Delivery:
        act.check_match(_one(act, tx, delivery_id))
        _check_fit(act, tx, delivery_id, State.SCHEDULED)
        act.spend(tx, now)
        answer = change.publish_now(tx, now, workspace_id=workspace_id, id=delivery_id)
        return _changed(act, tx, now, delivery_id, answer, "delivery.publish_now")

    return await act.write(operation, locks=await _locks(act, delivery_id))


@routes.post("/{delivery_id}/decide", needs=Role.EDITOR, scope="deliveries:write")
async def decide(act: Writer, workspace_id: Id, delivery_id: Id, body: DecisionInput) -> Delivery:
    """Settle an unconfirmed send: it is there, or it is not and is to be sent again."""

    def operation(tx: Tx, now: datetime) -> Delivery:
        act.check_match(_one(act, tx, delivery_id))
        if not body.is_there:
            act.spend(tx, now)
        answer = change.decide_unconfirmed(
            tx,
            now,
            workspace_id=workspace_id,
            id=delivery_id,
            fence=body.fence,
            is_there=body.is_there,
            remote_id=body.remote_id,
            rest=body.rest,
        )
        if isinstance(answer, change.NeedsRemoteId):
            raise conflict(
                "remote_id_needed",
                f"Part {answer.part} is there and {answer.left} follow it: give its id, or rest=false.",
            )
        return _changed(act, tx, now, delivery_id, answer, "delivery.decide")

    return await act.write(operation, locks=await _locks(act, delivery_id))


def _check_fit(act: WriteContext, tx: Tx, delivery_id: str, *states: State) -> None:
    """Refuse to send what its channel would not take; in other states there is another answer."""
    row = one_row(act, tx, delivery_id)
    if row["state"] in states and (
        unfit := refuse_unfit(
            tx, act.workspace_id, [read_value(StoredPiece, row)], act.runtime.files
        )
    ):
        raise does_not_fit(unfit)


async def _locks(act: WriteContext, delivery_id: str) -> list[str]:
    """Name what is decided about, the same as its permit names."""
    row = await act.read(lambda tx, now: one_row(act, tx, delivery_id))
    return locks_of([read_value(model.Delivery, row)])


def show(row: Row, warning: str | None = None, held: Held | None = None) -> Delivery:
    """Show a row to the outside: named fields only."""
    fields = {name: row[name] for name in Delivery.model_fields if name in row}
    content = loads(row["content"])
    ours: dict[str, Any] = {
        "content": content,
        "fence": row["lease"],
        "reason_params": loads(row["reason_params"] or "{}"),
        "warning": warning,
    }
    if held is not None:
        ours["held"] = HeldView.model_validate(held)
    if row["state"] == State.UNCONFIRMED and (more := content.get("parts")):
        ours["unconfirmed_part"] = min(len(loads(row["parts_sent"])), len(more)) + 1
    return Delivery(**fields | ours)


def _one(ask: ReadContext, tx: Tx, delivery_id: str) -> Delivery:
    return show(one_row(ask, tx, delivery_id))


def _tagged(
    ask: ReadContext, tx: Tx, now: datetime, delivery_id: str, warning: str | None = None
) -> Delivery:
    """Show it with what holds it; a hold that comes or goes is no other state of the delivery."""
    row = one_row(ask, tx, delivery_id)
    ask.tag(show(row))
    held = read_holds(tx, now, workspace_id=ask.workspace_id, deliveries=[row])
    return show(row, warning, held.get(delivery_id))


def one_row(ask: ReadContext, tx: Tx, delivery_id: str) -> Row:
    """Return a delivery that the caller may see, or say that there is none."""
    row = tx.one(
        "SELECT * FROM delivery WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=ask.workspace_id,
        id=delivery_id,
    )
    if row is None or not ask.caller.may_use(row["account_id"]):
        raise not_found("delivery")
    return row


def _changed(
    act: WriteContext, tx: Tx, now: datetime, id_: str, answer: change.Answer, action: str
) -> Delivery:
    match answer:
        case change.NoSuchDelivery():
            raise not_found("delivery")
        case change.NotNow(state, message):
            raise conflict("moved_on", message, state=state.value)
        case change.ChangedDelivery(state, warning):
            record(
                tx,
                now,
                workspace_id=act.workspace_id,
                by=act.by,
                action=action,
                subject_id=id_,
                after={"state": state.value},
            )
            return _tagged(act, tx, now, id_, warning)
