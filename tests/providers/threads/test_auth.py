"""Connecting Threads: its sign-in, and tokens of sixty days."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

from cadenza.providers.connect import Connecting, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, Tokens
from cadenza.providers.outcome import Disconnected
from cadenza.providers.threads import CONNECTOR
from tests.providers.contract import Scene, drive, judge, no_secret_in
from tests.providers.threads.fixtures import CANARIES, CANARY, START, threads

BACK = "https://cadenza.example/back"


def _connecting(scene: Scene) -> Connecting:
    now = scene.simulator.clock.now()
    return Connecting(http=scene.http, app=scene.app, now=now, redirect_uri=BACK, state="s1")


async def test_a_person_signs_in_and_can_post() -> None:
    async with threads() as (scene, simulated):
        begun = await CONNECTOR.begin(_connecting(scene))
        assert isinstance(begun, Redirect)
        query = parse_qs(urlsplit(begun.url).query)
        assert (query["state"], query["redirect_uri"]) == (["s1"], [BACK])
        assert "threads_content_publish" in query["scope"][0]

        code = Secret(simulated.let_in(scene.account.remote_id, BACK))
        connected = await CONNECTOR.complete(_connecting(scene), begun.keep, code)
        assert isinstance(connected, tuple)
        (ada,) = connected
        assert ada.tokens.expires_at == START + timedelta(seconds=5183944)
        scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        scene.tokens = ada.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


async def test_a_code_is_good_once_and_stays_secret() -> None:
    async with threads() as (scene, simulated):
        code = Secret(simulated.let_in(scene.account.remote_id, BACK))
        await CONNECTOR.complete(_connecting(scene), {}, code)
        again = await CONNECTOR.complete(_connecting(scene), {}, code)
        assert isinstance(again, Disconnected)
        no_secret_in([repr(again)], [code.reveal(), *CANARIES])


async def test_a_token_is_renewed_when_it_is_a_day_old_and_not_before() -> None:
    async with threads() as (scene, simulated):
        early = await scene.provider.refresh(scene.call())
        assert isinstance(early, Disconnected)  # only a refused token is renewed so early
        scene.simulator.clock.advance(timedelta(days=1))
        fresh = await scene.provider.refresh(scene.call())
        assert isinstance(fresh, Tokens)
        assert fresh.access.reveal() != CANARY
        assert fresh.expires_at == simulated.now + timedelta(seconds=5183944)
        scene.tokens = fresh
        judge(await drive(scene), scene)


async def test_an_expired_token_cannot_be_renewed() -> None:
    async with threads() as (scene, _):
        scene.simulator.clock.advance(timedelta(days=61))
        assert isinstance(await scene.provider.refresh(scene.call()), Disconnected)
