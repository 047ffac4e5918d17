"""Connecting a bot: by its token, alone or with a chat that it may write in."""

from __future__ import annotations

import pytest

from cadenza.providers.connect import Connecting
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef
from cadenza.providers.outcome import Disconnected, Forbidden, Outcome, RecipientGone, Rejected
from cadenza.providers.telegram import CONNECTOR
from tests.providers.contract import Scene, drive, judge, no_secret_in
from tests.providers.telegram.fixtures import CANARY, telegram


def _connecting(scene: Scene, token: str = CANARY, chat: str = "") -> Connecting:
    return Connecting(
        http=scene.http,
        app=scene.app,
        now=scene.simulator.clock.now(),
        typed={"token": Secret(token), "chat": chat},
    )


async def test_a_bot_is_connected_to_its_channel_and_can_post() -> None:
    async with telegram() as (scene, _):
        connected = await CONNECTOR.begin(_connecting(scene, chat="@Ada_Daily"))
        assert isinstance(connected, tuple)
        (ada,) = connected
        assert (ada.handle, ada.name, ada.kind) == ("@ada_daily", "Ada daily", "channel")
        scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        scene.tokens = ada.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]
        no_secret_in([repr(connected)], [CANARY])


async def test_a_bot_alone_is_an_account_that_writes_to_people() -> None:
    async with telegram() as (scene, _):
        connected = await CONNECTOR.begin(_connecting(scene))
        assert isinstance(connected, tuple)
        assert (connected[0].remote_id, connected[0].handle) == ("5550001111", "@ada_bot")
        account = AccountRef(id="a1", remote_id="5550001111", settings=connected[0].settings)
        found = scene.provider.validate(scene.message, account)
        assert [each.code for each in found] == ["no_chat"]


@pytest.mark.parametrize(
    ("token", "chat", "expected"),
    [
        ("", "", Rejected),
        ("not a token", "", Rejected),
        ("123:abc/../getMe?", "", Rejected),
        ("123456:unknown", "", Disconnected),
        (CANARY, "@nobody", RecipientGone),
        (CANARY, "@guests", Forbidden),
        (CANARY, "@gone", Forbidden),
    ],
)
async def test_what_cannot_send_is_not_connected(
    token: str, chat: str, expected: type[Outcome]
) -> None:
    async with telegram() as (scene, simulated):
        simulated.add_chat("channel", "Guests", username="guests", state="not_admin")
        simulated.add_chat("supergroup", "Gone", username="gone", state="kicked")
        refused = await CONNECTOR.begin(_connecting(scene, token, chat))
        assert isinstance(refused, expected)
        no_secret_in([repr(refused)], [CANARY])
