"""`cadenza account connect`, where the network has a sign-in page or asks for a code: the real API behind it."""

from __future__ import annotations

import io
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from cadenza.cli import account
from cadenza.cli.codes import OK, UsageError
from cadenza.cli.local import InProcess
from cadenza.cli.open_workspace import WorkspaceOptions
from cadenza.client.core import Client, Workspace
from cadenza.client.errors import ClientError
from cadenza.config.model import Network
from cadenza.core.clock import SystemClock
from cadenza.core.secret import Secret
from cadenza.providers.telegram_person import auth
from tests.api.conftest import CSRF, PASSWORD, Place, open_place
from tests.providers.mastodon.fixtures import mastodon
from tests.providers.telegram_person.fixtures import APP, person
from tests.providers.telegram_person.standin import CODE, PHONE
from tests.providers.telegram_person.standin import PASSWORD as SECOND

HOME = "/api/v1/workspaces/home-of-ada"


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    """A place whose owner sits at the command line."""
    async with open_place(f"sqlite:///{tmp_path}/cadenza.sqlite3", tmp_path) as place:

        @asynccontextmanager
        async def opened(_reach: WorkspaceOptions) -> AsyncGenerator[Workspace]:
            async with httpx2.AsyncClient(
                transport=InProcess(place.app),
                base_url="http://localhost",
                cookies={"cadenza": place.tokens["owner"]},
                headers=CSRF,
            ) as http:
                client = Client(http, clock=place.runtime.clock, ids=place.runtime.ids)
                yield client.workspace("home-of-ada")

        monkeypatch.setattr(account, "opened_workspace", opened)
        yield place


async def test_what_is_begun_here_is_finished_in_the_browser_and_told_here(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with mastodon() as (scene, simulated):
        place.app.state.runtime = replace(place.runtime, http=scene.http)

        async def sign_in_elsewhere(_clock: SystemClock, _seconds: float) -> None:
            """While the command waits, the person agrees in a browser of their own."""
            (url,) = [word for word in capsys.readouterr().out.split() if "client_id" in word]
            query = parse_qs(urlsplit(url).query)
            browser = await place.client()
            await browser.post(
                "/api/v1/auth/sign-in", json={"email": "owner@example.org", "password": PASSWORD}
            )
            code = simulated.approve(query["client_id"][0], "ada")
            body = {"state": query["state"][0], "code": code}
            done = await browser.post(f"{HOME}/connect/complete", json=body)
            assert done.status_code == 200, done.text

        monkeypatch.setattr(SystemClock, "sleep", sign_in_elsewhere)
        assert await account.connect("mastodon", field=(f"instance={simulated.url()}",)) == OK
    assert "connected @ada" in capsys.readouterr().out


async def test_the_address_that_the_browser_could_not_reach_is_pasted(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    async with mastodon() as (scene, simulated):
        place.app.state.runtime = replace(place.runtime, http=scene.http)
        field = (f"instance={simulated.url()}",)
        assert await account.connect("mastodon", field=field, wait=False) == OK
        (url,) = [word for word in capsys.readouterr().out.split() if "client_id" in word]
        query = parse_qs(urlsplit(url).query)
        back = f"{query['redirect_uri'][0]}?state={query['state'][0]}"
        with pytest.raises(ClientError, match="The network says: access_denied"):
            await account.finish(f"{back}&error=access_denied")
        with pytest.raises(UsageError, match="holds no code"):
            await account.finish(back)
        code = simulated.approve(query["client_id"][0], "ada")
        assert await account.finish(f"{back}&code={code}") == OK
    assert "connected @ada" in capsys.readouterr().out


async def test_what_telegram_asks_for_is_read_one_after_the_other(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with person() as (call, simulated):
        simulated.signed_in, simulated.has_password = False, True
        monkeypatch.setattr(auth, "blank", lambda: Secret(simulated.session))
        with pytest.raises(ClientError, match="api_id and api_hash"):
            await account.connect("telegram_person", field=(f"phone=+{PHONE}",))
        network = Network(client_id=APP.client_id, client_secret=APP.client_secret)
        settings = replace(place.runtime.settings, providers={"telegram_person": network})
        place.app.state.runtime = replace(
            place.runtime, http=call.http, app_of=lambda _: APP, settings=settings
        )
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{CODE}\n{SECOND}\n"))
        assert await account.connect("telegram_person", field=(f"phone=+{PHONE}",)) == OK
    said = capsys.readouterr()
    assert "connected @ada on telegram_person" in said.out
    assert "Telegram has sent you a code." in said.err
    assert "This account has a password." in said.err
