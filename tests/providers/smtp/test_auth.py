"""Connecting a mailbox: one sign-in proves it, and no mail is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from cadenza.providers.connect import Connecting
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef
from cadenza.providers.outcome import Disconnected, Forbidden, Outcome, Rejected
from cadenza.providers.smtp import CONNECTOR
from tests.providers.contract import Scene, drive, judge, no_secret_in
from tests.providers.smtp.fixtures import ADA, CANARY, mail_server


def connecting(scene: Scene, **typed: str) -> Connecting:
    settings = scene.account.settings
    known = {
        "host": "127.0.0.1",
        "port": str(settings["port"]),
        "security": str(settings["security"]),
        "from_address": ADA,
        "from_name": "Ada",
        **typed,
    }
    password = Secret(known.pop("password", CANARY))
    return Connecting(
        http=scene.http,
        app=scene.app,
        now=scene.simulator.clock.now(),
        typed={**known, "password": password},
    )


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_mailbox_is_connected_without_a_mail_and_can_send(
    security: str, certificate: Path
) -> None:
    async with mail_server(certificate=certificate, security=security) as (scene, simulated):
        connected = await CONNECTOR.begin(connecting(scene))
        assert isinstance(connected, tuple)
        (ada,) = connected
        assert (ada.remote_id, ada.name, scene.visible()) == (ADA, "Ada", [])
        scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        scene.tokens = ada.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]
        assert simulated.sign_ins == 2
        no_secret_in([repr(connected)], [CANARY])


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({"password": "wrong-password"}, Disconnected),
        ({"from_address": "ada"}, Rejected),
        ({"port": "many"}, Rejected),
        ({"security": "rot13"}, Rejected),
        ({"port": "22"}, Forbidden),
        ({"host": "mail.example.com/x"}, Forbidden),
    ],
)
async def test_what_cannot_send_is_not_connected(
    typed: dict[str, str], expected: type[Outcome]
) -> None:
    async with mail_server() as (scene, _):
        refused = await CONNECTOR.begin(connecting(scene, **typed))
        assert isinstance(refused, expected)
        no_secret_in([repr(refused)], [CANARY])
