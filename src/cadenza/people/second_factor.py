"""The second factor: a code of an authenticator app, or a recovery code, each good for one time.

The shared secret is sealed (by whoever holds the keys: the `Seal` port) for its person's row. The step
of the last code is kept, so a code that was seen over a shoulder opens nothing. Limit: a clock may be
30 seconds off, not more.
"""

import base64
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from urllib.parse import quote

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from cadenza.db.audit import record
from cadenza.people.model import INSTANCE, Done, PersonRefusal, Wrong
from cadenza.people.sessions import end_others
from cadenza.people.tokens import hash_recovery_code, same
from cadenza.sql.tx import Row, Tx

STEP = 30
SECRET_BYTES = 20


class Seal(Protocol):
    """Who seals secrets for a named row; `accounts.seal.Keyring` does."""

    def seal(self, text: str, *, row: str) -> str: ...

    def open(self, sealed: str, *, row: str) -> str: ...


def row_name(person_id: str) -> str:
    """Name the row that a shared secret is sealed for."""
    return f"person:{person_id}:totp"


def pack(secret: bytes) -> str:
    """Write a shared secret as text, to be sealed."""
    return base64.b64encode(secret).decode()


def app_address(secret: bytes, email: str) -> str:
    """Return what an authenticator app reads from a picture."""
    shared = base64.b32encode(secret).decode()
    return f"otpauth://totp/Cadenza:{quote(email)}?secret={shared}&issuer=Cadenza&digits=6&period={STEP}"


def propose(tx: Tx, now: datetime, *, person_id: str, sealed: str) -> Done | PersonRefusal:
    """Keep a new shared secret that does not count yet: `confirm` switches it on."""
    changed = tx.run(
        "UPDATE person SET totp_sealed = :sealed, totp_step = 0 WHERE id = :id AND NOT totp_on",
        sealed=sealed,
        id=person_id,
    )
    if not changed:
        return PersonRefusal("a second factor is on: switch it off first", "already_on")
    _audit(tx, now, person_id, "second_factor.propose")
    return Done(person_id)


def confirm(
    tx: Tx,
    now: datetime,
    *,
    person_id: str,
    session_id: str,
    code: str,
    seal: Seal,
    recovery_hashes: Sequence[str],
) -> Done | Wrong | PersonRefusal:
    """Switch it on with a first right code; all other sessions end, and the codes are new."""
    person = _person(tx, person_id)
    if person["totp_on"] or person["totp_sealed"] is None:
        return PersonRefusal("ask for a new secret first", "not_proposed")
    if not use_totp(tx, now, person=person, code=code, seal=seal):
        return Wrong()
    tx.run("UPDATE person SET totp_on = true WHERE id = :id", id=person_id)
    tx.run("DELETE FROM recovery_code WHERE person_id = :id", id=person_id)
    tx.run_each(
        "INSERT INTO recovery_code (person_id, code_hash) VALUES (:person_id, :hash)",
        [{"person_id": person_id, "hash": each} for each in recovery_hashes],
    )
    end_others(tx, now, person_id=person_id, keep=session_id)
    _audit(tx, now, person_id, "second_factor.on")
    return Done(person_id)


def switch_off(
    tx: Tx, now: datetime, *, person_id: str, session_id: str, code: str, seal: Seal
) -> Done | Wrong | PersonRefusal:
    """Switch it off with one more right code; all other sessions end."""
    person = _person(tx, person_id)
    if not person["totp_on"]:
        return PersonRefusal("no second factor is on", "not_on")
    if not use_code(tx, now, person=person, code=code, seal=seal):
        return Wrong()
    tx.run(
        "UPDATE person SET totp_on = false, totp_sealed = NULL, totp_step = 0 WHERE id = :id",
        id=person_id,
    )
    tx.run("DELETE FROM recovery_code WHERE person_id = :id", id=person_id)
    end_others(tx, now, person_id=person_id, keep=session_id)
    _audit(tx, now, person_id, "second_factor.off")
    return Done(person_id)


def use_code(tx: Tx, now: datetime, *, person: Row, code: str, seal: Seal) -> bool:
    """Take a code of the app or a recovery code; each only once."""
    plain = code.replace(" ", "")
    if len(plain) == 6 and plain.isascii() and plain.isdigit():
        return use_totp(tx, now, person=person, code=plain, seal=seal)
    used = tx.run(
        """
        UPDATE recovery_code SET used_at = :now
        WHERE person_id = :person_id AND code_hash = :hash AND used_at IS NULL
        """,
        now=now,
        person_id=person["id"],
        hash=hash_recovery_code(person["id"], code),
    )
    return used == 1


def use_totp(tx: Tx, now: datetime, *, person: Row, code: str, seal: Seal) -> bool:
    """Take a code of the app, of this step or a neighbour, if it is newer than the last one taken."""
    if person["totp_sealed"] is None:
        return False
    secret = base64.b64decode(seal.open(person["totp_sealed"], row=row_name(person["id"])))
    app = TOTP(secret, 6, SHA1(), STEP, enforce_key_length=False)  # noqa: S303 - what apps speak
    step = int(now.timestamp()) // STEP
    right = [n for n in (step - 1, step, step + 1) if same(app.generate(n * STEP).decode(), code)]
    return bool(right) and (
        tx.run(
            "UPDATE person SET totp_step = :step WHERE id = :id AND totp_step < :step",
            step=right[-1],
            id=person["id"],
        )
        == 1
    )


def _person(tx: Tx, person_id: str) -> Row:
    row = tx.one("SELECT * FROM person WHERE id = :id", id=person_id)
    assert row is not None, "who is signed in is there"
    return row


def _audit(tx: Tx, now: datetime, person_id: str, action: str) -> None:
    record(
        tx,
        now,
        workspace_id=INSTANCE,
        by=f"person:{person_id}",
        action=action,
        subject_id=person_id,
    )
