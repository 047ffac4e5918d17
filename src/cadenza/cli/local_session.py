"""A session of somebody who works on the server's own machine: as long as one command, without a password.

Who can read the data folder may do everything anyhow; so that the audit names a person, each call is made
as one: the owner of the installation, or whom `person` names.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from cadenza.client.errors import ClientError
from cadenza.people.model import fold_email
from cadenza.people.sessions import CSRF, SessionOrigin, cookie_name, end_session, open_session
from cadenza.people.tokens import draw_token
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx

ORIGIN = SessionOrigin(address="this machine", agent="the command line")


@dataclass(frozen=True, slots=True)
class LocalSession:
    """What each request carries."""

    cookies: dict[str, str]
    headers: dict[str, str]


@asynccontextmanager
async def local_session(
    operations: Operations, public_url: str, *, person: str | None
) -> AsyncGenerator[LocalSession]:
    """Sign somebody in, and out at the end."""
    token = draw_token()

    def enter(tx: Tx, now: datetime) -> tuple[str, str]:
        person_id = _find_person(tx, person)
        session = open_session(tx, now, person_id=person_id, token_hash=token.hash, origin=ORIGIN)
        return person_id, session

    person_id, session_id = await operations.run(enter)
    try:
        yield LocalSession({cookie_name(public_url): token.text}, {CSRF: "1"})
    finally:
        await operations.run(
            lambda tx, now: end_session(tx, now, person_id=person_id, id=session_id)
        )


def _find_person(tx: Tx, email: str | None) -> str:
    if email is None:
        found = tx.value(
            "SELECT id FROM person WHERE instance_owner ORDER BY created_at, id LIMIT 1"
        )
        if found is None:
            raise ClientError(
                "nobody lives here yet: make the first owner with `cadenza person create`"
            )
        return found
    found = tx.value("SELECT id FROM person WHERE email = :email", email=fold_email(email))
    if found is None:
        raise ClientError(f"there is nobody with the address {email} here")
    return found
