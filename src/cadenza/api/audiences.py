"""Audiences: lists of contacts and recipient channels in their order, saved filters, and how two differ."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from cadenza.api.contact_schemas import (
    EPOCH,
    Conditions,
    ConditionView,
    read_conditions,
    refuse_invalid,
)
from cadenza.api.problems import Problem, conflict, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView, show
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel, Line, Page, Paged, cursor_at
from cadenza.contacts import audiences
from cadenza.contacts.audiences import Audience, Difference, Member, MembersChanged
from cadenza.contacts.model import Invalid, contacts_lock
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("audiences", "/workspaces/{workspace_id}/audiences")
MOST = 5_000
Side = Literal["only_here", "only_there", "both"]


class AudienceInput(InputModel):
    """A list; with a filter, a saved filter."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Customers in Berlin"}]})
    name: Line
    filter: Conditions | None = Field(default=None, description="Left out: a list")


class AudienceChange(InputModel):
    """What is to be different."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Customers"}]})
    name: Line | None = None
    filter: Conditions | None = None
    public_name: Annotated[str, StringConstraints(max_length=200, strip_whitespace=True)] | None = (
        Field(
            default=None,
            description="What recipients call this list, where they choose what they get; empty: they don't see it",
        )
    )


class AudienceView(AnswerView):
    """An audience; a saved filter's size is counted when it is asked."""

    id: str
    name: str
    kind: Literal["list", "filter"]
    filter: list[ConditionView]
    size: int
    revision: int
    created_at: datetime
    updated_at: datetime
    public_name: str | None = Field(
        default=None, description="As recipients see it, where they choose what they get"
    )


class ChannelKey(InputModel):
    """A recipient channel by its network and address."""

    provider: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,29}$")]
    address: Annotated[str, StringConstraints(min_length=1, max_length=254)]


