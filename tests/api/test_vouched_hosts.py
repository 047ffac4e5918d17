"""A host that the owner set for one use is out of reach of whatever address a tenant types."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cadenza.api.app import create_app
from cadenza.bootstrap import open_runtime
from cadenza.bootstrap.publish_pass import publish_pass
from cadenza.config.model import MailServer, Network, Settings
from cadenza.providers.base import use_of
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.request import Request
from tests.api.conftest import Place, furnish
from tests.providers.http.rude import Rude, polite

HOME = "/api/v1/workspaces/home-of-ada"
SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass
class Inside:
    """A house whose settings name servers on a private address, and what a tenant can do there."""

    place: Place
    mail: Rude
    network: Rude
    tenant: httpx2.AsyncClient

    @property
    def visits(self) -> int:
        return self.mail.visits + self.network.visits

    async def connect(self, provider: str, **fields: Any) -> httpx2.Response:
        return await self.tenant.post(f"{HOME}/connect/{provider}", json={"fields": fields})


@pytest.fixture
async def inside(sqlite_database: str, tmp_path: Path) -> AsyncIterator[Inside]:
    async with AsyncExitStack() as stack:
        mail, network = [await stack.enter_async_context(Rude(polite)) for _ in range(2)]
        settings = Settings(
            data=tmp_path,
            database=sqlite_database,
            mail=MailServer(host="127.0.0.1", port=mail.port, sender="notices@house.test"),
            providers={"mastodon": Network(base_url=network.url)},
        )
        runtime = await stack.enter_async_context(open_runtime(settings))
        stop = asyncio.Event()
        place = Place(runtime, create_app(runtime, stop=stop), stop=stop, stack=stack)
        await runtime.operations.run(lambda tx, now: furnish(tx, now, place))
        yield Inside(place, mail, network, await place.client("admin"))


async def test_the_owners_use_reaches_it(inside: Inside) -> None:
    http = inside.place.runtime.http.for_use(use_of("mastodon"))
    assert isinstance(await http.send(Request("GET", f"{inside.network.url}/")), Reply)
    assert inside.network.visits == 1


async def test_no_account_that_is_connected_reaches_it(inside: Inside) -> None:
    mail = {"host": "127.0.0.1", "port": str(inside.mail.port), "password": "x"}
    tries = [
        await inside.connect("smtp", **mail, from_address="ada@example.org", security="none"),
        await inside.connect("mastodon", instance=f"http://127.0.0.1:{inside.mail.port}"),
        await inside.connect("bluesky", handle="ada.test", password="x", pds=inside.network.url),
        await inside.connect("unipile", dsn=inside.network.url, api_key="x"),
    ]
    assert [each.status_code for each in tries if each.status_code < 400] == []
    assert inside.visits == 0


@pytest.mark.parametrize("which", ["mail", "network"])
async def test_no_webhook_account_reaches_it(inside: Inside, which: str) -> None:
    server: Rude = getattr(inside, which)
    connected = await inside.connect("webhook", url=f"{server.url}/hook", secret=SECRET)
    if connected.status_code < 400:
        account = connected.json()["accounts"][0]["id"]
        post = (await inside.tenant.post(f"{HOME}/posts", json={"text": "We open at nine."})).json()
        sent = await inside.tenant.post(
            f"{HOME}/posts/{post['id']}/publish-now", json={"accounts": [{"account_id": account}]}
        )
        assert sent.status_code < 400, sent.text
        assert (await publish_pass(inside.place.runtime, 20)).ran == 1
    assert inside.visits == 0


async def test_no_webhook_of_notices_reaches_it(inside: Inside) -> None:
    http = inside.place.runtime.dispatcher._http
    for server in (inside.mail, inside.network):
        await http.send(Request("POST", f"{server.url}/hook", body=b"{}"))
    assert inside.visits == 0
