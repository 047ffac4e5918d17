"""Workspaces and who is in them: create and change; members, their roles and their leaving.

The last owner of a workspace cannot leave or be made less. Nobody gives a role above their own, or
changes somebody whose role is above their own. Keys that a member made end with the membership, and so do
their open invitations; one who is made less leaves only those open that they could still give.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cadenza.core.zones import get_zone
from cadenza.db.audit import record
from cadenza.people.model import Done, Missing, PersonRefusal, Role
from cadenza.sql.tx import Row, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWorkspace:
    """A workspace as a person asks for it."""

    id: str
    name: str
    zone: str
    approval: str = "author"


INVITES = Role.ADMIN  # the least role that invites others
CHANGEABLE = (
    *("name", "zone", "active", "approval", "hashtags", "max_per_day"),
    *("recipient_cap", "recipient_cap_days", "postal_address"),
)


def lock_of(workspace_id: str) -> str:
    """Name the lock under which members are counted and changed."""
    return f"people:{workspace_id}"


def create_workspace(tx: Tx, now: datetime, *, new: NewWorkspace, by: str) -> str:
    """Add a workspace; return its id."""
    get_zone(new.zone)
    tx.run(
        """
        INSERT INTO workspace (id, name, zone, approval, created_at)
        VALUES (:id, :name, :zone, :approval, :now)
        """,
        id=new.id,
        name=new.name,
        zone=new.zone,
        approval=new.approval,
        now=now,
    )
    after = {"name": new.name, "zone": new.zone, "approval": new.approval}
    record(
        tx,
        now,
        workspace_id=new.id,
        by=by,
        action="workspace.create",
        subject_id=new.id,
        after=after,
    )
    return new.id


def change_workspace(
    tx: Tx, now: datetime, *, workspace_id: str, changes: Mapping[str, Any], by: str
) -> Done | Missing:
    """Change what is given, by the names of `CHANGEABLE`; what is not given stays as it is."""
    row = show_workspace(tx, now, workspace_id=workspace_id)
    if row is None:
        return Missing()
    if changes.get("zone") is not None:
        get_zone(changes["zone"])
    after = {name: changes.get(name, row[name]) for name in CHANGEABLE}
    wanted = ", ".join(f"{name} = :{name}" for name in CHANGEABLE)
    tx.run(
        f"UPDATE workspace SET {wanted} WHERE id = :id",  # noqa: S608 - constants
        id=workspace_id,
        **after,
    )
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="workspace.change",
        subject_id=workspace_id,
        before={name: row[name] for name in changes},
        after={name: after[name] for name in changes},
    )
    return Done(workspace_id)


def show_workspace(tx: Tx, now: datetime, *, workspace_id: str) -> Row | None:
    """Show one."""
    return tx.one("SELECT * FROM workspace WHERE id = :id", id=workspace_id)


def list_workspaces(tx: Tx, now: datetime, *, person_id: str) -> list[Row]:
    """List those that a person is in, with their role."""
    return tx.all(
        """
        SELECT workspace.*, member.role, member.id AS member_id FROM member
        JOIN workspace ON workspace.id = member.workspace_id
        WHERE member.person_id = :person_id ORDER BY workspace.name, workspace.id
        """,
        person_id=person_id,
    )


def add_member(
    tx: Tx, now: datetime, *, workspace_id: str, person_id: str, role: Role, by: str
) -> str:
    """Put a person into a workspace, or give the member of the same address their person."""
    id_: str = tx.value(
        """
        INSERT INTO member (workspace_id, id, email, name, role, created_at, person_id)
        SELECT :workspace_id, :id, email, name, :role, :now, id FROM person WHERE id = :person_id
        ON CONFLICT (workspace_id, email)
        DO UPDATE SET person_id = excluded.person_id, role = excluded.role, name = excluded.name
        RETURNING id
        """,
        workspace_id=workspace_id,
        id=tx.new_id(),
        role=role.value,
        now=now,
        person_id=person_id,
    )
    after = {"role": role.value}
    record(
        tx, now, workspace_id=workspace_id, by=by, action="member.add", subject_id=id_, after=after
    )
    return id_


def list_members(tx: Tx, now: datetime, *, workspace_id: str) -> list[Row]:
    """List the members of a workspace by name."""
    return tx.all(
        """
        SELECT member.id, member.email, member.name, member.role, member.created_at, person.totp_on
        FROM member LEFT JOIN person ON person.id = member.person_id
        WHERE member.workspace_id = :workspace_id ORDER BY member.name, member.id
        """,
        workspace_id=workspace_id,
    )


def change_role(
    tx: Tx, now: datetime, *, workspace_id: str, member_id: str, role: Role, own: Role, by: str
) -> Done | Missing | PersonRefusal:
    """Give a member another role. Run under `lock_of(workspace_id)`."""
    row = _member(tx, workspace_id, member_id)
    if row is None:
        return Missing()
    refusal = _judge(tx, workspace_id, row, own, wanted=role)
    if refusal is not None:
        return refusal
    tx.run(
        "UPDATE member SET role = :role WHERE workspace_id = :workspace_id AND id = :id",
        role=role.value,
        workspace_id=workspace_id,
        id=member_id,
    )
    if not role.covers(Role(row["role"])):
        _end_keys(tx, now, workspace_id, member_id)
        _end_invitations(tx, now, workspace_id, member_id, gives=role, by=by)
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="member.role",
        subject_id=member_id,
        before={"role": row["role"]},
        after={"role": role.value},
    )
    return Done(member_id)


def remove_member(
    tx: Tx, now: datetime, *, workspace_id: str, member_id: str, own: Role, by: str
) -> Done | Missing | PersonRefusal:
    """Let a member go, with the keys they made and the invitations they sent. Run under `lock_of(workspace_id)`."""
    row = _member(tx, workspace_id, member_id)
    if row is None:
        return Missing()
    refusal = _judge(tx, workspace_id, row, own, wanted=None)
    if refusal is not None:
        return refusal
    _end_keys(tx, now, workspace_id, member_id)
    _end_invitations(tx, now, workspace_id, member_id, gives=None, by=by)
    key = {"workspace_id": workspace_id, "id": member_id}
    tx.run(
        "DELETE FROM notice_choice WHERE workspace_id = :workspace_id AND member_id = :id", **key
    )
    tx.run("DELETE FROM member WHERE workspace_id = :workspace_id AND id = :id", **key)
    before = {"email": row["email"], "role": row["role"]}
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="member.remove",
        subject_id=member_id,
        before=before,
    )
    return Done(member_id)


def _member(tx: Tx, workspace_id: str, member_id: str) -> Row | None:
    return tx.one(
        "SELECT * FROM member WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=member_id,
    )


def _judge(
    tx: Tx, workspace_id: str, row: Row, own: Role, *, wanted: Role | None
) -> PersonRefusal | None:
    """Find what forbids a change of a member: a role above one's own, or the last owner."""
    if not own.covers(Role(row["role"])) or (wanted is not None and not own.covers(wanted)):
        return PersonRefusal("ask somebody whose role is at least as high", "above_you")
    if row["role"] == Role.OWNER and wanted is not Role.OWNER:
        owners = tx.value(
            "SELECT count(*) FROM member WHERE workspace_id = :workspace_id AND role = 'owner'",
            workspace_id=workspace_id,
        )
        if owners < 2:
            return PersonRefusal(
                "a workspace keeps one owner: make somebody else one first", "last_owner"
            )
    return None


