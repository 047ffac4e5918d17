"""A workspace taken along whole: a ZIP of its tables as JSON Lines and CSV, streamed while it is read.

Credentials and tokens stay behind (`db/exported.py`). Who may read everything may take it: an admin, or a key
with that scope which is bound to no accounts.
"""

from datetime import UTC

from starlette.responses import StreamingResponse

from cadenza.api.ask import Ask
from cadenza.api.declare import Resource
from cadenza.api.problems import Problem
from cadenza.api.shape import Id
from cadenza.people.model import Role
from cadenza.posts.export import export_workspace

routes = Resource("exports", "/workspaces/{workspace_id}")
ZIP = {200: {"description": "A ZIP file", "content": {"application/zip": {}}}}


@routes.get(
    "/export",
    needs=Role.ADMIN,
    scope="export:read",
    response_class=StreamingResponse,
    responses=ZIP,
)
async def export(ask: Ask, workspace_id: Id) -> StreamingResponse:
    """Give out everything that is the workspace's own; `posts.csv` in it can be imported again."""
    if ask.caller.accounts is not None:
        raise Problem(403, "all_accounts_needed", "A key bound to accounts cannot export.")
    day = ask.house.clock.now().astimezone(UTC).date().isoformat()
    name = f"{workspace_id.replace(':', '-').replace('@', '-')}-{day}.zip"
    return StreamingResponse(
        export_workspace(ask.house.operations, workspace_id),
        headers={"content-disposition": f'attachment; filename="{name}"'},
        media_type="application/zip",
    )
