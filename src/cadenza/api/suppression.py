"""Suppression: whom the workspace must not write to. It takes effect at once, on what is scheduled too."""

from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import ConfigDict, Field, StringConstraints

from cadenza.api.contact_schemas import ChannelName, Short, refuse_invalid
from cadenza.api.problems import Problem, not_found
from cadenza.api.queue_schemas import AnswerView, ValueView, show
from cadenza.api.request_context import Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id, InputModel, Line, Page, Paged, PageInput, cursor_at
from cadenza.contacts import suppress as suppressions
from cadenza.contacts.model import Invalid
from cadenza.contacts.suppress import (
    ALL,
    MOST_ROWS,
    NewSuppression,
    Place,
    SuppressionKind,
    SuppressionReason,
)
from cadenza.contacts.suppression_file import read_file, write_file
from cadenza.people.model import Role
from cadenza.sql.tx import Tx

routes = Resource("suppression", "/workspaces/{workspace_id}/suppression")
KEY = {"kind": "address", "value": "ben@example.org"}
Text = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Starts = Annotated[str, Query(max_length=254, pattern=r"^[^\x00]*$")]
ChannelFilter = Annotated[str | None, Query(max_length=30, pattern=r"^[a-z0-9_]*$")]


class SuppressionKey(InputModel):
    """What is meant: an address, a domain or a handle, on one channel or on all."""

    kind: SuppressionKind
    value: Text
    channel: ChannelName = Field(default=ALL, description="`all`, or one such as telegram")


class SuppressionInput(SuppressionKey):
    """Whom not to write to any more, and why."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**KEY, "reason": "manual"}]})
    reason: SuppressionReason = SuppressionReason.MANUAL
    note: Short = ""


class SuppressionRemoval(SuppressionKey):
    """What to remove; without a reason, whatever the reason was."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{**KEY, "why": "Ben asked us to write again"}]}
    )
    reason: SuppressionReason | None = None
    why: Line = Field(description="Kept in the audit log")


class SuppressionView(AnswerView):
    """Whom not to write to."""

    kind: SuppressionKind
    value: str = Field(description="The one spelling; a handle without its @")
    channel: str
    reason: SuppressionReason
    note: str
    created_by: str
    created_at: datetime


class SuppressionRemoved(Answer):
    """How many rows were removed: one for each reason."""

    removed: int


class SuppressionCsvInput(InputModel):
    """Up to 1,000 lines of CSV: value (or email), and kind, channel, reason, note where there are."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"csv": "value\nben@example.org\n"}]})
    csv: Annotated[str, StringConstraints(min_length=1, max_length=600_000)]


class RefusedLineView(ValueView):
    """A line that was left out, and why."""

    line: int
    column: str
    code: str
    message: str


class SuppressionImported(Answer):
    """What became of the lines."""

    added: int
    there_already: int
    refused: list[RefusedLineView]


class SuppressionCsv(Answer):
    """Up to 1,000 rows as CSV, newest first; `next` leads to the rest, which comes without a heading."""

    csv: str
    rows: int
    next: str | None


@routes.get(needs=Role.VIEWER, scope="contacts:read")
async def list_suppressions(
    ask: Reader,
    workspace_id: Id,
    page: Paged,
    *,
    kind: SuppressionKind | None = None,
    channel: ChannelFilter = None,
    reason: SuppressionReason | None = None,
    starts: Starts = "",
) -> Page[SuppressionView]:
    """List whom not to write to, newest first; `starts` is how values begin."""
    found = await ask.read(
        lambda tx, _: suppressions.list_suppressions(
            tx,
            workspace_id=workspace_id,
            kind=kind,
            channel=channel or None,
            reason=reason,
            starts=starts,
            after=_after(page),
            limit=page.limit + 1,
        )
    )
    last = found[page.limit - 1] if len(found) > page.limit else None
    return Page(
        items=[show(SuppressionView, each) for each in found[: page.limit]],
        next=None if last is None else cursor_at(*suppressions.place_of(last)),
    )


@routes.post(needs=Role.EDITOR, scope="contacts:write", status_code=201)
async def add_suppression(act: Writer, workspace_id: Id, body: SuppressionInput) -> SuppressionView:
    """Write to somebody no more, from now on; what is scheduled for them is skipped."""
    new = _read(body, body.reason, body.note)

    def operation(tx: Tx, now: datetime) -> SuppressionView:
        suppressions.suppress(tx, now, [new], workspace_id=workspace_id, by=act.by)
        found = suppressions.find_suppression(tx, workspace_id=workspace_id, new=new)
        return show(SuppressionView, found)

    return await act.write(operation)


@routes.post("/remove", needs=Role.ADMIN, scope="contacts:write")
async def remove_suppression(
    act: Writer, workspace_id: Id, body: SuppressionRemoval
) -> SuppressionRemoved:
    """Let somebody be written to again; who did it and why is kept in the audit log."""
    new = _read(body, SuppressionReason.MANUAL, "")

    def operation(tx: Tx, now: datetime) -> SuppressionRemoved:
        removed = suppressions.remove_suppression(
            tx, now, workspace_id=workspace_id, new=new, by=act.by, why=body.why, reason=body.reason
        )
        if not removed:
            raise not_found("suppression")
        return SuppressionRemoved(removed=removed)

    return await act.write(operation)


@routes.post("/import", needs=Role.EDITOR, scope="contacts:write")
async def import_suppression(
    act: Writer, workspace_id: Id, body: SuppressionCsvInput
) -> SuppressionImported:
    """Add up to 1,000 lines of CSV; lines that cannot be read are left out and named."""
    file = read_file(body.csv)
    if isinstance(file, Invalid):
        raise refuse_invalid([file])
    if len(file.rows) + len(file.refused) > MOST_ROWS:
        raise Problem(
            422, "too_many_rows", f"Send at most {MOST_ROWS} lines at a time: split the file."
        )

    def operation(tx: Tx, now: datetime) -> SuppressionImported:
        done = suppressions.suppress(tx, now, file.rows, workspace_id=workspace_id, by=act.by)
        return SuppressionImported(
            added=len(done.added),
            there_already=done.there_already,
            refused=[show(RefusedLineView, each) for each in file.refused],
        )

    return await act.write(operation)


@routes.get("/export", needs=Role.ADMIN, scope="contacts:export")
async def export_suppression(
    ask: Reader,
    workspace_id: Id,
    cursor: Annotated[str | None, Query(max_length=600, pattern=r"^[\w=-]+$")] = None,
) -> SuppressionCsv:
    """Write up to 1,000 rows as CSV, which can be imported again."""
    page = PageInput(MOST_ROWS, cursor)
    found = await ask.read(
        lambda tx, _: suppressions.list_suppressions(
            tx, workspace_id=workspace_id, after=_after(page), limit=page.limit + 1
        )
    )
    rows = found[: page.limit]
    more = len(found) > page.limit
    return SuppressionCsv(
        csv=write_file(rows, heading=cursor is None),
        rows=len(rows),
        next=cursor_at(*suppressions.place_of(rows[-1])) if more else None,
    )


def _read(body: SuppressionKey, reason: SuppressionReason, note: str) -> NewSuppression:
    found = suppressions.read_suppression(
        body.kind, body.value, channel=body.channel, reason=reason, note=note
    )
    if isinstance(found, Invalid):
        raise refuse_invalid([found])
    return found


def _after(page: PageInput) -> Place | None:
    if page.after is None:
        return None
    place = suppressions.read_place(*page.after)
    if place is None:
        raise Problem(422, "bad_cursor", "Use the `next` of the page before as the cursor.")
    return place
