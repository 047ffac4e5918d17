"""Says who is asking, by a session's token or a key: one statement, asked again for every request.

The same statement tells what the gate needs besides: the person's place in the workspace, whether the
account of the path is there, and whether `seen_at` is old enough to be written again. Nothing is kept
between requests, so a revoked key, an ended session and a lost role count at once. Run it with
`Operations.glance`: the ends are compared with the database's own clock.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.people import keys, sessions
from cadenza.people.model import Caller, Role
from cadenza.people.tokens import same
from cadenza.sql.transactions import Operation
from cadenza.sql.tx import Row, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentifiedCaller:
    """Who asks, and what was seen beside them."""

    caller: Caller
    asked_at: datetime  # by the database's clock
    workspace_id: str | None  # of a key; a session is bound to none
    account_there: bool
    touch: Operation[None] | None  # what to write, now and then, about their being here


def identify_session(
    tx: Tx, *, token_hash: str, workspace_id: str, account_id: str | None = None
) -> IdentifiedCaller | None:
    """Find the person of a live session, and their place in a workspace, if they have one there."""
    row = tx.one(
        """
        SELECT session.id AS session_id, session.seen_at, person.id AS person_id, person.instance_owner,
            member.id AS member_id, member.role, CLOCK() AS asked_at,
            (SELECT 1 FROM account WHERE workspace_id = :workspace_id AND id = :account_id) AS account_there
        FROM session JOIN person ON person.id = session.person_id
        LEFT JOIN member ON member.person_id = person.id AND member.workspace_id = :workspace_id
        WHERE session.token_hash = :hash AND session.idle_until > CLOCK() AND session.ends_at > CLOCK()
        """,
        hash=token_hash,
        workspace_id=workspace_id,
        account_id=account_id,
    )
    if row is None:
        return None
    session_id: str = row["session_id"]
    member_id: str | None = row["member_id"]

    def touch(tx: Tx, now: datetime) -> None:
        sessions.touch_session(tx, now, session_id=session_id)

    return IdentifiedCaller(
        caller=Caller(
            by=f"person:{row['person_id']}" if member_id is None else f"member:{member_id}",
            person_id=row["person_id"],
            session_id=session_id,
            member_id=member_id,
            role=None if member_id is None else Role(row["role"]),
            instance_owner=bool(row["instance_owner"]),
        ),
        asked_at=row["asked_at"],
        workspace_id=None,
        account_there=row["account_there"] is not None,
        touch=touch if row["asked_at"] - row["seen_at"] > sessions.LOOK else None,
    )


def identify_key(
    tx: Tx, *, prefix: str, secret_hash: str, workspace_id: str, account_id: str | None = None
) -> IdentifiedCaller | None:
    """Find a live key whose secret matches."""
    row = tx.one(
        """
        SELECT api_key.*, person.instance_owner, CLOCK() AS asked_at,
            (SELECT 1 FROM account WHERE workspace_id = :workspace_id AND id = :account_id) AS account_there
        FROM api_key
        JOIN member ON member.workspace_id = api_key.workspace_id AND member.id = api_key.member_id
        LEFT JOIN person ON person.id = member.person_id
        WHERE prefix = :prefix AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > CLOCK())
        """,
        prefix=prefix,
        workspace_id=workspace_id,
        account_id=account_id,
    )
    if row is None or not same(row["secret_hash"], secret_hash):
        return None
    home, id_ = row["workspace_id"], row["id"]

    def touch(tx: Tx, now: datetime) -> None:
        keys.touch_key(tx, now, workspace_id=home, id=id_)

    used_at: datetime | None = row["last_used_at"]
    return IdentifiedCaller(
        caller=_holder(row),
        asked_at=row["asked_at"],
        workspace_id=home,
        account_there=row["account_there"] is not None,
        touch=touch if used_at is None or row["asked_at"] - used_at > keys.LOOK else None,
    )


def _holder(row: Row) -> Caller:
    return Caller(
        by=f"key:{row['id']}",
        member_id=row["member_id"],
        role=Role(row["role"]),
        instance_owner=bool(row["instance_owner"]),  # of its maker; the scope decides what of it
        key_id=row["id"],
        key_of=row["workspace_id"],
        scopes=frozenset(row["scopes"].split()),
        accounts=None if row["accounts"] is None else frozenset(row["accounts"].split()),
        publish_per_day=row["publish_per_day"],
    )
