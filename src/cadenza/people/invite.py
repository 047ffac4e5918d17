"""Inviting somebody into a workspace: a hashed single-use token, mailed, good for a week.

Whoever holds the token joins with the invited address. Somebody who is here already must prove it by
being signed in as that address; a new person chooses a name and a password. One open invitation an
address and workspace: inviting again replaces the one before.
"""

from datetime import datetime, timedelta

from cadenza.db.audit import record
from cadenza.people.change_password import queue_email
from cadenza.people.model import Done, Missing, PersonRefusal, Role, Wrong, fold_email
from cadenza.people.sign_up import add_person
from cadenza.people.workspaces import add_member
from cadenza.sql.tx import Row, Tx

LIFE = timedelta(days=7)
KIND = "person.invited"


def invite(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    email: str,
    role: Role,
    own: Role,
    token_hash: str,
    letter_id: str,
    sealed: str,
    by: str,
) -> Done | PersonRefusal:
    """Invite an address; nobody gives a role above their own. Run under `lock_of(workspace_id)`."""
    who = fold_email(email)
    if not own.covers(role):
        return PersonRefusal("ask somebody whose role is at least as high", "above_you")
    if tx.one(
        "SELECT 1 FROM member WHERE workspace_id = :workspace_id AND email = :email AND person_id IS NOT NULL",
        workspace_id=workspace_id,
        email=who,
    ):
        return PersonRefusal("this address is a member already", "already_member")
    tx.run(
        """
        UPDATE invitation SET revoked_at = :now
        WHERE workspace_id = :workspace_id AND email = :email AND used_at IS NULL AND revoked_at IS NULL
        """,
        now=now,
        workspace_id=workspace_id,
        email=who,
    )
    tx.run(
        """
        INSERT INTO invitation (workspace_id, id, email, role, token_hash, invited_by, created_at, ends_at)
        VALUES (:workspace_id, :id, :email, :role, :hash, :by, :now, :ends)
        """,
        workspace_id=workspace_id,
        id=letter_id,
        email=who,
        role=role.value,
        hash=token_hash,
        by=by,
        now=now,
        ends=now + LIFE,
    )
    body = {"to": who, "name": "", "sealed": sealed}
    queue_email(tx, now, workspace_id=workspace_id, id=letter_id, kind=KIND, body=body)
    after = {"email": who, "role": role.value}
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="invitation.add",
        subject_id=letter_id,
        after=after,
    )
    return Done(letter_id)


def link(home: str, token: str) -> str:
    """Write the address that an invitation is accepted at; browsers send nobody what is behind the #."""
    return f"{home}/join#token={token}"


def find_invitation(tx: Tx, now: datetime, *, token_hash: str) -> Row | None:
    """Return an open invitation with its workspace's name, and whether its address is a person here."""
    return tx.one(
        """
        SELECT invitation.*, workspace.name AS workspace_name, person.id AS person_id
        FROM invitation JOIN workspace ON workspace.id = invitation.workspace_id
        LEFT JOIN person ON person.email = invitation.email
        WHERE token_hash = :hash AND used_at IS NULL AND revoked_at IS NULL AND ends_at > :now
        """,
        hash=token_hash,
        now=now,
    )


def accept(
    tx: Tx,
    now: datetime,
    *,
    token_hash: str,
    signed_in_as: str | None,
    name: str | None,
    password_hash: str | None,
    zone: str,
) -> tuple[str, str] | Wrong | PersonRefusal:
    """Join; return the person's and the workspace's id."""
    found = find_invitation(tx, now, token_hash=token_hash)
    if found is None:
        return Wrong()
    person_id: str | None = found["person_id"]
    if person_id is not None and person_id != signed_in_as:
        return PersonRefusal(
            "this address has an account here: sign in with it first", "sign_in_first"
        )
    if person_id is None:
        if name is None or password_hash is None:
            return PersonRefusal("choose a name and a password", "name_needed")
        person_id = add_person(
            tx, now, email=found["email"], name=name, password_hash=password_hash, zone=zone
        )
    used = tx.run(
        "UPDATE invitation SET used_at = :now WHERE token_hash = :hash AND used_at IS NULL",
        now=now,
        hash=token_hash,
    )
    if not used:
        return Wrong()
    workspace_id: str = found["workspace_id"]
    add_member(
        tx,
        now,
        workspace_id=workspace_id,
        person_id=person_id,
        role=Role(found["role"]),
        by=f"person:{person_id}",
    )
    return person_id, workspace_id


def list_invitations(tx: Tx, now: datetime, *, workspace_id: str) -> list[Row]:
    """List the open ones."""
    return tx.all(
        """
        SELECT id, email, role, invited_by, created_at, ends_at FROM invitation
        WHERE workspace_id = :workspace_id AND used_at IS NULL AND revoked_at IS NULL AND ends_at > :now
        ORDER BY created_at DESC
        """,
        workspace_id=workspace_id,
        now=now,
    )


def revoke_invitation(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str
) -> Done | Missing:
    """Take an open invitation back."""
    gone = tx.run(
        """
        UPDATE invitation SET revoked_at = :now
        WHERE workspace_id = :workspace_id AND id = :id AND used_at IS NULL AND revoked_at IS NULL
        """,
        now=now,
        workspace_id=workspace_id,
        id=id,
    )
    if not gone:
        return Missing()
    record(tx, now, workspace_id=workspace_id, by=by, action="invitation.revoke", subject_id=id)
    return Done(id)
