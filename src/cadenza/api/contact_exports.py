"""Exports of contacts as CSV or XLSX, written in the background and downloaded for three days."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field
from starlette.responses import Response

from cadenza.api.audiences import refuse_audience
from cadenza.api.contact_schemas import Conditions, read_conditions
from cadenza.api.problems import Problem, not_found
from cadenza.api.queue_schemas import AnswerView, show
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Id, IdField, InputModel
from cadenza.api.send_file import FileToSend, send_file
from cadenza.bootstrap.export_contacts import MIME
from cadenza.contacts import exports
from cadenza.contacts.exports import ContactExport
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("contact_exports", "/workspaces/{workspace_id}/contact-exports")


class ContactExportInput(InputModel):
    """Whom to write: everybody, an audience's contacts, or those that conditions hold for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"format": "csv"}]})
    format: Literal["csv", "xlsx"] = "csv"
    audience_id: IdField | None = None
    filter: Conditions | None = None


class ContactExportView(AnswerView):
    """An export, and how far it is."""

    id: str
    format: Literal["csv", "xlsx"]
    audience_id: str | None
    state: str = Field(description="waiting, running, ready or failed")
    reason: str | None
    percent: int
    rows_done: int
    rows_total: int
    bytes: int | None
    asked_by: str
    asked_at: datetime
    finished_at: datetime | None
    expires_at: datetime


@routes.post(needs=Role.EDITOR, scope="contacts:export", status_code=201)
async def begin_contact_export(
    act: Writer, workspace_id: Id, body: ContactExportInput
) -> ContactExportView:
    """Write contacts into a file in the background; what is written can be imported again."""

    def operation(tx: Tx, now: datetime) -> ContactExportView:
        answer = exports.begin_export(
            tx,
            now,
            workspace_id=workspace_id,
            format_=body.format,
            by=act.by,
            audience_id=body.audience_id,
            conditions=read_conditions(body.filter),
        )
        if not isinstance(answer, ContactExport):
            raise refuse_audience(answer)
        return show(ContactExportView, answer)

    return await act.write(operation)


@routes.get(needs=Role.EDITOR, scope="contacts:export")
async def list_contact_exports(ask: Reader, workspace_id: Id) -> list[ContactExportView]:
    """List exports, newest first."""
    found = await ask.read(lambda tx, _: exports.list_exports(tx, workspace_id=workspace_id))
    return [show(ContactExportView, each) for each in found]


@routes.get("/{contact_export_id}", needs=Role.EDITOR, scope="contacts:export")
async def show_contact_export(
    ask: Reader, workspace_id: Id, contact_export_id: Id
) -> ContactExportView:
    """Show how far an export is."""
    found = await ask.read(lambda tx, _: _one(ask, tx, contact_export_id))
    return show(ContactExportView, found)


@routes.get(
    "/{contact_export_id}/file",
    needs=Role.EDITOR,
    scope="contacts:export",
    response_class=Response,
    responses={
        200: {"description": "A CSV or XLSX file", "content": {"application/octet-stream": {}}}
    },
)
async def download_contact_export(ask: Reader, workspace_id: Id, contact_export_id: Id) -> Response:
    """Download an export that is ready."""
    found = await ask.read(lambda tx, _: _one(ask, tx, contact_export_id))
    if found.state != "ready":
        raise Problem(409, "not_ready", "This export is not ready yet: ask again in a moment.")
    to_send = FileToSend(
        file=found.file,
        mime=MIME[found.format],
        name=f"contacts-{found.asked_at.date().isoformat()}.{found.format}",
        etag=f'"{found.id}"',
        cache="private, no-store",
    )
    return await send_file(ask.request, ask.runtime.library.storage, to_send)


def _one(ask: ReadContext, tx: Tx, export_id: str) -> ContactExport:
    found = exports.find_export(tx, ask.workspace_id, export_id)
    if not isinstance(found, ContactExport):
        raise not_found("export")
    return found