def _end_keys(tx: Tx, now: datetime, workspace_id: str, member_id: str) -> None:
    tx.run(
        """
        UPDATE api_key SET revoked_at = :now
        WHERE workspace_id = :workspace_id AND member_id = :member_id AND revoked_at IS NULL
        """,
        now=now,
        workspace_id=workspace_id,
        member_id=member_id,
    )


def _end_invitations(
    tx: Tx, now: datetime, workspace_id: str, member_id: str, *, gives: Role | None, by: str
) -> None:
    """End a member's open invitations to roles that they may not give any more."""
    rows = tx.all(
        """
        SELECT id, email, role FROM invitation
        WHERE workspace_id = :workspace_id AND invited_by = :inviter
            AND used_at IS NULL AND revoked_at IS NULL AND ends_at > :now
        ORDER BY created_at, id
        """,
        workspace_id=workspace_id,
        inviter=f"member:{member_id}",
        now=now,
    )
    for row in rows:
        if gives is not None and gives.covers(INVITES) and gives.covers(Role(row["role"])):
            continue
        tx.run(
            """
            UPDATE invitation SET revoked_at = :now
            WHERE workspace_id = :workspace_id AND id = :id AND used_at IS NULL
            """,
            now=now,
            workspace_id=workspace_id,
            id=row["id"],
        )
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="invitation.revoke",
            subject_id=row["id"],
            before={"email": row["email"], "role": row["role"]},
            after={"because": "its inviter may not give this role any more"},
        )
