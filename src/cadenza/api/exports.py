"""A workspace taken along whole: a ZIP of its tables as JSON Lines and CSV.

`POST /exports` packs it in the background: it shows how far it is, can be downloaded for three days, by whoever
may export, and survives a closed window. `GET /export` streams the same while it is read, for programs.
Credentials and tokens stay behind (`db/exported.py`). Who may read everything may take it: an admin, or a key
with that scope which is bound to no accounts.
"""

from datetime import UTC, datetime

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from cadenza.api.problems import Problem, not_found
from cadenza.api.request_context import ReadContext, Reader, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Id
from cadenza.api.send_file import FileToSend, send_file
from cadenza.bootstrap.pack_export import NAME
from cadenza.people.model import Role
from cadenza.posts import export_requests
from cadenza.posts.export import export_workspace

routes = Resource("exports", "/workspaces/{workspace_id}")
ZIP = {200: {"description": "A ZIP file", "content": {"application/zip": {}}}}


class ExportView(Answer):
    """An export that is packed in the background."""

    id: str
    state: str = Field(description="waiting, running, ready or failed")
    reason: str | None = Field(description="Why it failed")
    percent: int
    rows_done: int
    rows_total: int = Field(description="0: not counted yet")
    bytes: int | None
    asked_by: str
    asked_at: datetime
    finished_at: datetime | None
    expires_at: datetime | None = Field(description="Until then it can be downloaded")


@routes.get(
    "/export",
    needs=Role.ADMIN,
    scope="export:read",
    response_class=StreamingResponse,
    responses=ZIP,
)
async def export(ask: Reader, workspace_id: Id) -> StreamingResponse:
    """Give out everything that is the workspace's own; `posts.csv` in it can be imported again."""
    _check(ask)
    name = _name(workspace_id, ask.runtime.clock.now())
    return StreamingResponse(
        export_workspace(ask.runtime.operations, workspace_id),
        headers={"content-disposition": f'attachment; filename="{name}"'},
        media_type="application/zip",
    )


@routes.post("/exports", needs=Role.ADMIN, scope="export:write", status_code=202)
async def begin_export(act: Writer, workspace_id: Id) -> ExportView:
    """Pack an export in the background; one that is at work already is answered instead."""
    _check(act)
    shown = await act.write(
        lambda tx, now: _shown(
            export_requests.request_export(tx, now, workspace_id=workspace_id, by=act.by)[0]
        ),
        locks=[f"export:{workspace_id}"],
    )
    if not act.dry_run:
        # Asked once more it is the same job: one that a crash kept from being asked for is made up for here.
        await act.runtime.engine.enqueue(
            NAME,
            {"workspace_id": workspace_id, "export_id": shown.id},
            unique=f"export:{shown.id}",
        )
    return shown


@routes.get("/exports", needs=Role.ADMIN, scope="export:read")
async def list_exports(ask: Reader, workspace_id: Id) -> list[ExportView]:
    """List exports that are at work or can be downloaded, newest first."""
    found = await ask.read(
        lambda tx, now: export_requests.list_exports(tx, now, workspace_id=workspace_id)
    )
    return [_shown(each) for each in found]


@routes.get("/exports/{export_id}", needs=Role.ADMIN, scope="export:read")
async def show_export(ask: Reader, workspace_id: Id, export_id: Id) -> ExportView:
    """Show how far an export is."""
    return _shown(await _find(ask, workspace_id, export_id))


@routes.get(
    "/exports/{export_id}/file",
    needs=Role.ADMIN,
    scope="export:read",
    response_class=Response,
    responses=ZIP,
)
async def download_export(ask: Reader, workspace_id: Id, export_id: Id) -> Response:
    """Download an export that is ready."""
    _check(ask)
    found = await _find(ask, workspace_id, export_id)
    if found.state != "ready":
        raise Problem(409, "not_ready", "This export is not ready yet: ask again in a moment.")
    to_send = FileToSend(
        file=found.file,
        mime="application/zip",
        name=_name(workspace_id, found.asked_at),
        etag=f'"{found.id}"',
        cache="private, no-store",
    )
    return await send_file(ask.request, ask.runtime.library.storage, to_send)


async def _find(ask: ReadContext, workspace_id: str, export_id: str) -> export_requests.Export:
    found = await ask.read(
        lambda tx, now: export_requests.find_export(
            tx, now, workspace_id=workspace_id, export_id=export_id
        )
    )
    if found is None:
        raise not_found("export")
    return found


def _check(ask: ReadContext) -> None:
    if ask.caller.accounts is not None:
        raise Problem(403, "all_accounts_needed", "A key bound to accounts cannot export.")


def _name(workspace_id: str, at: datetime) -> str:
    day = at.astimezone(UTC).date().isoformat()
    return f"{workspace_id.replace(':', '-').replace('@', '-')}-{day}.zip"


def _shown(export: export_requests.Export) -> ExportView:
    return ExportView(
        id=export.id,
        state=export.state,
        reason=export.reason,
        percent=export.percent,
        rows_done=export.rows_done,
        rows_total=export.rows_total,
        bytes=export.bytes,
        asked_by=export.asked_by,
        asked_at=export.asked_at,
        finished_at=export.finished_at,
        expires_at=export.expires_at,
    )
