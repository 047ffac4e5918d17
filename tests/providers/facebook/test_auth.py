"""Connecting Facebook pages: codes, long tokens, pages that the list hides, and renewing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from cadenza.demo.networks.facebook import SimulatedFacebook
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.connect import Connected, Connecting, Redirect
from cadenza.providers.facebook import CONNECTOR
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import App, Tokens
from cadenza.providers.outcome import Disconnected, Forbidden, Rejected, Transient
from tests.providers.contract import Scene, drive, judge, no_secret_in
from tests.providers.facebook.fixtures import CANARIES, START, USER, facebook

BACK = "https://cadenza.example/back"


def _connecting(scene: Scene) -> Connecting:
    return Connecting(
        http=scene.http,
        app=scene.app,
        now=scene.simulator.clock.now(),
        redirect_uri=BACK,
        state="s1",
    )


async def _connect(scene: Scene, simulated: SimulatedFacebook) -> tuple[Connected, ...] | object:
    code = Secret(simulated.approve("ada", BACK))
    return await CONNECTOR.complete(_connecting(scene), {}, code)


async def test_a_person_is_sent_to_facebook_with_our_state() -> None:
    async with facebook() as (scene, simulated):
        begun = await CONNECTOR.begin(_connecting(scene))
        assert isinstance(begun, Redirect)
        place = urlsplit(begun.url)
        query = parse_qs(place.query)
        assert (place.hostname, place.path) == ("www.facebook.com", "/v26.0/dialog/oauth")
        assert (query["state"], query["redirect_uri"]) == (["s1"], [BACK])
        assert query["client_id"] == [simulated.app_id]
        assert "pages_manage_posts" in query["scope"][0]


async def test_every_page_is_connected_also_those_that_the_list_hides() -> None:
    async with facebook() as (scene, simulated):
        simulated.add_page("Ada's garden", "ada")
        hidden = simulated.add_page("Ada's company", "ada", listed=False)
        simulated.add_page("Ben's garage", "ben")
        connected = await _connect(scene, simulated)
        assert isinstance(connected, tuple)
        assert [each.name for each in connected] == ["Ada's bakery", "Ada's garden", hidden.name]
        bakery = connected[0]
        assert bakery.tokens.expires_at == START + timedelta(seconds=5183944)

        scene.tokens = bakery.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


async def test_a_code_is_good_once_and_stays_secret() -> None:
    async with facebook() as (scene, simulated):
        code = Secret(simulated.approve("ada", BACK))
        await CONNECTOR.complete(_connecting(scene), {}, code)
        again = await CONNECTOR.complete(_connecting(scene), {}, code)
        assert isinstance(again, Disconnected)
        no_secret_in([repr(again)], [code.reveal(), *CANARIES])


async def test_a_person_without_pages_is_told_so() -> None:
    async with facebook() as (scene, simulated):
        code = Secret(simulated.approve("cy", BACK))
        assert isinstance(await CONNECTOR.complete(_connecting(scene), {}, code), Forbidden)


async def test_a_page_without_the_right_to_post_is_left_out() -> None:
    async with facebook() as (scene, simulated):
        simulated.add_page("Ada's club", "ada").tasks = ("ANALYZE",)
        connected = await _connect(scene, simulated)
        assert isinstance(connected, tuple)
        assert [each.name for each in connected] == ["Ada's bakery"]


async def test_without_an_app_in_the_settings_nothing_begins() -> None:
    async with facebook() as (scene, _):
        connecting = replace(_connecting(scene), app=App(base_url=""))
        assert isinstance(await CONNECTOR.begin(connecting), Rejected)


async def test_renewing_lengthens_the_persons_token_and_reads_the_pages_again() -> None:
    async with facebook() as (scene, simulated):
        scene.simulator.clock.advance(timedelta(days=55))
        fresh = await scene.provider.refresh(scene.call())
        assert isinstance(fresh, Tokens)
        assert fresh.expires_at == simulated.now + timedelta(seconds=5183944)
        assert fresh.extra["user"].reveal() != USER
        scene.tokens = fresh
        judge(await drive(scene), scene)


async def test_an_expired_person_cannot_be_renewed() -> None:
    async with facebook() as (scene, _):
        scene.simulator.clock.advance(timedelta(days=61))
        assert isinstance(await scene.provider.refresh(scene.call()), Disconnected)


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_fault_while_renewing_disconnects_nobody(status: int) -> None:
    async with facebook() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, "GET /{version}/oauth/access_token", status=status)
        assert isinstance(await scene.provider.refresh(scene.call()), Transient)


async def test_a_lost_role_asks_an_admin_to_connect() -> None:
    async with facebook() as (scene, simulated):
        simulated.tokens[scene.tokens.access.reveal()].trouble = "role"
        ended = await drive(scene)
        assert isinstance(ended.outcome, Forbidden)


async def test_an_app_that_demands_a_proof_gets_one() -> None:
    async with facebook() as (scene, simulated):
        scene.app = replace(scene.app, options={"appsecret_proof": "yes"})
        judge(await drive(scene), scene)
        assert all(b"appsecret_proof=" in each.body for each in simulated.received if each.body)


async def test_another_version_than_asked_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    async with facebook() as (scene, simulated):
        simulated.served = "v27.0"
        judge(await drive(scene), scene)
        assert "v27.0 instead of v26.0" in caplog.text
