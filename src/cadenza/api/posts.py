"""Posts: written, found, edited and deleted. What is done with them stands in `post_acts.py`.

A key that is bound to accounts sees and changes the posts that go nowhere else. An approval asked for by a
key wants the scope `posts:approve`, and what it puts in the pipeline takes from the key's daily budget. Limit:
pages of a key that is bound to accounts may be shorter than asked for.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, TypeVar

from fastapi import Query
from pydantic import Field

from cadenza.api.lock_posts import post_locks
from cadenza.api.post_schemas import (
    ChannelName,
    FindingView,
    PostChange,
    PostFields,
    PostInput,
    PostSaved,
    PostView,
    post_fields,
    refuse,
    show_post,
)
from cadenza.api.problems import Problem, invalid, not_found
from cadenza.api.queue_schemas import AnswerView
from cadenza.api.request_context import ReadContext, Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import ID, Id, Instant, Page
from cadenza.core.channels import Channel
from cadenza.core.rollup import DeliveryState, PostState
from cadenza.people.model import Role
from cadenza.posts import create, delete, edit, read
from cadenza.posts.model import NoSuchPost, Source
from cadenza.posts.preflight import check_post
from cadenza.sql.tx import Tx

routes = Resource("posts", "/workspaces/{workspace_id}/posts")
APPROVE = "posts:approve"
Model = TypeVar("Model", bound=PostView)


class PostDeleted(AnswerView):
    """It is gone; what is out there stays there."""

    canceled: list[str] = Field(description="Deliveries that will not be sent")
    sent: int
    message: str | None


@routes.get(needs=Role.VIEWER, scope="posts:read")
async def list_posts(
    ask: Reader,
    workspace_id: Id,
    state: Annotated[list[PostState] | None, Query()] = None,
    account_id: Annotated[str | None, Query(max_length=128, pattern=ID)] = None,
    channel: Annotated[ChannelName | None, Query()] = None,
    category_id: Annotated[str | None, Query(max_length=128, pattern=ID)] = None,
    label: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
    source: Annotated[Source | None, Query()] = None,
    rule_id: Annotated[
        str | None, Query(max_length=128, pattern=ID, description="Made by this rule")
    ] = None,
    target_month: Annotated[
        str | None,
        Query(
            pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$",
            description="Made by a rule for this month, as YYYY-MM",
        ),
    ] = None,
    search: Annotated[str | None, Query(max_length=200, description="Every word occurs")] = None,
    due_from: Annotated[Instant | None, Query()] = None,
    due_until: Annotated[Instant | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=read.MOST)] = 50,
    cursor: Annotated[str | None, Query(max_length=600, pattern=r"^[\w=-]+$")] = None,
) -> Page[PostView]:
    """List posts, the newest first."""
    if account_id is not None:
        ask.check_account(account_id)
    filters = read.Filters(
        states=tuple(state or ()),
        account_id=account_id,
        channel=None if channel is None else channel.value,
        category_id=category_id,
        label=label,
        source=None if source is None else source.value,
        rule_id=rule_id,
        target_month=target_month,
        search=search,
        due_from=due_from,
        due_until=due_until,
    )
    found = await ask.read(
        lambda tx, now: read.list_posts(
            tx, now, workspace_id=workspace_id, filters=filters, cursor=cursor, limit=limit
        )
    )
    if isinstance(found, read.BadCursor):
        raise Problem(
            400, "bad_cursor", "The cursor is none of ours: take `next` as it was answered."
        )
    shown = [show_post(each) for each in found.posts if _reaches(ask, each)]
    return Page(items=shown, next=found.next)


@routes.post(needs=Role.EDITOR, scope="posts:write", status_code=201)
async def create_post(act: Writer, workspace_id: Id, body: PostInput) -> PostSaved:
    """Write a post; where and when it goes is said by the queue, `schedule` or `publish-now`."""
    check_approval(act, approve=body.approve)
    return await act.write(lambda tx, now: write_new(act, tx, now, body))


@routes.get("/{post_id}", needs=Role.VIEWER, scope="posts:read")
async def show_one(ask: Reader, workspace_id: Id, post_id: Id) -> PostView:
    """Show a post with one pill an account and channel; its ETag is its revision."""
    found = await ask.read(lambda tx, now: one(ask, tx, now, post_id))
    return tag(ask, show_post(found))


@routes.patch("/{post_id}", needs=Role.EDITOR, scope="posts:write")
async def edit_post(act: Writer, workspace_id: Id, post_id: Id, body: PostChange) -> PostSaved:
    """Change a post that you have seen, and what waits of it; an approval of other words is gone."""
    check_approval(act, approve=body.approve)
    return await act.write(
        lambda tx, now: overwrite_post(act, tx, now, post_id, body),
        locks=await post_locks(act, post_id),
    )


@routes.delete("/{post_id}", needs=Role.EDITOR, scope="posts:write")
async def delete_post(act: Writer, workspace_id: Id, post_id: Id) -> PostDeleted:
    """Delete a post and cancel what waits of it; refused while it is being sent."""

    def operation(tx: Tx, now: datetime) -> PostDeleted:
        unchanged(act, tx, now, post_id)
        answer = delete.delete(tx, now, workspace_id=workspace_id, post_id=post_id, by=act.by)
        if not isinstance(answer, delete.Deleted):
            refuse(answer)
        return PostDeleted(canceled=list(answer.canceled), sent=answer.sent, message=answer.message)

    return await act.write(operation, locks=await post_locks(act, post_id))


def write_new(act: WriteContext, tx: Tx, now: datetime, body: PostInput) -> PostSaved:
    """Save a new post, or refuse."""
    check_category(tx, act.workspace_id, body)
    new = body.new_post(act.workspace_id, act.caller.member_id)
    answer = create.create(tx, now, new, by=act.by, approve=body.approve)
    if not isinstance(answer, create.Created):
        refuse(answer)
    shown = one(act, tx, now, answer.id)
    return tag(act, PostSaved(**post_fields(shown), why_not_approved=answer.why_not_approved))


def overwrite_post(
    act: WriteContext, tx: Tx, now: datetime, post_id: str, body: PostChange
) -> PostSaved:
    """Save a post that the caller has seen, or refuse."""
    before = one(act, tx, now, post_id)
    if body.category_id is not None:
        check_category(tx, act.workspace_id, PostFields(category_id=body.category_id))
    answer = edit.edit(
        tx,
        now,
        workspace_id=act.workspace_id,
        post_id=post_id,
        revision=seen(act, body.revision, before.post.revision),
        change=body.change(),
        by=act.by,
        approve=body.approve,
        files=act.runtime.files,
    )
    if not isinstance(answer, edit.Edited):
        refuse(answer, if_match=body.revision is None, current=show_post(before))
    act.spend(tx, now, len(answer.scheduled))
    return tag(
        act,
        PostSaved(
            **post_fields(one(act, tx, now, post_id)),
            why_not_approved=answer.why_not_approved,
            voided=answer.voided,
            too_late=list(answer.too_late),  # pyright: ignore[reportArgumentType] - read off
            message=answer.message,
            findings=find_trouble(act, tx, now, post_id),
        ),
    )


def find_trouble(act: WriteContext, tx: Tx, now: datetime, post_id: str) -> list[FindingView]:
    """Say what would go wrong with what is planned of a post; whether it is approved it says itself."""
    shown = one(act, tx, now, post_id)
    planned: dict[datetime, list[tuple[str, Channel]]] = {}
    for pill in shown.pills:
        if pill.state in (DeliveryState.DRAFT, DeliveryState.SCHEDULED):
            planned.setdefault(pill.at, []).append((pill.account_id, Channel(pill.channel)))
    return [
        FindingView.model_validate(each, from_attributes=True)
        for at, places in sorted(planned.items())
        for each in check_post(tx, now, shown.post, places, at=at, files=act.runtime.files)
        if each.code != "unapproved"
    ]


def one(ask: ReadContext, tx: Tx, now: datetime, post_id: str) -> read.ShownPost:
    """Read a post that the caller may see, or refuse."""
    found = read.read_post(tx, now, workspace_id=ask.workspace_id, post_id=post_id)
    if isinstance(found, NoSuchPost) or not _reaches(ask, found):
        raise not_found("post")
    return found


def unchanged(
    act: WriteContext, tx: Tx, now: datetime, post_id: str, *, revision: int | None = None
) -> read.ShownPost:
    """Read a post that the caller may see, or refuse if they say that they saw another state of it."""
    found = one(act, tx, now, post_id)
    current = found.post.revision
    named = revision is not None or act.if_match is not None
    if named and seen(act, revision, current) != current:
        refuse(edit.Conflict(found.post), if_match=revision is None, current=show_post(found))
    return found


def reached(ask: ReadContext, tx: Tx, post_ids: Sequence[str]) -> set[str]:
    """Return which of these posts the caller may see."""
    if ask.caller.accounts is None or not post_ids:
        return set(post_ids)
    rows = tx.all(
        """
        SELECT DISTINCT delivery.post_id, delivery.account_id
        FROM TABLE(:posts) AS asked (post_id text) CROSS JOIN delivery
        WHERE delivery.workspace_id = :workspace_id AND delivery.post_id = asked.post_id
        """,
        workspace_id=ask.workspace_id,
        posts=[(id_,) for id_ in post_ids],
    )
    beyond = {row["post_id"] for row in rows if not ask.caller.may_use(row["account_id"])}
    return set(post_ids) - beyond


def tag(ask: ReadContext, shown: Model) -> Model:
    """Answer with the revision as the state's name, for `If-Match`."""
    ask.headers["etag"] = f'"{shown.revision}"'
    return shown


