"""Changing a password, and setting a new one with a token that was mailed.

Either ends every other session; a reset also ends the wait after wrong sign-ins. A reset is a hashed single-use token of one hour; the mail leaves
through the outbox with the token sealed, so nobody who reads the database can use it. Whether an
address is known is never told.
"""

from datetime import datetime, timedelta

from cadenza.db.audit import record
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.people.login_throttle import count_attempt, email_limits, forget_tries
from cadenza.people.model import INSTANCE, Done, Missing, TooOften, Wrong, fold_email
from cadenza.people.sessions import end_others
from cadenza.sql.tx import Tx

RESET_LIFE = timedelta(hours=1)
RESET_KIND = "person.reset"


def change_password(
    tx: Tx, now: datetime, *, person_id: str, session_id: str, was: str, password_hash: str
) -> Done | Wrong:
    """Keep a new password, if the one that was checked is still the one; end all other sessions."""
    changed = tx.run(
        """
        UPDATE person SET password = :password, password_changed_at = :now
        WHERE id = :id AND password = :was
        """,
        password=password_hash,
        now=now,
        id=person_id,
        was=was,
    )
    if not changed:
        return Wrong()
    end_others(tx, now, person_id=person_id, keep=session_id)
    _audit(tx, now, person_id, "password.change")
    return Done(person_id)


def email_row(outbox_id: str) -> str:
    """Name the row that a letter's token is sealed for."""
    return f"letter:{outbox_id}"


def ask_reset(
    tx: Tx, now: datetime, *, email: str, address: str, token_hash: str, letter_id: str, sealed: str
) -> Done | TooOften:
    """Leave a letter for the person, if there is one; the answer is the same if there is none."""
    who = fold_email(email)
    too_often = count_attempt(tx, now, email_limits(address, who))
    if too_often is not None:
        return too_often
    person = tx.one("SELECT id, name FROM person WHERE email = :email", email=who)
    if person is None:
        return Done(letter_id)
    _save_token(tx, now, person["id"], token_hash)
    queue_email(
        tx,
        now,
        workspace_id=INSTANCE,
        id=letter_id,
        kind=RESET_KIND,
        body={"to": who, "name": person["name"], "sealed": sealed},
    )
    _audit(tx, now, person["id"], "password.ask_reset")
    return Done(letter_id)


def make_reset(tx: Tx, now: datetime, *, email: str, token_hash: str, by: str) -> Done | Missing:
    """Make a token for whoever runs the application to hand on; nothing is mailed."""
    person = tx.one("SELECT id FROM person WHERE email = :email", email=fold_email(email))
    if person is None:
        return Missing()
    _save_token(tx, now, person["id"], token_hash)
    record(
        tx,
        now,
        workspace_id=INSTANCE,
        by=by,
        action="password.make_reset",
        subject_id=person["id"],
    )
    return Done(person["id"])


def reset_link(home: str, token: str) -> str:
    """Write the address that a new password is chosen at; browsers send nobody what is behind the #."""
    return f"{home}/reset-password#token={token}"


def queue_email(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, kind: str, body: dict[str, str]
) -> None:
    """Leave a mail to one person in the outbox: its subject is the row itself."""
    word = OutboxEvent(workspace_id=workspace_id, id=id, kind=kind, subject_id=id, body=body)
    write_outbox(tx, now, [word])


def reset_password(tx: Tx, now: datetime, *, token_hash: str, password_hash: str) -> Done | Wrong:
    """Use a reset token: a new password, and no session survives. The second factor stays."""
    row = tx.one(
        """
        UPDATE password_reset SET used_at = :now
        WHERE token_hash = :hash AND used_at IS NULL AND ends_at > :now RETURNING person_id
        """,
        now=now,
        hash=token_hash,
    )
    if row is None:
        return Wrong()
    person_id: str = row["person_id"]
    person = tx.one(
        """
        UPDATE person SET password = :password, password_changed_at = :now WHERE id = :id
        RETURNING email
        """,
        password=password_hash,
        now=now,
        id=person_id,
    )
    assert person is not None
    forget_tries(tx, email=person["email"])
    tx.run("DELETE FROM password_reset WHERE person_id = :id AND used_at IS NULL", id=person_id)
    end_others(tx, now, person_id=person_id, keep=None)
    _audit(tx, now, person_id, "password.reset")
    return Done(person_id)


def _save_token(tx: Tx, now: datetime, person_id: str, token_hash: str) -> None:
    tx.run(
        """
        INSERT INTO password_reset (token_hash, person_id, created_at, ends_at)
        VALUES (:hash, :person_id, :now, :ends)
        """,
        hash=token_hash,
        person_id=person_id,
        now=now,
        ends=now + RESET_LIFE,
    )


def _audit(tx: Tx, now: datetime, person_id: str, action: str) -> None:
    record(
        tx,
        now,
        workspace_id=INSTANCE,
        by=f"person:{person_id}",
        action=action,
        subject_id=person_id,
    )
