"""Workspaces: make one, change it, stop everything that leaves it, let it go on."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from pydantic import ConfigDict, Field, StringConstraints, model_validator

from cadenza.api.problems import not_found
from cadenza.api.queue_schemas import MovedView, refuse
from cadenza.api.queue_schemas import show as show_value
from cadenza.api.request_context import Reader, Writer
from cadenza.api.routes import PERSON, Resource
from cadenza.api.schemas import Answer, Id, InputModel, Line, ZoneName, loads
from cadenza.people import workspaces
from cadenza.people.daily_limits import Addition
from cadenza.people.model import Role
from cadenza.queues import stop as stop_all
from cadenza.queues.model import NoRoom
from cadenza.queues.model import locks as queue_locks
from cadenza.queues.resume import ResumeChoice
from cadenza.queues.workspace_max import AppliedMax, apply_workspace_max, queues_without_max
from cadenza.sql.tx import Row, Tx

routes = Resource("workspaces", "/workspaces")
_NEVER_NONE = frozenset({"name", "zone", "active", "approval", "hashtags", "postal_address"})


class Workspace(Answer):
    """A workspace: people, accounts and content that belong together."""

    id: str
    name: str
    zone: str
    active: bool
    approval: Literal["author", "required"] = Field(
        description="author: an editor's save approves; required: somebody has to approve"
    )
    hashtags: list[str] = Field(description="Of the brand, on every post")
    max_per_day: int | None = Field(description="Posts a day of an account that names no number")
    recipient_cap: int | None = Field(description="Messages to one recipient within the days")
    recipient_cap_days: int | None
    postal_address: str = Field(description="What mails to many show: who writes from where")
    stopped_at: datetime | None
    stop_reason: str | None
    created_at: datetime
    role: str | None = Field(default=None, description="One's own role in it, where it is listed")
    moved: list[MovedView] = Field(
        default=[], description="Of a change: posts that a lower maximum moves to other days"
    )


PostalAddress = Annotated[
    str, StringConstraints(max_length=500, strip_whitespace=True, pattern=r"^[^\x00]*$")
]


class NewWorkspace(InputModel):
    """A workspace to make."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "Ada and friends", "zone": "Europe/Berlin"}]}
    )
    name: Line
    zone: ZoneName = "UTC"


class WorkspaceChange(InputModel):
    """What to change of a workspace."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Ada and more friends"}]})
    name: Line | None = None
    zone: ZoneName | None = None
    active: bool | None = Field(default=None, strict=True)
    approval: Literal["author", "required"] | None = None
    hashtags: list[Line] | None = Field(default=None, max_length=50)
    max_per_day: int | None = Field(default=None, ge=1, le=500, strict=True)
    recipient_cap: int | None = Field(default=None, ge=1, le=1000, strict=True)
    recipient_cap_days: int | None = Field(default=None, ge=1, le=365, strict=True)
    postal_address: PostalAddress | None = None

    @model_validator(mode="after")
    def _says_both(self) -> "WorkspaceChange":
        given = self.model_fields_set
        if ("recipient_cap" in given) != ("recipient_cap_days" in given) or (
            (self.recipient_cap is None) != (self.recipient_cap_days is None)
        ):
            raise ValueError("give recipient_cap and recipient_cap_days together, or null for both")
        missing = [name for name in _NEVER_NONE & given if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{', '.join(sorted(missing))} cannot be null: leave it out")
        return self

    def changes(self) -> dict[str, Any]:
        """Return what was given, as it is stored."""
        said = self.model_dump(exclude_unset=True)
        if "hashtags" in said:
            said["hashtags"] = msgspec.json.encode(said["hashtags"]).decode()
        return said


class Start(InputModel):
    """What becomes of what came due while everything was stopped."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "shift"}]})
    choice: ResumeChoice = ResumeChoice.SHIFT


