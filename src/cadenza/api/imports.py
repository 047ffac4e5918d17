"""Posts from a CSV file: tried first, then made, with a report for every row.

The same row makes one post, however often a file is sent. With `dry_run` everything is done and taken back,
so the report says what would happen. A key that is bound to accounts cannot import: rows name any account.
"""

import json
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from cadenza.api.problems import Fault, Problem, invalid
from cadenza.api.queue_schemas import ValueView, show
from cadenza.api.read_body import DEEPEST
from cadenza.api.read_upload import UploadForm
from cadenza.api.request_context import Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id
from cadenza.core.zones import UnknownZoneError, get_zone
from cadenza.people.model import Role
from cadenza.posts.import_csv import Order, Report, import_csv
from cadenza.posts.read_csv import COLUMNS, MOST_BYTES, Unreadable
from cadenza.queues.queue_imports import QUEUES

routes = Resource("imports", "/workspaces/{workspace_id}/imports")
AROUND = 128 * 1024  # bytes of the fields beside the file
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
                        "mapping": {
                            "type": "string",
                            "description": 'JSON: our column to the file\'s header, {"text": "Body"}; to "": none',
                        },
                        "zone": {
                            "type": "string",
                            "description": "Of times without one; left out: the workspace's",
                        },
                        "all_or_nothing": {"type": "string", "enum": ["true", "false"]},
                    },
                }
            }
        },
    }
}


class ColumnView(BaseModel):
    """A column that is read, and the headers that are taken for it."""

    name: str
    headers: list[str]


class RowDone(ValueView):
    """A row that is a post; `again`: it was one before."""

    row: int
    post_id: str
    approved: bool
    due_at: datetime | None
    again: bool
    notes: list[str]


class RowWrong(ValueView):
    """What is wrong with a row, and what to do; the header is row 1."""

    row: int
    column: str
    wrong: str
    todo: str


class Imported(Answer):
    """What became of each row; `taken_back`: all or nothing, so nothing was made."""

    made: int
    again: int
    done: list[RowDone]
    problems: list[RowWrong]
    columns: dict[str, str] = Field(description="Our column to the file's header")
    unknown: list[str] = Field(description="Headers that nothing was read from")
    taken_back: bool
    left: int = Field(default=0, description="Rows behind the last that a dry run tries")


@routes.get("/columns", needs=Role.VIEWER, scope="posts:read")
async def list_columns(ask: Reader, workspace_id: Id) -> list[ColumnView]:
    """List the columns that are read, for a mapping."""
    return [ColumnView(name=name, headers=list(known)) for name, known in COLUMNS.items()]


@routes.post(
    needs=Role.EDITOR,
    scope="posts:write",
    takes="upload",
    most=MOST_BYTES + AROUND,
    openapi_extra=FORM,
)
async def import_posts(act: Writer, workspace_id: Id) -> Imported:
    """Make the rows of a CSV file posts; a bad row stops no other unless all or nothing is wanted."""
    if act.caller.accounts is not None:
        raise Problem(403, "all_accounts_needed", "A key bound to accounts cannot import.")
    form = UploadForm(act.request)
    if not await form.find_file():
        raise invalid("body.file", "there is no file in the upload", "missing")
    data = b"".join([piece async for piece in form.file()])  # bounded by `most`
    await form.finish()
    order = _order(act, form.fields)
    act.body = json.dumps(sorted(form.fields.items())).encode() + data
    await act.claim_key()
    answer = await import_csv(act.runtime.operations, data, order, queues=QUEUES)
    if isinstance(answer, Unreadable):
        message = f"{answer.wrong}: {answer.todo}"
        fault = Fault(path="body.file", message=message, code="unreadable")
        raise Problem(422, "unreadable", f"{message[:1].upper()}{message[1:]}.", errors=[fault])
    return await act.save_response(_shown(answer))


def _shown(report: Report) -> Imported:
    return Imported(
        made=report.made,
        again=report.again,
        done=[show(RowDone, each) for each in report.done],
        problems=[show(RowWrong, each) for each in report.problems],
        columns=dict(report.columns),
        unknown=list(report.unknown),
        taken_back=report.taken_back,
        left=report.left,
        dry_run=report.dry_run,
    )


def _order(act: WriteContext, fields: dict[str, str]) -> Order:
    strange = sorted(set(fields) - {"mapping", "zone", "all_or_nothing"})
    if strange:
        raise invalid(f"body.{strange[0][:50]}", "there is no such field", "extra_forbidden")
    zone = fields.get("zone", "").strip() or None
    if zone is not None:
        try:
            get_zone(zone)
        except UnknownZoneError as error:
            raise invalid("body.zone", str(error), "unknown_zone") from error
    whole = fields.get("all_or_nothing", "false").strip().lower()
    if whole not in ("true", "false"):
        raise invalid("body.all_or_nothing", "it is true or false", "bool")
    return Order(
        workspace_id=act.workspace_id,
        by=act.by,
        zone=zone,
        mapping=_mapping(fields.get("mapping", "")),
        all_or_nothing=whole == "true",
        dry_run=act.dry_run,
        files=act.runtime.files,
    )


def _mapping(text: str) -> dict[str, str] | None:
    if not text.strip():
        return None
    try:
        said = json.loads(text) if text.count("[") + text.count("{") <= DEEPEST else None
    except ValueError:
        said = None
    if not isinstance(said, dict) or not all(isinstance(each, str) for each in said.values()):
        raise invalid("body.mapping", 'it is JSON such as {"text": "Body"}', "mapping")
    return said
