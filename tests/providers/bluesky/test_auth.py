"""Connecting a Bluesky account: an app password once, then a session on the account's own server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cadenza.providers.bluesky import CONNECTOR
from cadenza.providers.connect import Connected, Connecting
from cadenza.providers.http.redact import Secret
from cadenza.providers.outcome import Disconnected, Forbidden, Outcome, Rejected, TryLater
from tests.providers.bluesky.fixtures import PASSWORD, bluesky
from tests.providers.contract import Scene, drive, judge


async def _connect(scene: Scene, password: str = PASSWORD) -> tuple[Connected, ...] | Outcome:
    connecting = Connecting(
        http=scene.http,
        app=scene.app,
        now=scene.simulator.clock.now(),
        typed={"handle": "@ada.example", "password": Secret(password)},
    )
    answer = await CONNECTOR.begin(connecting)
    assert not hasattr(answer, "keep")
    return answer  # pyright: ignore[reportReturnType]


async def test_a_person_connects_and_posts_through_their_own_server() -> None:
    async with bluesky() as (scene, simulated):
        connected = await _connect(scene)
        assert isinstance(connected, tuple)
        (ada,) = connected
        assert ada.settings == {"pds": simulated.url("pds")}
        assert PASSWORD not in repr(ada)
        scene.tokens = ada.tokens
        scene.account = replace(scene.account, settings=ada.settings)
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]


async def test_a_person_with_a_server_of_their_own_names_it() -> None:
    async with bluesky() as (scene, simulated):
        connecting = Connecting(
            http=scene.http,
            app=replace(scene.app, base_url="https://knows-nobody.example"),
            now=scene.simulator.clock.now(),
            typed={
                "handle": "ada.example",
                "password": Secret(PASSWORD),
                "server": f"{simulated.url('pds')}/",
            },
        )
        connected = await CONNECTOR.begin(connecting)
        assert isinstance(connected, tuple)
        assert connected[0].settings == {"pds": simulated.url("pds")}
        broken = replace(connecting, typed={**connecting.typed, "server": "https://["})
        assert isinstance(await CONNECTOR.begin(broken), Rejected)


async def test_a_wrong_password_is_said_without_repeating_it() -> None:
    async with bluesky() as (scene, _):
        answer = await _connect(scene, "wrong-password-canary")
        assert isinstance(answer, Disconnected)
        assert "canary" not in repr(answer)


@pytest.mark.parametrize("trouble", ["AccountTakedown", "AccountDeactivated"])
async def test_an_account_in_trouble_is_a_persons_matter(trouble: str) -> None:
    async with bluesky() as (scene, simulated):
        simulated.trouble[scene.account.remote_id] = trouble
        assert isinstance(await _connect(scene), Forbidden)


async def test_a_second_factor_points_to_app_passwords() -> None:
    async with bluesky() as (scene, simulated):
        simulated.needs_factor.add(scene.account.remote_id)
        answer = await _connect(scene)
        assert isinstance(answer, Forbidden)
        assert "app password" in answer.message


async def test_too_many_sign_ins_are_told_to_wait() -> None:
    async with bluesky() as (scene, simulated):
        simulated.signs_in.limit = 0
        assert isinstance(await _connect(scene), TryLater)


async def test_nothing_typed_is_nothing_sent() -> None:
    async with bluesky() as (scene, simulated):
        connecting = Connecting(http=scene.http, app=scene.app, now=scene.simulator.clock.now())
        assert isinstance(await CONNECTOR.begin(connecting), Rejected)
        assert simulated.received == []
