"""Connecting a Mastodon account: on its own server, with its own limits, no secret in sight."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from cadenza.demo.networks.mastodon_model import Rules
from cadenza.providers.connect import Connected, Connecting, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.mastodon import CONNECTOR
from cadenza.providers.mastodon.limits import of_account
from cadenza.providers.message import AccountRef, App
from cadenza.providers.outcome import Disconnected, Rejected
from cadenza.providers.split_address import server_address
from tests.providers.contract import Scene, drive, judge
from tests.providers.mastodon.fixtures import mastodon

BACK = "https://cadenza.example/back"


def _connecting(scene: Scene, instance: str) -> Connecting:
    return Connecting(
        http=scene.http,
        app=App(base_url=""),
        now=scene.simulator.clock.now(),
        typed={"instance": instance},
        redirect_uri=BACK,
        state="s1",
    )


async def test_a_person_signs_in_on_their_server_and_can_post() -> None:
    async with mastodon(rules=Rules(max_characters=5000)) as (scene, simulated):
        connecting = _connecting(scene, simulated.url())
        begun = await CONNECTOR.begin(connecting)
        assert isinstance(begun, Redirect)
        query = parse_qs(urlsplit(begun.url).query)
        assert (query["state"], query["redirect_uri"]) == (["s1"], [BACK])

        code = Secret(simulated.approve(query["client_id"][0], "ada"))
        connected = await CONNECTOR.complete(connecting, begun.keep, code)
        assert isinstance(connected, tuple)
        (ada,) = connected
        assert isinstance(ada, Connected)
        assert ada.handle == "@ada@127.0.0.1"
        account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        assert of_account(account).characters == 5000

        scene.account, scene.tokens = account, ada.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


@pytest.mark.parametrize("pleroma", [False, True])
async def test_a_server_without_the_new_endpoint_tells_its_limits_by_the_old(
    pleroma: bool,
) -> None:
    rules = Rules(max_characters=5000, media_v2=False, pleroma=pleroma)
    async with mastodon(rules=rules) as (scene, simulated):
        connecting = _connecting(scene, simulated.url())
        begun = await CONNECTOR.begin(connecting)
        assert isinstance(begun, Redirect)
        code = Secret(simulated.approve(begun.keep["client_id"].reveal(), "ada"))
        connected = await CONNECTOR.complete(connecting, begun.keep, code)
        assert isinstance(connected, tuple)
        account = AccountRef(id="a1", remote_id="1", settings=connected[0].settings)
        assert of_account(account).characters == 5000


async def test_a_code_is_good_once() -> None:
    async with mastodon() as (scene, simulated):
        connecting = _connecting(scene, simulated.url())
        begun = await CONNECTOR.begin(connecting)
        assert isinstance(begun, Redirect)
        code = Secret(simulated.approve(begun.keep["client_id"].reveal(), "ada"))
        await CONNECTOR.complete(connecting, begun.keep, code)
        again = await CONNECTOR.complete(connecting, begun.keep, code)
        assert isinstance(again, Disconnected)
        assert code.reveal() not in repr(again)


async def test_an_address_that_is_no_server_is_refused_in_words() -> None:
    async with mastodon() as (scene, _):
        assert isinstance(await CONNECTOR.begin(_connecting(scene, "")), Rejected)


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("mastodon.social", "https://mastodon.social"),
        ("https://mastodon.social/@ada", "https://mastodon.social"),
        ("@ada@mastodon.social", "https://mastodon.social"),
        ("", None),
    ],
)
def test_what_people_type_becomes_an_address(typed: str, url: str | None) -> None:
    assert server_address(typed) == url
