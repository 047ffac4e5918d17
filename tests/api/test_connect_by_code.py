"""Connecting a person's own Telegram over HTTP: a number, the code that Telegram sends, a password."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import pytest

from cadenza.bootstrap.describe import readiness
from cadenza.config.model import Network, Settings
from cadenza.core.secret import Secret
from cadenza.providers.telegram_person import auth
from tests.api.conftest import Place
from tests.providers.telegram_person.fixtures import APP, person
from tests.providers.telegram_person.standin import CODE, PASSWORD, PHONE, Telegram

HOME = "/api/v1/workspaces/home-of-ada"


@dataclass
class Desk:
    """A place, and a Telegram next to it."""

    place: Place
    simulated: Telegram

    async def begin(self, browser: httpx2.AsyncClient) -> dict[str, Any]:
        """Give the number; return what is asked for then."""
        answer = await browser.post(
            f"{HOME}/connect/telegram_person", json={"fields": {"phone": f"+{PHONE}"}}
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["question"]


@pytest.fixture
async def desk(place: Place, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    async with person() as (call, simulated):
        simulated.signed_in = False
        monkeypatch.setattr(auth, "blank", lambda: Secret(simulated.session))
        place.app.state.runtime = replace(place.runtime, http=call.http, app_of=lambda _: APP)
        yield Desk(place, simulated)


async def reply(browser: httpx2.AsyncClient, state: str, code: str) -> httpx2.Response:
    return await browser.post(f"{HOME}/connect/complete", json={"state": state, "code": code})


async def test_a_number_a_code_and_a_password_connect_a_person(desk: Desk) -> None:
    desk.simulated.has_password = True
    browser = await desk.place.client("owner")
    requested = await desk.begin(browser)
    assert (requested["field"]["name"], requested["field"]["secret"]) == ("code", True)
    more = await reply(browser, requested["state"], CODE)
    assert more.status_code == 200, more.text
    question = more.json()["question"]
    assert question["field"]["name"] == "password"
    assert (await reply(browser, requested["state"], CODE)).status_code == 403, (
        "each step is done once"
    )
    done = await reply(browser, question["state"], PASSWORD)
    assert done.status_code == 200, done.text
    (account,) = done.json()["accounts"]
    assert (account["provider"], account["state"]) == ("telegram_person", "connected")
    for kept in await desk.place.rows("SELECT * FROM connecting"):
        assert PHONE not in str(kept)


async def test_a_mistyped_code_is_typed_again_but_not_for_ever(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    requested = await desk.begin(browser)
    wrong = await reply(browser, requested["state"], "11111")
    assert (wrong.status_code, wrong.json()["type"].split(":")[-1]) == (422, "network_refused")
    assert (await reply(browser, requested["state"], CODE)).status_code == 200
    requested = await desk.begin(browser)
    tried = [(await reply(browser, requested["state"], "11111")).status_code for _ in range(6)]
    assert tried == [422] * 5 + [403]


async def test_nobody_else_answers_what_one_is_asked_for(desk: Desk) -> None:
    browser = await desk.place.client("owner")
    requested = await desk.begin(browser)
    other = await desk.place.client("admin")
    assert (await reply(other, requested["state"], CODE)).status_code == 403
    assert (await reply(browser, requested["state"], CODE)).status_code == 200


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (Network(), "api_id"),
        (Network(client_id="12345"), "CLIENT_SECRET"),
        (Network(client_id="our-app", client_secret=Secret("h")), "is a number"),
    ],
)
def test_without_an_app_it_is_not_ready_and_says_what_to_set(
    network: Network, message: str
) -> None:
    settings = Settings(providers={"telegram_person": network})
    (found,) = [each for each in readiness(settings) if each.provider == "telegram_person"]
    assert not found.ready
    assert message in found.message


def test_with_an_app_it_is_ready() -> None:
    network = Network(client_id="12345", client_secret=Secret("hash"))
    settings = Settings(providers={"telegram_person": network})
    (found,) = [each for each in readiness(settings) if each.provider == "telegram_person"]
    assert found.ready
