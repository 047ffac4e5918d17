"""Contacts: list, search, make, change, tag, merge and delete them, and write notes about them."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from cadenza.api.contact_schemas import (
    Conditions,
    ContactInput,
    ContactView,
    Tag,
    next_cursor,
    read_conditions,
    refuse_contact,
    show_contact,
)
from cadenza.api.problems import Problem, conflict
from cadenza.api.queue_schemas import AnswerView, ValueView, show
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, IdField, InputModel, Page, Paged, PageInput
from cadenza.contacts import find, merge, save
from cadenza.contacts.filters import Condition, Filter
from cadenza.contacts.merge import Merge
from cadenza.contacts.model import Consent, Contact, Invalid, NoSuchContact, contacts_lock
from cadenza.inbox import person
from cadenza.people.model import Role
from cadenza.people.tokens import draw_token
from cadenza.sql.tx import Tx

routes = Resource("contacts", "/workspaces/{workspace_id}/contacts")
Word = Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")]


class ContactSearch(InputModel):
    """Conditions that all must hold."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"filter": [{"what": "tag", "value": "customer"}]}]}
    )
    filter: Conditions


class ContactsFound(BaseModel):
    """Some of a search; `next` is the cursor of what follows."""

    items: list[ContactView]
    next: str | None


class ContactCount(BaseModel):
    """How many people the conditions hold for."""

    count: int


class TagInput(InputModel):
    """Tags to add to and to remove from people."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"contact_ids": ["someone"], "add": ["customer"]}]}
    )
    contact_ids: list[IdField] = Field(min_length=1, max_length=5_000)
    add: list[Tag] = Field(default=[], max_length=20)
    remove: list[Tag] = Field(default=[], max_length=20)


class Tagged(Answer):
    """How many people have other tags now."""

    changed: int


class MergeInput(InputModel):
    """Contacts that are the same person."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"other_ids": ["someone"]}]})
    other_ids: list[IdField] = Field(min_length=1, max_length=merge.MOST)


class DroppedView(ValueView):
    """A value that the merged contact does not take over."""

    contact_id: str
    field: str
    kept: str
    dropped: str


class MergeView(Answer):
    """What the merged contact is, and what is lost by it. With `dry_run`: would be."""

    contact: ContactView
    dropped: list[DroppedView]
    merged: list[str]


