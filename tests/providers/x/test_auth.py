"""Connecting an X account: PKCE, codes of half a minute, refresh tokens that are good once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from cadenza.demo.networks.x import SimulatedX
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.connect import Connecting, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import App, Tokens
from cadenza.providers.outcome import (
    Disconnected,
    Forbidden,
    Rejected,
    Transient,
    Unconfirmed,
)
from cadenza.providers.pkce import challenge
from cadenza.providers.x import CONNECTOR, PROVIDER
from tests.providers.contract import Scene, drive, judge
from tests.providers.x.fixtures import BACK, CANARY, REFRESH, call_of, x

TOKENS = "POST /2/oauth2/token"
VERIFIER = "a-verifier-that-is-long-enough-to-be-one-0123456789"


def _connecting(scene: Scene) -> Connecting:
    return Connecting(
        http=scene.http,
        app=scene.app,
        now=scene.simulator.clock.now(),
        redirect_uri=BACK,
        state="s1",
        verifier=VERIFIER,
    )


async def _go(connecting: Connecting, simulated: SimulatedX) -> tuple[Redirect, Secret]:
    begun = await CONNECTOR.begin(connecting)
    assert isinstance(begun, Redirect)
    query = parse_qs(urlsplit(begun.url).query)
    assert (query["state"], query["code_challenge_method"]) == (["s1"], ["S256"])
    code = simulated.approve(
        simulated.clients[query["client_id"][0]],
        simulated.tokens[CANARY].user,
        scopes=query["scope"][0],
        challenge=query["code_challenge"][0],
    )
    return begun, Secret(code)


@pytest.mark.parametrize("public", [False, True])
async def test_a_person_signs_in_and_can_post(public: bool) -> None:
    async with x() as (scene, simulated):
        if public:
            client = simulated.add_app(BACK, secret=False)
            scene.app = App(base_url=simulated.url(), client_id=client.id)
        connecting = _connecting(scene)
        begun, code = await _go(connecting, simulated)
        assert VERIFIER not in begun.url
        connected = await CONNECTOR.complete(connecting, begun.keep, code)
        assert isinstance(connected, tuple)
        (ada,) = connected
        assert (ada.handle, ada.remote_id) == ("@ada", scene.account.remote_id)
        scene.tokens = ada.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


def test_the_challenge_is_that_of_the_standard() -> None:
    # RFC 7636, appendix B
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert challenge(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


async def test_a_code_needs_its_verifier_and_haste() -> None:
    async with x() as (scene, simulated):
        connecting = _connecting(scene)
        _, code = await _go(connecting, simulated)
        wrong = {"verifier": Secret("another-verifier-than-the-one-that-began")}
        assert isinstance(await CONNECTOR.complete(connecting, wrong, code), Disconnected)
        begun, code = await _go(connecting, simulated)
        scene.simulator.clock.advance(timedelta(seconds=31))
        late = await CONNECTOR.complete(connecting, begun.keep, code)
        assert isinstance(late, Disconnected)
        assert code.reveal() not in repr(late)


async def test_an_app_must_be_set_and_known() -> None:
    async with x() as (scene, simulated):
        bare = replace(_connecting(scene), app=App(base_url=""))
        assert isinstance(await CONNECTOR.begin(bare), Rejected)
        connecting = _connecting(scene)
        begun, code = await _go(connecting, simulated)
        unknown = replace(connecting, app=replace(scene.app, client_secret=Secret("wrong-secret")))
        assert isinstance(await CONNECTOR.complete(unknown, begun.keep, code), Forbidden)


async def test_a_refresh_brings_a_new_pair_and_the_old_one_is_dead() -> None:
    async with x() as (scene, _):
        fresh = await PROVIDER.refresh(call_of(scene))
        assert isinstance(fresh, Tokens)
        assert fresh.refresh not in {None, Secret(REFRESH)}
        assert fresh.expires_at == scene.simulator.clock.now() + timedelta(hours=2)
        again = await PROVIDER.refresh(call_of(scene))
        assert isinstance(again, Disconnected)
        assert REFRESH not in repr(again)


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_trouble_at_renewing_disconnects_nobody(status: int) -> None:
    async with x() as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, TOKENS, status=status)
        assert isinstance(await PROVIDER.refresh(call_of(scene)), Transient)
        assert isinstance(await PROVIDER.refresh(call_of(scene)), Tokens)


@pytest.mark.parametrize(
    "kind", [Kind.RESET_AFTER, Kind.DROP_AFTER, Kind.SILENCE_AFTER, Kind.TRUNCATE_AFTER]
)
async def test_a_refresh_whose_answer_was_lost_is_a_lost_rotation(kind: Kind) -> None:
    async with x() as (scene, simulated):
        await PROVIDER.find_out(call_of(scene))  # leaves a connection that must not be used for it
        simulated.faults.plan(kind, TOKENS)
        assert isinstance(await PROVIDER.refresh(call_of(scene)), Unconfirmed)
        assert sum(each.path == "/2/oauth2/token" for each in simulated.received) == 1
        assert isinstance(await PROVIDER.refresh(call_of(scene)), Disconnected)


async def test_a_refresh_that_never_left_is_tried_again() -> None:
    async with x() as (scene, _):
        for endpoint in scene.simulated.endpoints:
            await scene.simulator.close_endpoint(scene.simulated, endpoint)
        assert isinstance(await PROVIDER.refresh(call_of(scene)), Transient)
        for endpoint in scene.simulated.endpoints:
            await scene.simulator.open_endpoint(scene.simulated, endpoint)
        assert isinstance(await PROVIDER.refresh(call_of(scene)), Tokens)
