"""Imports of contacts and recipient channels: upload a file, choose its columns, try it, start it, undo it.

The work is done in the background; `GET` shows how far it is. Every row that is not simply created has a line in the
report, with a code for programs and a sentence for people.
"""

import hashlib
import json
import tempfile
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import StreamingResponse

from cadenza.api.audiences import refuse_audience
from cadenza.api.contact_schemas import Short, Tag, Text, refuse_invalid
from cadenza.api.problems import Problem, conflict, invalid, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView, show
from cadenza.api.read_upload import UploadForm
from cadenza.api.request_context import ReadContext, Reader, Writer, WriterOnce
from cadenza.api.routes import MIB, Resource
from cadenza.api.schemas import Id, IdField, InputModel
from cadenza.contacts import imports
from cadenza.contacts.columns import Defaults
from cadenza.contacts.imports import Import, NoSuchImport, Options
from cadenza.contacts.model import Consent, Invalid, contacts_lock
from cadenza.contacts.read_table import SAMPLES, Head, Unreadable, convert_xlsx, read_head
from cadenza.db.export import csv_head, csv_line
from cadenza.media.storage import PIECE
from cadenza.people.model import Role
from cadenza.sql.tx import Row, Tx

routes = Resource("contact_imports", "/workspaces/{workspace_id}/contact-imports")
MOST = 500 * MIB
FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "kind": {"type": "string", "enum": ["contacts", "channels"]},
                    },
                }
            }
        },
    }
}
SENTENCES = {
    "bad_address": "This is no address: correct it.",
    "bad_cell": "A cell is too long, or holds a sign that cannot be kept.",
    "bad_channel": "This is no name of a channel.",
    "bad_tag": "A tag has 1 to 60 characters, without commas.",
    "bad_text": "The text is too long, or holds control characters.",
    "broken_row": "The row cannot be read: check its quotation marks.",
    "disposable": "A throw-away address: mail to it is hardly read.",
    "duplicate_row": "The same person as an earlier row of this file.",
    "matches_two": "It fits two contacts: merge them first.",
    "no_key": "It has no address and no key to know the person by.",
    "not_a_choice": "It is none of the field's choices.",
    "not_a_date": "Write a date as 2026-11-18.",
    "not_a_number": "Write a number such as 12 or 3.5.",
    "not_utf8": "The row is not UTF-8: save the file as “CSV UTF-8”.",
    "role": "An address of a role, not of a person.",
    "too_long": "The text is too long.",
    "too_many": "There are too many addresses or tags in one cell.",
    "too_many_cells": "It has more cells than the header has columns.",
    "too_many_lines": "It has too many lines: is a quotation mark missing?",
    "unknown_consent": "Write given, refused or unknown.",
    "unknown_country": "Write a code such as DE, or an English name.",
    "unknown_language": "Write a tag such as en or pt-BR.",
    "unknown_zone": "Write a zone such as Europe/Berlin.",
}