class MembersInput(InputModel):
    """Contacts and recipient channels, in the order in which they shall stand."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"contact_ids": ["someone"]}]})
    contact_ids: list[IdField] = Field(default=[], max_length=MOST)
    channels: list[ChannelKey] = Field(default=[], max_length=MOST)

    def members(self) -> list[Member]:
        """Return them as operations take them."""
        people = [Member("contact", id_) for id_ in self.contact_ids]
        chats = [
            Member("channel", fold_recipient(each.address), each.provider) for each in self.channels
        ]
        return [*people, *chats]


class MemberView(ValueView):
    """A contact, or a recipient channel of a provider."""

    kind: Literal["contact", "channel"]
    id: str
    provider: str


class MembersView(Answer):
    """What became of those who were named."""

    changed: int
    there_already: int
    unknown: list[MemberView]
    size: int


class DifferenceView(ValueView):
    """How two audiences overlap."""

    only_here: int
    only_there: int
    both: int


class AudienceDeleted(Answer):
    """It is deleted; its contacts stay."""

    id: str


@routes.get(needs=Role.VIEWER, scope="contacts:read")
async def list_audiences(ask: Reader, workspace_id: Id) -> list[AudienceView]:
    """List audiences with their sizes."""
    found = await ask.read(lambda tx, _: audiences.list_audiences(tx, workspace_id=workspace_id))
    return [show(AudienceView, each) for each in found]


@routes.post(needs=Role.EDITOR, scope="contacts:write", status_code=201)
async def create_audience(act: Writer, workspace_id: Id, body: AudienceInput) -> AudienceView:
    """Make a list, or save a filter."""

    def operation(tx: Tx, now: datetime) -> AudienceView:
        answer = audiences.create_audience(
            tx,
            now,
            workspace_id=workspace_id,
            name=body.name,
            by=act.by,
            conditions=read_conditions(body.filter),
        )
        if not isinstance(answer, Audience):
            raise refuse_audience(answer)
        return act.tag(show(AudienceView, answer))

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.get("/{audience_id}", needs=Role.VIEWER, scope="contacts:read")
async def show_audience(ask: Reader, workspace_id: Id, audience_id: Id) -> AudienceView:
    """Show an audience with its size."""
    return ask.tag(await ask.read(lambda tx, _: _one(ask, tx, audience_id)))


@routes.patch("/{audience_id}", needs=Role.EDITOR, scope="contacts:write")
async def change_audience(
    act: Writer, workspace_id: Id, audience_id: Id, body: AudienceChange
) -> AudienceView:
    """Rename an audience, or change a saved filter."""

    def operation(tx: Tx, now: datetime) -> AudienceView:
        act.check_match(_one(act, tx, audience_id))
        answer = audiences.change_audience(
            tx,
            now,
            workspace_id=workspace_id,
            audience_id=audience_id,
            by=act.by,
            name=body.name,
            conditions=read_conditions(body.filter),
            public_name=body.public_name,
        )
        if not isinstance(answer, Audience):
            raise refuse_audience(answer)
        return act.tag(show(AudienceView, answer))

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.delete("/{audience_id}", needs=Role.EDITOR, scope="contacts:write")
async def delete_audience(act: Writer, workspace_id: Id, audience_id: Id) -> AudienceDeleted:
    """Delete an audience; its contacts stay."""

    def operation(tx: Tx, now: datetime) -> AudienceDeleted:
        answer = audiences.delete_audience(
            tx, now, workspace_id=workspace_id, audience_id=audience_id, by=act.by
        )
        if not isinstance(answer, Audience):
            raise refuse_audience(answer)
        return AudienceDeleted(id=answer.id)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.get("/{audience_id}/members", needs=Role.VIEWER, scope="contacts:read")
async def list_members(
    ask: Reader, workspace_id: Id, audience_id: Id, page: Paged
) -> Page[MemberView]:
    """List the members of an audience, in their order."""
    after = "" if page.after is None else page.after[1]
    found = await ask.read(
        lambda tx, _: audiences.walk_members(
            tx, workspace_id=workspace_id, audience_id=audience_id, after=after, limit=page.limit
        )
    )
    if not isinstance(found, tuple):
        raise refuse_audience(found)
    items = [show(MemberView, each) for each in found[0]]
    return Page(items=items, next=None if found[1] is None else cursor_at(EPOCH, found[1]))


@routes.post("/{audience_id}/members", needs=Role.EDITOR, scope="contacts:write")
async def add_members(
    act: Writer, workspace_id: Id, audience_id: Id, body: MembersInput
) -> MembersView:
    """Put contacts and channels at the end of a list; who is there keeps the place."""

    def operation(tx: Tx, now: datetime) -> MembersView:
        answer = audiences.add_members(
            tx, now, workspace_id=workspace_id, audience_id=audience_id, members=body.members()
        )
        return _members(answer)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.post("/{audience_id}/remove-members", needs=Role.EDITOR, scope="contacts:write")
async def remove_members(
    act: Writer, workspace_id: Id, audience_id: Id, body: MembersInput
) -> MembersView:
    """Take contacts and channels off a list."""

    def operation(tx: Tx, now: datetime) -> MembersView:
        answer = audiences.remove_members(
            tx, now, workspace_id=workspace_id, audience_id=audience_id, members=body.members()
        )
        return _members(answer)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.get("/{audience_id}/difference/{other_id}", needs=Role.VIEWER, scope="contacts:read")
async def compare(ask: Reader, workspace_id: Id, audience_id: Id, other_id: Id) -> DifferenceView:
    """Count who is only here, only in the other audience, and in both."""
    found = await ask.read(
        lambda tx, _: audiences.compare_audiences(
            tx, workspace_id=workspace_id, here_id=audience_id, there_id=other_id
        )
    )
    if not isinstance(found, Difference):
        raise refuse_audience(found)
    return show(DifferenceView, found)


@routes.get(
    "/{audience_id}/difference/{other_id}/members", needs=Role.VIEWER, scope="contacts:read"
)
async def list_difference(
    ask: Reader,
    workspace_id: Id,
    audience_id: Id,
    other_id: Id,
    page: Paged,
    side: Side = "only_here",
) -> Page[MemberView]:
    """List who is on one side of a difference."""
    after = None
    if page.after is not None:
        kind, _, rest = page.after[1].partition("/")
        provider, _, id_ = rest.partition("/")
        after = Member("channel" if kind == "channel" else "contact", id_, provider)
    found = await ask.read(
        lambda tx, _: audiences.list_difference(
            tx,
            workspace_id=workspace_id,
            here_id=audience_id,
            there_id=other_id,
            side=side,
            after=after,
            limit=page.limit + 1,
        )
    )
    if not isinstance(found, list):
        raise refuse_audience(found)
    last = found[page.limit - 1] if len(found) > page.limit else None
    then = None if last is None else cursor_at(EPOCH, f"{last.kind}/{last.provider}/{last.id}")
    return Page(items=[show(MemberView, each) for each in found[: page.limit]], next=then)


def refuse_audience(answer: object) -> Problem:
    """Say over HTTP what an operation on audiences refused."""
    match answer:
        case audiences.NoSuchAudience():
            return not_found("audience")
        case audiences.NameTaken(name=name):
            return conflict("taken", f"There is an audience called {name!r}: choose another name.")
        case audiences.NotAList():
            return conflict("not_a_list", "Members of a saved filter are those it finds.")
        case Invalid():
            wrong = Invalid(f"filter.{answer.column}", answer.code, answer.message)
            return refuse_invalid([wrong])
        case _:
            raise TypeError(f"{answer!r} is no refusal")


def _members(answer: object) -> MembersView:
    if not isinstance(answer, MembersChanged):
        raise refuse_audience(answer)
    return MembersView(
        changed=answer.changed,
        there_already=answer.there_already,
        unknown=[show(MemberView, each) for each in answer.unknown],
        size=answer.size,
    )


def _one(ask: ReadContext, tx: Tx, audience_id: str) -> AudienceView:
    found = audiences.find_audience(tx, ask.workspace_id, audience_id)
    if not isinstance(found, Audience):
        raise refuse_audience(found)
    return show(AudienceView, found)
