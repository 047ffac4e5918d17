"""Connecting LinkedIn: a profile and its pages by one sign-in, renewed where LinkedIn lets us."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from cadenza.demo.networks.linkedin import SimulatedLinkedIn
from cadenza.demo.simulator.faults import Kind
from cadenza.providers.connect import Connected, Connecting, Redirect
from cadenza.providers.http.redact import Secret
from cadenza.providers.linkedin import CONNECTOR, PROVIDER
from cadenza.providers.message import App, Tokens
from cadenza.providers.outcome import Disconnected, Forbidden, Outcome, Rejected, Transient
from tests.providers.contract import Scene, drive, judge
from tests.providers.linkedin.fixtures import BACK, CANARY, REFRESH, linkedin

TOKENS = "POST /oauth/v2/accessToken"


def _connecting(scene: Scene, *, pages: bool) -> Connecting:
    options = {**scene.app.options, "organisations": "yes" if pages else "no"}
    return Connecting(
        http=scene.http,
        app=replace(scene.app, options=options),
        now=scene.simulator.clock.now(),
        redirect_uri=BACK,
        state="s1",
    )


async def _sign_in(
    scene: Scene, simulated: SimulatedLinkedIn, *, pages: bool
) -> tuple[Connected, ...] | Outcome:
    connecting = _connecting(scene, pages=pages)
    begun = await CONNECTOR.begin(connecting)
    assert isinstance(begun, Redirect)
    query = parse_qs(urlsplit(begun.url).query)
    assert (query["state"], query["redirect_uri"]) == (["s1"], [BACK])
    client = simulated.clients[query["client_id"][0]]
    code = simulated.approve(client, simulated.tokens[CANARY].person, query["scope"][0])
    return await CONNECTOR.complete(connecting, begun.keep, Secret(code))


@pytest.mark.parametrize("pages", [False, True])
async def test_one_sign_in_brings_the_profile_and_its_pages(pages: bool) -> None:
    async with linkedin(page=True, refreshes=True) as (scene, simulated):
        connected = await _sign_in(scene, simulated, pages=pages)
        assert isinstance(connected, tuple)
        assert [each.kind for each in connected] == ["profile", "organisation"][: 1 + pages]
        assert connected[0].name == "Ada"
        assert connected[0].tokens.expires_at == scene.simulator.clock.now() + timedelta(days=60)
        assert connected[0].tokens.refresh is not None
        if pages:
            assert connected[1].remote_id == scene.account.remote_id
            scene.tokens = connected[1].tokens
            judge(await drive(scene), scene)
            assert scene.visible() == ["Good morning"]


async def test_all_of_many_pages_are_connected_in_whatever_role_may_post() -> None:
    async with linkedin(page=True) as (scene, simulated):
        roles = ["CONTENT_ADMIN", "DIRECT_SPONSORED_CONTENT_POSTER", *["ADMINISTRATOR"] * 120]
        may = [simulated.add_page(f"Page {n}", CANARY, role) for n, role in enumerate(roles)]
        may_not = simulated.add_page("Somebody's", CANARY, "ANALYST")
        connected = await _sign_in(scene, simulated, pages=True)
        assert isinstance(connected, tuple)
        found = [each.remote_id for each in connected if each.kind == "organisation"]
        assert found == [scene.account.remote_id, *may]
        assert may_not not in found


async def test_a_code_is_good_once_and_an_app_must_be_set() -> None:
    async with linkedin() as (scene, simulated):
        connecting = _connecting(scene, pages=False)
        client = simulated.clients[scene.app.client_id]
        code = Secret(simulated.approve(client, simulated.tokens[CANARY].person, "openid"))
        assert isinstance(await CONNECTOR.complete(connecting, {}, code), tuple)
        again = await CONNECTOR.complete(connecting, {}, code)
        assert isinstance(again, Disconnected)
        assert code.reveal() not in repr(again)
        bare = replace(connecting, app=App(base_url=""))
        assert isinstance(await CONNECTOR.begin(bare), Rejected)
        wrong = replace(connecting, app=replace(scene.app, client_secret=Secret("wrong-secret")))
        assert isinstance(await CONNECTOR.complete(wrong, {}, code), Forbidden)


async def test_a_renewed_token_ends_with_the_year_of_its_refresh_token() -> None:
    async with linkedin(refreshes=True) as (scene, _):
        scene.simulator.clock.advance(timedelta(days=355))
        fresh = await PROVIDER.refresh(scene.call())
        assert isinstance(fresh, Tokens)
        assert fresh.expires_at == scene.simulator.clock.now() + timedelta(days=10)
        assert fresh.refresh == Secret(REFRESH)
        scene.simulator.clock.advance(timedelta(days=11))
        assert isinstance(await PROVIDER.refresh(scene.call()), Disconnected)


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_trouble_at_renewing_disconnects_nobody(status: int) -> None:
    async with linkedin(refreshes=True) as (scene, simulated):
        simulated.faults.plan(Kind.ERROR_BEFORE, TOKENS, status=status)
        assert isinstance(await PROVIDER.refresh(scene.call()), Transient)
        assert isinstance(await PROVIDER.refresh(scene.call()), Tokens)


async def test_a_lost_answer_at_renewing_can_be_asked_for_again() -> None:
    async with linkedin(refreshes=True) as (scene, simulated):
        simulated.faults.plan(Kind.RESET_AFTER, TOKENS)
        assert isinstance(await PROVIDER.refresh(scene.call()), Transient)
        assert isinstance(await PROVIDER.refresh(scene.call()), Tokens)


async def test_without_a_refresh_token_a_person_must_sign_in() -> None:
    async with linkedin() as (scene, _):
        assert isinstance(await PROVIDER.refresh(scene.call()), Disconnected)
