"""Connecting Instagram: its own sign-in, Facebook's, and tokens of sixty days."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from cadenza.demo.simulator.faults import Kind
from cadenza.providers.connect import Connecting, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.instagram import CONNECTOR
from cadenza.providers.message import AccountRef, App, Tokens
from cadenza.providers.outcome import Disconnected, Forbidden, Rejected, Transient
from tests.providers.contract import Scene, drive, judge, no_secret_in
from tests.providers.instagram.fixtures import CANARIES, CANARY, START, instagram

BACK = "https://cadenza.example/back"


def _connecting(scene: Scene) -> Connecting:
    now = scene.simulator.clock.now()
    return Connecting(http=scene.http, app=scene.app, now=now, redirect_uri=BACK, state="s1")


@pytest.mark.parametrize(
    ("by_facebook", "host"), [(False, "www.instagram.com"), (True, "www.facebook.com")]
)
async def test_a_person_is_sent_to_the_chosen_sign_in(by_facebook: bool, host: str) -> None:
    async with instagram(by_facebook=by_facebook) as (scene, _):
        begun = await CONNECTOR.begin(_connecting(scene))
        assert isinstance(begun, Redirect)
        query = parse_qs(urlsplit(begun.url).query)
        assert urlsplit(begun.url).hostname == host
        assert (query["state"], query["redirect_uri"]) == (["s1"], [BACK])
        assert "content_publish" in query["scope"][0]


async def test_a_person_signs_in_with_instagram_and_can_post() -> None:
    async with instagram() as (scene, simulated):
        code = Secret(simulated.let_in(scene.account.remote_id, BACK))
        connected = await CONNECTOR.complete(_connecting(scene), {}, code)
        assert isinstance(connected, tuple)
        (ada,) = connected
        assert (ada.remote_id, ada.handle) == (scene.account.remote_id, "@ada")
        assert ada.tokens.expires_at == START + timedelta(seconds=5183944)
        scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        scene.tokens = ada.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


async def test_a_person_signs_in_with_facebook_and_their_pages_accounts_can_post() -> None:
    async with instagram(by_facebook=True) as (scene, simulated):
        simulated.add_page("A page without Instagram", "ada-person")
        code = Secret(simulated.approve("ada-person", BACK))
        connected = await CONNECTOR.complete(_connecting(scene), {}, code)
        assert isinstance(connected, tuple)
        (ada,) = connected
        assert ada.remote_id == scene.account.remote_id
        scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        scene.tokens = ada.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


async def test_pages_without_an_account_are_told_apart() -> None:
    async with instagram(by_facebook=True) as (scene, simulated):
        simulated.add_page("A page without Instagram", "cy")
        code = Secret(simulated.approve("cy", BACK))
        assert isinstance(await CONNECTOR.complete(_connecting(scene), {}, code), Forbidden)


async def test_a_code_is_good_once_and_stays_secret() -> None:
    async with instagram() as (scene, simulated):
        code = Secret(simulated.let_in(scene.account.remote_id, BACK))
        await CONNECTOR.complete(_connecting(scene), {}, code)
        again = await CONNECTOR.complete(_connecting(scene), {}, code)
        assert isinstance(again, Disconnected)
        no_secret_in([repr(again)], [code.reveal(), *CANARIES])


async def test_without_an_app_in_the_settings_nothing_begins() -> None:
    async with instagram() as (scene, _):
        connecting = replace(_connecting(scene), app=App(base_url=""))
        assert isinstance(await CONNECTOR.begin(connecting), Rejected)


async def test_a_token_is_renewed_when_it_is_a_day_old_and_not_before() -> None:
    async with instagram() as (scene, simulated):
        scene.simulator.clock.advance(timedelta(hours=4))
        early = await scene.provider.refresh(scene.call())
        assert isinstance(early, Disconnected)  # only a refused token is renewed so early
        scene.simulator.clock.advance(timedelta(hours=20))
        fresh = await scene.provider.refresh(scene.call())
        assert isinstance(fresh, Tokens)
        assert fresh.access.reveal() != CANARY
        assert fresh.expires_at == simulated.now + timedelta(seconds=5183944)
        scene.tokens = fresh
        judge(await drive(scene), scene)


async def test_an_expired_token_cannot_be_renewed() -> None:
    async with instagram() as (scene, _):
        scene.simulator.clock.advance(timedelta(days=61))
        assert isinstance(await scene.provider.refresh(scene.call()), Disconnected)


async def test_a_fault_while_renewing_disconnects_nobody() -> None:
    async with instagram() as (scene, simulated):
        scene.simulator.clock.advance(timedelta(days=50))
        simulated.faults.plan(Kind.ERROR_BEFORE, "GET /refresh_access_token", status=503)
        assert isinstance(await scene.provider.refresh(scene.call()), Transient)