class NoteInput(InputModel):
    """A note."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "Met at the fair."}]})
    text: Annotated[
        str,
        StringConstraints(min_length=1, max_length=save.LONGEST_NOTE, pattern=r"^[^\x00]*$"),
    ]


class NoteView(Answer):
    """What somebody wrote about a contact."""

    id: str
    text: str
    written_by: str
    created_at: datetime


class PersonData(BaseModel):
    """Everything that is stored about one person."""

    contact: dict[str, Any]
    notes: list[dict[str, Any]]
    audiences: list[dict[str, Any]]
    suppressions: list[dict[str, Any]]
    sent: list[dict[str, Any]] = Field(description="Messages to them, also those that wait")
    received: list[dict[str, Any]] = Field(description="Replies, bounces and opens")
    conversations: list[dict[str, Any]]


class PersonErased(AnswerView):
    """What was erased."""

    contact_id: str
    addresses: int
    deliveries: int
    inbound: int


class ContactDeleted(Answer):
    """It is deleted."""

    id: str


@routes.get(needs=Role.VIEWER, scope="contacts:read")
async def list_contacts(
    ask: Reader,
    workspace_id: Id,
    page: Paged,
    search: Word = None,
    tag: Word = None,
    consent: Consent | None = None,
    channel: Word = None,
    company: Word = None,
    country: Word = None,
    audience_id: Annotated[IdField | None, Query()] = None,
) -> Page[ContactView]:
    """List contacts, newest first. Search finds how names, companies and addresses begin."""
    said = {
        "tag": tag,
        "consent": consent,
        "channel": channel,
        "company": company,
        "country": country,
        "audience": audience_id,
    }
    conditions = tuple(Condition(what, "is", value) for what, value in said.items() if value)
    return await _page(ask, page, (*conditions, *find.is_search(search or "")))


@routes.post("/search", needs=Role.VIEWER, scope="contacts:read", looks=True)
async def search_contacts(
    ask: Reader, workspace_id: Id, page: Paged, body: ContactSearch
) -> ContactsFound:
    """List the contacts that every condition holds for, newest first."""
    found = await _page(ask, page, read_conditions(body.filter) or ())
    return ContactsFound(items=found.items, next=found.next)


@routes.post("/count", needs=Role.VIEWER, scope="contacts:read", looks=True)
async def count_contacts(ask: Reader, workspace_id: Id, body: ContactSearch) -> ContactCount:
    """Count the contacts that every condition holds for."""
    conditions = read_conditions(body.filter) or ()
    found = await ask.read(
        lambda tx, _: find.count_contacts(tx, workspace_id=workspace_id, conditions=conditions)
    )
    if isinstance(found, Invalid):
        raise _bad_filter(found)
    return ContactCount(count=found)


@routes.post("/tags", needs=Role.EDITOR, scope="contacts:write")
async def tag_contacts(act: Writer, workspace_id: Id, body: TagInput) -> Tagged:
    """Add and remove tags of many contacts."""

    def operation(tx: Tx, now: datetime) -> Tagged:
        answer = save.tag_contacts(
            tx,
            now,
            workspace_id=workspace_id,
            contact_ids=body.contact_ids,
            add=body.add,
            remove=body.remove,
            by=act.by,
        )
        if not isinstance(answer, int):
            raise refuse_contact(answer)
        return Tagged(changed=answer)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.post(needs=Role.EDITOR, scope="contacts:write", status_code=201)
async def create_contact(act: Writer, workspace_id: Id, body: ContactInput) -> ContactView:
    """Make a contact. An address belongs to one contact only."""

    def operation(tx: Tx, now: datetime) -> ContactView:
        answer = save.create_contact(tx, now, body.form(), workspace_id=workspace_id, by=act.by)
        if not isinstance(answer, Contact):
            raise refuse_contact(answer)
        return act.tag(show_contact(answer))

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.get("/{contact_id}", needs=Role.VIEWER, scope="contacts:read")
async def show_one(ask: Reader, workspace_id: Id, contact_id: Id) -> ContactView:
    """Show a contact; the id of one that was merged leads to the person."""
    return ask.tag(await ask.read(lambda tx, _: _one(ask, tx, contact_id)))


@routes.patch("/{contact_id}", needs=Role.EDITOR, scope="contacts:write")
async def change_contact(
    act: Writer, workspace_id: Id, contact_id: Id, body: ContactInput
) -> ContactView:
    """Change what is given; addresses and tags, if given, are all that there are."""

    def operation(tx: Tx, now: datetime) -> ContactView:
        act.check_match(_one(act, tx, contact_id))
        answer = save.change_contact(
            tx,
            now,
            body.form(),
            workspace_id=workspace_id,
            contact_id=contact_id,
            by=act.by,
            revision=body.revision,
        )
        if not isinstance(answer, Contact):
            raise refuse_contact(answer)
        return act.tag(show_contact(answer))

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.delete("/{contact_id}", needs=Role.EDITOR, scope="contacts:write")
async def delete_contact(act: Writer, workspace_id: Id, contact_id: Id) -> ContactDeleted:
    """Delete a contact with its addresses, tags, fields and notes; lists lose it too."""

    def operation(tx: Tx, now: datetime) -> ContactDeleted:
        answer = save.delete_contact(
            tx, now, workspace_id=workspace_id, contact_id=contact_id, by=act.by
        )
        if not isinstance(answer, Contact):
            raise refuse_contact(answer)
        return ContactDeleted(id=answer.id)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.get("/{contact_id}/data", needs=Role.ADMIN, scope="contacts:export")
async def show_data(ask: Reader, workspace_id: Id, contact_id: Id) -> PersonData:
    """Tell everything that is stored about one person: what they are sent when they ask for it."""
    found = await ask.read(
        lambda tx, _: person.export_person(tx, workspace_id=workspace_id, contact_id=contact_id)
    )
    if isinstance(found, NoSuchContact):
        raise refuse_contact(found)
    return PersonData(**found)


@routes.post("/{contact_id}/erase", needs=Role.ADMIN, scope="contacts:write")
async def erase_contact(act: Writer, workspace_id: Id, contact_id: Id) -> PersonErased:
    """Erase a person everywhere, for good; a salted hash keeps them from being written to again."""
    salt = draw_token().text

    def operation(tx: Tx, now: datetime) -> PersonErased:
        answer = person.erase_person(
            tx, now, workspace_id=workspace_id, contact_id=contact_id, by=act.by, new_salt=salt
        )
        match answer:
            case NoSuchContact():
                raise refuse_contact(answer)
            case person.BeingSent():
                raise conflict(
                    "being_sent", "A message to them is being sent: try again in a minute."
                )
            case person.Erased():
                return show(PersonErased, answer)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.post("/{contact_id}/merge", needs=Role.EDITOR, scope="contacts:write")
async def merge_contacts(
    act: Writer, workspace_id: Id, contact_id: Id, body: MergeInput
) -> MergeView:
    """Merge contacts that are one person into this one; with `dry_run` it is the preview."""

    def operation(tx: Tx, now: datetime) -> MergeView:
        answer = merge.merge_contacts(
            tx,
            now,
            workspace_id=workspace_id,
            keep_id=contact_id,
            other_ids=body.other_ids,
            by=act.by,
            preview=act.dry_run,
        )
        if not isinstance(answer, Merge):
            raise refuse_contact(answer)
        return MergeView(
            contact=show_contact(answer.contact),
            dropped=[show(DroppedView, each) for each in answer.dropped],
            merged=list(answer.merged),
        )

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.get("/{contact_id}/notes", needs=Role.VIEWER, scope="contacts:read")
async def list_notes(ask: Reader, workspace_id: Id, contact_id: Id) -> list[NoteView]:
    """List the notes about a contact, newest first."""

    def operation(tx: Tx, _: datetime) -> list[NoteView]:
        known = _one(ask, tx, contact_id)
        found = save.list_notes(tx, workspace_id=workspace_id, contact_id=known.id)
        return [show(NoteView, each) for each in found]

    return await ask.read(operation)


@routes.post("/{contact_id}/notes", needs=Role.EDITOR, scope="contacts:write", status_code=201)
async def add_note(act: Writer, workspace_id: Id, contact_id: Id, body: NoteInput) -> NoteView:
    """Write a note about a contact."""

    def operation(tx: Tx, now: datetime) -> NoteView:
        answer = save.add_note(
            tx, now, workspace_id=workspace_id, contact_id=contact_id, text=body.text, by=act.by
        )
        if isinstance(answer, NoSuchContact):
            raise refuse_contact(answer)
        return show(NoteView, answer)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


async def _page(ask: ReadContext, page: PageInput, conditions: Filter) -> Page[ContactView]:
    after = None if page.after is None else page.after[1]
    found = await ask.read(
        lambda tx, _: find.list_contacts(
            tx,
            workspace_id=ask.workspace_id,
            conditions=conditions,
            after=after,
            limit=page.limit,
        )
    )
    if isinstance(found, Invalid):
        raise _bad_filter(found)
    items = [show_contact(each) for each in found.contacts]
    return Page(items=items, next=next_cursor(found.next))


def _bad_filter(wrong: Invalid) -> Problem:
    return refuse_contact(Invalid(f"filter.{wrong.column}", wrong.code, wrong.message))


def _one(ask: ReadContext, tx: Tx, contact_id: str) -> ContactView:
    found = find.find_contact(tx, ask.workspace_id, contact_id)
    if isinstance(found, NoSuchContact):
        raise refuse_contact(found)
    return show_contact(found)
