"""Sessions: an opaque token in a cookie, its hash here, an idle end that slides and a last end that does not.

A session is made new at every sign-in and at every change of what proves a person, so that a token
that somebody planted or copied before is worth nothing after.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.db.audit import record
from cadenza.people.model import INSTANCE, Done, Missing
from cadenza.sql.tx import Row, Tx

IDLE = timedelta(days=7)
LIFE = timedelta(days=30)
CSRF = "x-cadenza-csrf"  # a header that our pages and commands send with a session, and no form can
LOOK = timedelta(minutes=1)  # how exactly `seen_at` is kept


def cookie_name(public_url: str) -> str:
    """Name the cookie that holds a session's token: browsers keep `__Host-` where people come by https."""
    return "__Host-cadenza" if public_url.startswith("https://") else "cadenza"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOrigin:
    """Where a session was opened from, to show it to its person."""

    address: str
    agent: str


def open_session(
    tx: Tx, now: datetime, *, person_id: str, token_hash: str, origin: SessionOrigin
) -> str:
    """Open one; return its id."""
    id_ = tx.new_id()
    tx.run("DELETE FROM session WHERE ends_at <= :now OR idle_until <= :now", now=now)
    tx.run(
        """
        INSERT INTO session (token_hash, id, person_id, address, agent, created_at, seen_at, idle_until, ends_at)
        VALUES (:hash, :id, :person_id, :address, :agent, :now, :now, :idle, :ends)
        """,
        hash=token_hash,
        id=id_,
        person_id=person_id,
        address=origin.address[:64],
        agent=origin.agent[:200],
        now=now,
        idle=now + IDLE,
        ends=now + LIFE,
    )
    return id_


def touch_session(tx: Tx, now: datetime, *, session_id: str) -> None:
    """Slide the idle end."""
    tx.run(
        "UPDATE session SET seen_at = :now, idle_until = :idle WHERE id = :id",
        now=now,
        idle=now + IDLE,
        id=session_id,
    )


def list_sessions(tx: Tx, now: datetime, *, person_id: str) -> list[Row]:
    """List a person's live sessions, the newest first."""
    return tx.all(
        """
        SELECT id, address, agent, created_at, seen_at, ends_at FROM session
        WHERE person_id = :person_id AND idle_until > :now AND ends_at > :now ORDER BY created_at DESC
        """,
        person_id=person_id,
        now=now,
    )


def end_session(tx: Tx, now: datetime, *, person_id: str, id: str) -> Done | Missing:
    """End one of a person's sessions."""
    gone = tx.run(
        "DELETE FROM session WHERE person_id = :person_id AND id = :id", person_id=person_id, id=id
    )
    if not gone:
        return Missing()
    _audit(tx, now, person_id, "session.end", id)
    return Done(id)


def end_others(tx: Tx, now: datetime, *, person_id: str, keep: str | None) -> int:
    """End all of a person's sessions but one; say how many."""
    count = tx.run(
        "DELETE FROM session WHERE person_id = :person_id AND id <> :keep",
        person_id=person_id,
        keep=keep or "",
    )
    if count:
        _audit(tx, now, person_id, "session.end_others", person_id, ended=count)
    return count


def rotate_session(tx: Tx, now: datetime, *, session_id: str, token_hash: str) -> None:
    """Give a session another token: the one before opens nothing."""
    tx.run("UPDATE session SET token_hash = :hash WHERE id = :id", hash=token_hash, id=session_id)


def _audit(tx: Tx, now: datetime, person_id: str, action: str, subject: str, **after: int) -> None:
    record(
        tx,
        now,
        workspace_id=INSTANCE,
        by=f"person:{person_id}",
        action=action,
        subject_id=subject,
        after=after or None,
    )
