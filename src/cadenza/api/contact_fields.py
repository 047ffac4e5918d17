"""The workspace's own fields of contacts: text, number, date or one of some choices."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from cadenza.api.contact_schemas import Key, Short, refuse_contact
from cadenza.api.problems import not_found
from cadenza.api.queue_schemas import AnswerView, show
from cadenza.api.request_context import Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, InputModel, Line
from cadenza.contacts import fields
from cadenza.contacts.fields import FieldSaved, NoSuchField
from cadenza.contacts.model import contacts_lock
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("contact_fields", "/workspaces/{workspace_id}/contact-fields")


class ContactFieldInput(InputModel):
    """A field; its key and kind stay."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"key": "age", "label": "Age", "kind": "number"}]}
    )
    key: Key = Field(description="What templates and files name it by")
    label: Line
    kind: Literal["text", "number", "date", "choice"]
    choices: list[Short] = Field(default=[], max_length=fields.MOST_CHOICES)


class ContactFieldView(AnswerView):
    """A field as kept."""

    key: str
    label: str
    kind: Literal["text", "number", "date", "choice"]
    choices: list[str]


class ContactFieldDeleted(Answer):
    """It is deleted, and its values with it."""

    key: str


@routes.get(needs=Role.VIEWER, scope="contacts:read")
async def list_fields(ask: Reader, workspace_id: Id) -> list[ContactFieldView]:
    """List the workspace's own fields."""
    found = await ask.read(lambda tx, _: fields.list_fields(tx, workspace_id))
    return [show(ContactFieldView, each) for each in found.values()]


@routes.post(needs=Role.EDITOR, scope="contacts:write", status_code=201)
async def save_field(act: Writer, workspace_id: Id, body: ContactFieldInput) -> ContactFieldView:
    """Make a field, or change its label and choices."""

    def operation(tx: Tx, now: datetime) -> ContactFieldView:
        answer = fields.save_field(
            tx,
            now,
            workspace_id=workspace_id,
            key=body.key,
            label=body.label,
            kind=body.kind,
            choices=body.choices,
            by=act.by,
        )
        if not isinstance(answer, FieldSaved):
            raise refuse_contact(answer)
        return show(ContactFieldView, answer.field)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.delete("/{field_key}", needs=Role.ADMIN, scope="contacts:write")
async def delete_field(act: Writer, workspace_id: Id, field_key: Id) -> ContactFieldDeleted:
    """Delete a field; every contact loses its value."""

    def operation(tx: Tx, now: datetime) -> ContactFieldDeleted:
        answer = fields.delete_field(tx, now, workspace_id=workspace_id, key=field_key, by=act.by)
        if isinstance(answer, NoSuchField):
            raise not_found("field")
        return ContactFieldDeleted(key=answer.key)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])
