"""Signing in, in two short transactions around the slow check of the password.

`begin` counts the try and fetches what is to be compared; the edge compares outside of any transaction;
`finish` takes the second factor and opens a session, or writes that it failed. What is answered to a
wrong address and to a wrong password is the same, and takes as long.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.db.audit import record
from cadenza.people.login_throttle import (
    count_attempt,
    count_try,
    forget_tries,
    is_attacked,
    sign_in_limits,
)
from cadenza.people.model import INSTANCE, CodeNeeded, TooOften, Wrong, fold_email
from cadenza.people.second_factor import Seal, use_code
from cadenza.people.sessions import SessionOrigin, open_session
from cadenza.people.tokens import hash_token
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a password is compared with; `password` is None where there is nobody."""

    person_id: str | None
    password: str | None


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The session is open."""

    person_id: str
    session_id: str


def begin_sign_in(tx: Tx, now: datetime, *, email: str, address: str) -> Candidate | TooOften:
    """Count the try; return what to compare with."""
    who = fold_email(email)
    attacked = is_attacked(tx, now, email=who) and not _is_signed_in_there(tx, now, who, address)
    too_often = count_attempt(tx, now, sign_in_limits(address, who, attacked=attacked))
    if too_often is not None:
        return too_often
    count_try(tx, now, email=who)
    row = tx.one("SELECT id, password FROM person WHERE email = :email", email=who)
    return Candidate(None, None) if row is None else Candidate(row["id"], row["password"])


def finish_sign_in(
    tx: Tx,
    now: datetime,
    *,
    candidate: Candidate,
    right: bool,
    email: str,
    code: str | None,
    seal: Seal,
    token_hash: str,
    origin: SessionOrigin,
    replaces: str | None,
) -> SignedIn | CodeNeeded | Wrong:
    """Open a session if all is right; `replaces` is the hash of the token that the browser had before."""
    person = tx.one("SELECT * FROM person WHERE id = :id", id=candidate.person_id or "")
    # The password may have been changed while it was compared.
    if not right or person is None or person["password"] != candidate.password:
        return _failed(tx, now, email)
    if person["totp_on"]:
        if code is None:
            return CodeNeeded()
        if not use_code(tx, now, person=person, code=code, seal=seal):
            return _failed(tx, now, email)
    if replaces is not None:
        tx.run("DELETE FROM session WHERE token_hash = :hash", hash=replaces)
    session_id = open_session(tx, now, person_id=person["id"], token_hash=token_hash, origin=origin)
    forget_tries(tx, email=fold_email(email), address=origin.address)
    record(
        tx,
        now,
        workspace_id=INSTANCE,
        by=f"person:{person['id']}",
        action="sign_in",
        subject_id=person["id"],
        after={"address": origin.address},
    )
    return SignedIn(person["id"], session_id)


def _is_signed_in_there(tx: Tx, now: datetime, email: str, address: str) -> bool:
    """Say whether the person uses this address: they have a session that was opened from it."""
    found = tx.value(
        """
        SELECT 1 FROM session JOIN person ON person.id = session.person_id
        WHERE person.email = :email AND session.address = :address
            AND session.idle_until > :now AND session.ends_at > :now
        LIMIT 1
        """,
        email=email,
        address=address[:64],
        now=now,
    )
    return found is not None


def _failed(tx: Tx, now: datetime, email: str) -> Wrong:
    record(
        tx,
        now,
        workspace_id=INSTANCE,
        by="system",
        action="sign_in.failed",
        subject_id=hash_token(fold_email(email))[:32],
    )
    return Wrong()
