"""The client on the local database, in this process: the same API, without a server and without a key.

Who can read the data folder may do everything anyhow; so that the audit names a person, each call is made
as one: the owner of the installation, or whom `person` names. The session lasts as long as the client.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime

import httpx2

from cadenza.api.app import create_app
from cadenza.api.cookies import cookie_name
from cadenza.api.enter import CSRF
from cadenza.bootstrap.model import House
from cadenza.client.core import Client
from cadenza.client.errors import ClientError
from cadenza.people.model import fold_email
from cadenza.people.sessions import From, end_session, open_session
from cadenza.people.tokens import draw_token
from cadenza.sql.tx import Tx


@asynccontextmanager
async def open_local(house: House, *, person: str | None = None) -> AsyncGenerator[Client]:
    """Speak to an open house as one of its people."""
    token = draw_token()
    origin = From(address="this machine", agent="the command line")

    def enter(tx: Tx, now: datetime) -> tuple[str, str]:
        person_id = _find_person(tx, person)
        session = open_session(tx, now, person_id=person_id, token_hash=token.hash, origin=origin)
        return person_id, session

    person_id, session_id = await house.operations.run(enter)
    http = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=create_app(house)),
        base_url=house.settings.home,
        cookies={cookie_name(house.settings.public_url): token.text},
        headers={CSRF: "1"},
    )
    try:
        async with http:
            yield Client(http, clock=house.clock, ids=house.ids)
    finally:
        await house.operations.run(
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
