"""Members of a workspace, their roles, and invitations to it.

Where no mail server is set, nobody would get the link of an invitation: it is then answered to who invites,
once, to be handed on. With one it goes to the invited address alone, which proves whose address it is.
"""

from datetime import datetime

from pydantic import ConfigDict, Field

from cadenza.api.problems import Problem, not_found, refuse
from cadenza.api.request_context import Reader, WriteContext, Writer
from cadenza.api.routes import Resource
from cadenza.api.schemas import Answer, Email, Id, InputModel, SecretView
from cadenza.people import invite, workspaces
from cadenza.people.change_password import email_row
from cadenza.people.daily_limits import Addition
from cadenza.people.model import Done, Role
from cadenza.people.tokens import draw_token
from cadenza.sql.tx import Row, Tx

routes = Resource("people", "/workspaces/{workspace_id}")


class Member(Answer):
    """A person's place in a workspace."""

    id: str
    email: str
    name: str
    role: Role
    second_factor: bool
    created_at: datetime


class RoleInput(InputModel):
    """The role that a member shall have."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"role": "editor"}]})
    role: Role


class Invite(InputModel):
    """Whom to invite, and as what."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"email": "cy@example.org", "role": "editor"}]}
    )
    email: Email
    role: Role = Role.EDITOR


class Invitation(Answer):
    """An open invitation."""

    id: str
    email: str
    role: Role
    invited_by: str
    created_at: datetime
    ends_at: datetime


class InvitationCreated(SecretView, Invitation):
    """A new invitation."""

    link: str | None = Field(
        default=None,
        description="Where no mail server is set: hand it on yourself, it works once, for a week",
    )


class Removed(Answer):
    """It is gone."""

    id: str


@routes.get("/members", needs=Role.VIEWER, scope="people:read")
async def list_members(ask: Reader, workspace_id: Id) -> list[Member]:
    """List the members."""
    rows = await ask.read(
        lambda tx, now: workspaces.list_members(tx, now, workspace_id=workspace_id)
    )
    return [_member(row) for row in rows]


@routes.put("/members/{member_id}/role", needs=Role.ADMIN)
async def change_role(act: Writer, workspace_id: Id, member_id: Id, body: RoleInput) -> Member:
    """Give a member another role, up to one's own; the last owner stays one."""

    def operation(tx: Tx, now: datetime) -> Member:
        answer = workspaces.change_role(
            tx,
            now,
            workspace_id=workspace_id,
            member_id=member_id,
            role=body.role,
            own=_own(act),
            by=act.by,
        )
        if not isinstance(answer, Done):
            refuse(answer, "member")
        rows = workspaces.list_members(tx, now, workspace_id=workspace_id)
        return next(_member(row) for row in rows if row["id"] == member_id)

    return await act.write(operation, locks=[workspaces.lock_of(workspace_id)])


@routes.delete("/members/{member_id}", needs=Role.ADMIN)
async def remove_member(act: Writer, workspace_id: Id, member_id: Id) -> Removed:
    """Let a member go; the keys they made end."""

    def operation(tx: Tx, now: datetime) -> Removed:
        answer = workspaces.remove_member(
            tx, now, workspace_id=workspace_id, member_id=member_id, own=_own(act), by=act.by
        )
        if not isinstance(answer, Done):
            refuse(answer, "member")
        return Removed(id=member_id)

    return await act.write(operation, locks=[workspaces.lock_of(workspace_id)])


@routes.post("/leave", needs=Role.VIEWER)
async def leave(act: Writer, workspace_id: Id) -> Removed:
    """Leave the workspace oneself."""
    own = act.caller.member_id

    def operation(tx: Tx, now: datetime) -> Removed:
        if own is None:
            raise not_found("member")
        answer = workspaces.remove_member(
            tx, now, workspace_id=workspace_id, member_id=own, own=_own(act), by=act.by
        )
        if not isinstance(answer, Done):
            refuse(answer, "member")
        return Removed(id=own)

    return await act.write(operation, locks=[workspaces.lock_of(workspace_id)])


@routes.get("/invitations", needs=Role.ADMIN, scope="people:read")
async def list_invitations(ask: Reader, workspace_id: Id) -> list[Invitation]:
    """List the open invitations."""
    rows = await ask.read(
        lambda tx, now: invite.list_invitations(tx, now, workspace_id=workspace_id)
    )
    return [Invitation(**row) for row in rows]


@routes.post("/invitations", needs=workspaces.INVITES, status_code=201)
async def invite_person(act: Writer, workspace_id: Id, body: Invite) -> InvitationCreated:
    """Invite an address; the mail carries a link that works once, for a week."""
    token = draw_token()
    settings = act.runtime.settings
    link = None if settings.mail.host or act.dry_run else invite.link(settings.home, token.text)

    def operation(tx: Tx, now: datetime) -> InvitationCreated:
        act.count_addition(tx, now, Addition.INVITATION, email=body.email)
        letter_id = tx.new_id()
        answer = invite.invite(
            tx,
            now,
            workspace_id=workspace_id,
            email=body.email,
            role=body.role,
            own=_own(act),
            token_hash=token.hash,
            letter_id=letter_id,
            sealed=act.runtime.keyring.seal(token.text, row=email_row(letter_id)),
            by=act.by,
        )
        if not isinstance(answer, Done):
            refuse(answer)
        rows = invite.list_invitations(tx, now, workspace_id=workspace_id)
        return next(InvitationCreated(**row, link=link) for row in rows if row["id"] == letter_id)

    return await act.write(operation, locks=[workspaces.lock_of(workspace_id)])


@routes.delete("/invitations/{invitation_id}", needs=Role.ADMIN)
async def revoke_invitation(act: Writer, workspace_id: Id, invitation_id: Id) -> Removed:
    """Take an open invitation back."""

    def operation(tx: Tx, now: datetime) -> Removed:
        answer = invite.revoke_invitation(
            tx, now, workspace_id=workspace_id, id=invitation_id, by=act.by
        )
        if not isinstance(answer, Done):
            refuse(answer, "invitation")
        return Removed(id=invitation_id)

    return await act.write(operation)


def _own(act: WriteContext) -> Role:
    if act.caller.role is None:
        raise Problem(403, "role_needed", "You have no role here.")
    return act.caller.role


def _member(row: Row) -> Member:
    return Member(
        id=row["id"],
        email=row["email"],
        name=row["name"],
        role=row["role"],
        second_factor=bool(row["totp_on"]),
        created_at=row["created_at"],
    )
