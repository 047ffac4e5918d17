"""The first owner of an empty installation, and the workspace they start with.

Only while there is no person, and only with the token that was printed when the application was opened: so
nobody who merely reaches the port can take it. Two who try at once: one wins.
"""

from datetime import datetime

from cadenza.core.zones import get_zone
from cadenza.db.audit import record
from cadenza.people.model import INSTANCE, PersonRefusal, Role, Wrong, fold_email
from cadenza.people.tokens import same
from cadenza.people.workspaces import NewWorkspace, add_member, create_workspace
from cadenza.sql.tx import Tx

LOCK = "people:first"


def offer_first_start(tx: Tx, now: datetime, *, token_hash: str) -> bool:
    """Keep the token that opens an empty installation, in place of any before; False: it is not empty."""
    if tx.value("SELECT count(*) FROM person"):
        return False
    tx.run(
        """
        INSERT INTO first_start (id, token_hash, created_at) VALUES (1, :hash, :now)
        ON CONFLICT (id) DO UPDATE SET token_hash = excluded.token_hash, created_at = excluded.created_at
        """,
        hash=token_hash,
        now=now,
    )
    return True


def is_empty(tx: Tx, now: datetime) -> bool:
    """Say whether the application still waits for its first owner."""
    return not tx.value("SELECT count(*) FROM person")


def sign_up_first_owner(
    tx: Tx,
    now: datetime,
    *,
    start_hash: str,
    email: str,
    name: str,
    password_hash: str,
    zone: str,
    workspace: str,
    approval: str = "author",
) -> tuple[str, str] | Wrong | PersonRefusal:
    """Make the first person and workspace; return both ids. Run under the lock `people:first`."""
    if tx.value("SELECT count(*) FROM person"):
        return PersonRefusal(
            "this installation has an owner already: ask them for an invitation", "not_empty"
        )
    kept = tx.value("SELECT token_hash FROM first_start WHERE id = 1")
    if kept is None or not same(kept, start_hash):
        return Wrong()
    person_id = add_person(
        tx, now, email=email, name=name, password_hash=password_hash, zone=zone, owner=True
    )
    new = NewWorkspace(id=tx.new_id(), name=workspace, zone=zone, approval=approval)
    create_workspace(tx, now, new=new, by=f"person:{person_id}")
    add_member(
        tx, now, workspace_id=new.id, person_id=person_id, role=Role.OWNER, by=f"person:{person_id}"
    )
    tx.run("DELETE FROM first_start")
    return person_id, new.id


def add_person(
    tx: Tx,
    now: datetime,
    *,
    email: str,
    name: str,
    password_hash: str,
    zone: str,
    owner: bool = False,
) -> str:
    """Add a person; the caller has checked that nobody has the address."""
    get_zone(zone)
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO person (id, email, name, password, zone, instance_owner, created_at, password_changed_at)
        VALUES (:id, :email, :name, :password, :zone, :owner, :now, :now)
        """,
        id=id_,
        email=fold_email(email),
        name=name,
        password=password_hash,
        zone=zone,
        owner=owner,
        now=now,
    )
    record(
        tx,
        now,
        workspace_id=INSTANCE,
        by=f"person:{id_}",
        action="person.add",
        subject_id=id_,
        after={"email": fold_email(email)},
    )
    return id_