class ImportOptions(InputModel):
    """How a file is imported."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"mapping": {"Mail": "email"}, "tags": ["fair"]}]}
    )
    mapping: (
        dict[
            Annotated[str, StringConstraints(max_length=200)],
            Annotated[str, StringConstraints(max_length=60)],
        ]
        | None
    ) = Field(
        default=None,
        max_length=200,
        description='The file\'s column to ours; to "": not read. Left out: as suggested',
    )
    existing: Literal["update", "fill", "skip"] = Field(
        default="update", description="Whom we know: replace what is given, fill gaps, or leave"
    )
    audience_id: IdField | None = Field(default=None, description="A list to put everybody on")
    provider: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,29}$")] = "telegram"
    tags: list[Tag] = Field(default=[], max_length=20)
    source: Short | None = None
    source_proof: Text | None = None
    consent: Consent | None = None
    consent_proof: Text | None = None

    def options(self) -> Options:
        """Return them as operations take them."""
        defaults = Defaults(
            tags=tuple(self.tags),
            source=self.source,
            source_proof=self.source_proof,
            consent=None if self.consent is None else self.consent.value,
            consent_proof=self.consent_proof,
        )
        return Options(
            existing=self.existing,
            audience_id=self.audience_id,
            provider=self.provider,
            defaults=defaults,
        )


class ImportView(AnswerView):
    """An import, and how far it is."""

    id: str
    kind: Literal["contacts", "channels"]
    name: str
    format: Literal["csv", "xlsx"]
    state: str = Field(
        description="uploaded, trying, tried, running, done, canceled, failed, undoing or undone"
    )
    reason: str | None = Field(description="Why it failed")
    percent: int
    header: list[str]
    samples: list[list[str]]
    suggested: dict[str, str] = Field(description="The file's column to ours")
    mapping: dict[str, str] | None
    read_rows: int
    created: int
    updated: int
    unchanged: int
    refused: int
    flagged: int
    reported: int = Field(description="Rows in the report")
    removed: int = Field(description="By undoing it")
    restored: int
    kept: int = Field(description="Changed since, so undoing left them")
    asked_by: str
    asked_at: datetime
    finished_at: datetime | None
    undo_until: datetime | None
    expires_at: datetime


class ImportRowView(ValueView):
    """What became of a row; the header is row 1."""

    row: int
    verdict: str
    code: str | None
    message: str | None
    column: str | None
    value: str | None
    contact_id: str | None


class ImportRows(BaseModel):
    """Some of a report; `next` is the row to go on after."""

    items: list[ImportRowView]
    next: int | None


@routes.get(needs=Role.VIEWER, scope="contacts:read")
async def list_imports(ask: Reader, workspace_id: Id) -> list[ImportView]:
    """List imports, newest first."""
    found = await ask.read(lambda tx, _: imports.list_imports(tx, workspace_id=workspace_id))
    return [show(ImportView, each) for each in found]


@routes.post(
    needs=Role.EDITOR,
    scope="contacts:write",
    status_code=201,
    takes="upload",
    most=MOST + MIB,
    openapi_extra=FORM,
)
async def upload_file(act: WriterOnce, workspace_id: Id) -> ImportView:
    """Upload a CSV or XLSX file; nothing is imported yet. The answer suggests what its columns are."""
    form = UploadForm(act.request)
    if not await form.find_file():
        raise invalid("body.file", "there is no file in the upload", "missing")
    id_ = act.runtime.ids.new()
    threads = act.runtime.library.threads
    with tempfile.TemporaryDirectory(
        prefix="cadenza-import-", dir=act.runtime.library.desk.scratch
    ) as folder:
        path = Path(folder) / "file"
        digest, size = await _receive(act, form, path)
        await form.finish()
        kind = form.fields.get("kind", "contacts")
        if kind not in ("contacts", "channels"):
            raise invalid("body.kind", "contacts or channels", "kind")
        act.body = json.dumps([sorted(form.fields.items()), digest]).encode()
        await act.claim_key()
        format_, head = await threads.call(_look, {"path": path, "folder": Path(folder)})
        if isinstance(head, Unreadable):
            raise Problem(422, "unreadable", head.message)
        name = f"imports/{id_}.{format_}"
        await act.runtime.library.storage.write(name, path, mime="text/csv", sha256=digest)
    made = await act.runtime.operations.run(
        lambda tx, now: imports.add_import(
            tx,
            now,
            head,
            workspace_id=workspace_id,
            id_=id_,
            kind="channels" if kind == "channels" else "contacts",
            name=_plain(form.filename or "file"),
            format_=format_,
            size=size,
            by=act.by,
        )
    )
    return await act.save_response(show(ImportView, made))


@routes.get("/{import_id}", needs=Role.VIEWER, scope="contacts:read")
async def show_import(ask: Reader, workspace_id: Id, import_id: Id) -> ImportView:
    """Show how far an import is."""
    return await ask.read(lambda tx, _: _one(ask, tx, import_id))


@routes.get("/{import_id}/rows", needs=Role.VIEWER, scope="contacts:read")
async def list_rows(
    ask: Reader,
    workspace_id: Id,
    import_id: Id,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> ImportRows:
    """List what became of rows: all of them in a dry run, else those not simply created."""

    def operation(tx: Tx, _: datetime) -> ImportRows:
        _one(ask, tx, import_id)
        rows = imports.list_rows(
            tx, workspace_id=workspace_id, import_id=import_id, after=after, limit=limit + 1
        )
        items = [_row(row) for row in rows[:limit]]
        return ImportRows(items=items, next=items[-1].row if len(rows) > limit else None)

    return await ask.read(operation)


@routes.get(
    "/{import_id}/report",
    needs=Role.VIEWER,
    scope="contacts:read",
    response_class=StreamingResponse,
    responses={200: {"description": "A CSV file", "content": {"text/csv": {}}}},
)
async def download_report(ask: Reader, workspace_id: Id, import_id: Id) -> StreamingResponse:
    """Download the report as CSV."""
    await ask.read(lambda tx, _: _one(ask, tx, import_id))
    return StreamingResponse(
        _report(ask, import_id),
        headers={"content-disposition": 'attachment; filename="import-report.csv"'},
        media_type="text/csv",
    )


@routes.post("/{import_id}/try", needs=Role.EDITOR, scope="contacts:write")
async def try_import(
    act: Writer, workspace_id: Id, import_id: Id, body: ImportOptions
) -> ImportView:
    """Read the whole file and report on every row, without changing a contact."""
    return await _start(act, import_id, body, dry_run=True)


@routes.post("/{import_id}/start", needs=Role.EDITOR, scope="contacts:write")
async def start_import(
    act: Writer, workspace_id: Id, import_id: Id, body: ImportOptions
) -> ImportView:
    """Import the file in the background. What its columns are is remembered for the next one."""
    return await _start(act, import_id, body, dry_run=False)


@routes.post("/{import_id}/cancel", needs=Role.EDITOR, scope="contacts:write")
async def cancel_import(act: Writer, workspace_id: Id, import_id: Id) -> ImportView:
    """Stop an import; what it wrote stays, and can be undone."""

    def operation(tx: Tx, now: datetime) -> ImportView:
        answer = imports.cancel_import(
            tx, now, workspace_id=workspace_id, import_id=import_id, by=act.by
        )
        return _shown(answer)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


@routes.post("/{import_id}/undo", needs=Role.EDITOR, scope="contacts:write")
async def undo_import(act: Writer, workspace_id: Id, import_id: Id) -> ImportView:
    """Take an import back within a day; contacts that somebody changed since are left."""

    def operation(tx: Tx, now: datetime) -> ImportView:
        answer = imports.undo_import(
            tx, now, workspace_id=workspace_id, import_id=import_id, by=act.by
        )
        return _shown(answer)

    return await act.write(operation, locks=[contacts_lock(workspace_id)])


async def _start(act: Writer, import_id: str, body: ImportOptions, *, dry_run: bool) -> ImportView:
    def operation(tx: Tx, now: datetime) -> ImportView:
        there = imports.find_import(tx, act.workspace_id, import_id)
        if isinstance(there, NoSuchImport):
            raise not_found("import")
        answer = imports.start_import(
            tx,
            now,
            workspace_id=act.workspace_id,
            import_id=import_id,
            mapping=there.suggested if body.mapping is None else body.mapping,
            options=body.options(),
            by=act.by,
            dry_run=dry_run,
        )
        return _shown(answer)

    return await act.write(operation, locks=[contacts_lock(act.workspace_id)])


def _shown(answer: object) -> ImportView:
    match answer:
        case Import():
            return show(ImportView, answer)
        case NoSuchImport():
            raise not_found("import")
        case imports.NotNow(state=state):
            raise conflict(
                "not_now", f"This import is {state}: it cannot be done now.", state=state
            )
        case imports.UndoOver():
            raise conflict("undo_over", "A day has gone by: it can no longer be undone.")
        case Invalid():
            raise refuse_invalid([answer])
        case _:
            raise refuse_audience(answer)


def _one(ask: ReadContext, tx: Tx, import_id: str) -> ImportView:
    return _shown(imports.find_import(tx, ask.workspace_id, import_id))


def _row(row: Row) -> ImportRowView:
    return ImportRowView(
        row=row["row_number"],
        verdict=row["verdict"],
        code=row["code"],
        message=SENTENCES.get(row["code"] or ""),
        column=row["column_name"],
        value=row["value"],
        contact_id=row["contact_id"],
    )


async def _report(ask: ReadContext, import_id: str) -> AsyncIterator[bytes]:
    yield csv_head(("row", "verdict", "code", "message", "column", "value", "contact_id"))
    after: int | None = 0
    while after is not None:
        rows = await ask.runtime.operations.read(
            lambda tx, _, after=after: imports.list_rows(
                tx, workspace_id=ask.workspace_id, import_id=import_id, after=after, limit=2_000
            )
        )
        yield b"".join(csv_line(_row(row).model_dump().values()) for row in rows)
        after = rows[-1]["row_number"] if len(rows) == 2_000 else None


async def _receive(act: ReadContext, form: UploadForm, path: Path) -> tuple[str, int]:
    hashed, size, waiting = hashlib.sha256(), 0, bytearray()
    threads = act.runtime.library.threads
    await threads.call(path.touch, {})
    async for piece in form.file():
        size += len(piece)
        if size > MOST:
            raise Problem(413, "too_large", f"A file may have {MOST // MIB} MB: split it.")
        hashed.update(piece)
        waiting += piece
        if len(waiting) >= PIECE:
            await threads.call(_append, {"path": path, "data": bytes(waiting)})
            waiting.clear()
    await threads.call(_append, {"path": path, "data": bytes(waiting)})
    return hashed.hexdigest(), size


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _look(path: Path, folder: Path) -> tuple[str, Head | Unreadable]:
    """Say what kind of file it is, and how it begins."""
    with path.open("rb") as file:
        start = file.read(4)
    if start[:2] != b"PK":
        return "csv", read_head(path)
    table = folder / "head.csv"
    wrong = convert_xlsx(path, table, most_rows=SAMPLES + 1)
    return "xlsx", wrong or read_head(table)


def _plain(name: str) -> str:
    kept = "".join(
        sign for sign in name.replace("\\", "/").rpartition("/")[2] if sign.isprintable()
    )
    return kept[:200] or "file"