def seen(act: WriteContext, revision: int | None, current: int) -> int:
    """Return the revision that the caller has seen: from the body or from `If-Match`."""
    if revision is not None:
        return revision
    given = (act.if_match or "").removeprefix("W/").strip('"')
    if act.if_match == "*":
        return current
    if not given:
        raise Problem(
            428, "revision_needed", "Say which revision you saw: `revision`, or an If-Match header."
        )
    return int(given) if given.isdecimal() and len(given) < 10 else 0  # an ETag of another thing


def check_approval(act: WriteContext, *, approve: bool | None) -> None:
    """Let a key approve only if it was made for that; a person's role is looked up by the operation."""
    scopes = act.caller.scopes
    if approve and scopes is not None and APPROVE not in scopes:
        raise Problem(403, "scope_needed", f"This key may not approve: it needs {APPROVE}.")


def check_category(tx: Tx, workspace_id: str, body: PostFields) -> None:
    """Refuse a category that is not there."""
    if body.category_id is None:
        return
    found = tx.value(
        "SELECT id FROM category WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=body.category_id,
    )
    if found is None:
        raise invalid("body.category_id", "there is no category of that id here", "no_category")


def _reaches(ask: ReadContext, shown: read.ShownPost) -> bool:
    return all(ask.caller.may_use(pill.account_id) for pill in shown.pills)