class Stop(InputModel):
    """Why everything is stopped."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"reason": "wrong link in all posts"}]}
    )
    reason: Line


@routes.get(needs=PERSON)
async def list_own(ask: Reader) -> list[Workspace]:
    """List the workspaces that one is in."""
    rows = await ask.read(
        lambda tx, now: workspaces.list_workspaces(tx, now, person_id=ask.person_id)
    )
    return [_show(row) for row in rows]


@routes.post(needs=PERSON, status_code=201)
async def create(act: Writer, body: NewWorkspace) -> Workspace:
    """Make a workspace and become its owner."""

    def operation(tx: Tx, now: datetime) -> Workspace:
        act.count_addition(tx, now, Addition.WORKSPACE)
        approval = act.runtime.settings.first_approval
        new = workspaces.NewWorkspace(
            id=tx.new_id(), name=body.name, zone=body.zone, approval=approval
        )
        workspaces.create_workspace(tx, now, new=new, by=act.by)
        workspaces.add_member(
            tx, now, workspace_id=new.id, person_id=act.person_id, role=Role.OWNER, by=act.by
        )
        return _one(tx, now, new.id)

    return await act.write(operation)


@routes.get("/{workspace_id}", needs=Role.VIEWER, scope="workspace:read")
async def show(ask: Reader, workspace_id: Id) -> Workspace:
    """Show a workspace."""
    return ask.tag(await ask.read(lambda tx, now: _one(tx, now, workspace_id)))


@routes.patch("/{workspace_id}", needs=Role.ADMIN, scope="workspace:write")
async def change(act: Writer, workspace_id: Id, body: WorkspaceChange) -> Workspace:
    """Change name, zone, approval, the brand's hashtags, posts a day, or whether rules serve it."""
    sets_max = "max_per_day" in body.model_fields_set
    queues = (
        await act.read(lambda tx, now: queues_without_max(tx, now, workspace_id=workspace_id))
        if sets_max
        else []
    )

    def operation(tx: Tx, now: datetime) -> Workspace:
        act.check_match(_one(tx, now, workspace_id))
        applied = AppliedMax(())
        if sets_max:
            applied = apply_workspace_max(
                tx, now, workspace_id=workspace_id, max_per_day=body.max_per_day, by=act.by
            )
        if isinstance(applied, NoRoom):
            refuse(applied)
        workspaces.change_workspace(
            tx,
            now,
            workspace_id=workspace_id,
            changes=body.changes(),
            by=act.by,
        )
        saved = act.tag(_one(tx, now, workspace_id))
        moved = [show_value(MovedView, each) for each in applied.moved]
        return saved.model_copy(update={"moved": moved})

    held = [workspaces.lock_of(workspace_id), *queue_locks(workspace_id, *queues)]
    return await act.write(operation, locks=held)


@routes.post("/{workspace_id}/stop", needs=Role.EDITOR, scope="workspace:write")
async def stop(act: Writer, workspace_id: Id, body: Stop) -> Workspace:
    """Let nothing leave from now on, with a reason for all to see."""

    def operation(tx: Tx, now: datetime) -> Workspace:
        stop_all.stop(tx, now, workspace_id=workspace_id, reason=body.reason, by=act.by)
        return _one(tx, now, workspace_id)

    return await act.write(operation)


@routes.post("/{workspace_id}/start", needs=Role.ADMIN, scope="workspace:write")
async def start(act: Writer, workspace_id: Id, body: Start) -> Workspace:
    """Let things leave again; what came due meanwhile is shifted, sent spaced, or taken back."""
    accounts = await act.read(
        lambda tx, now: stop_all.all_accounts(tx, now, workspace_id=workspace_id)
    )

    def operation(tx: Tx, now: datetime) -> Workspace:
        stop_all.start(tx, now, workspace_id=workspace_id, by=act.by, choice=body.choice)
        return _one(tx, now, workspace_id)

    return await act.write(operation, locks=stop_all.start_locks(workspace_id, accounts))


def _one(tx: Tx, now: datetime, workspace_id: str) -> Workspace:
    row = workspaces.show_workspace(tx, now, workspace_id=workspace_id)
    if row is None:
        raise not_found("workspace")
    return _show(row)


def _show(row: Row) -> Workspace:
    known = {name: row[name] for name in Workspace.model_fields if name in row}
    return Workspace(**known | {"hashtags": loads(row["hashtags"])})
