"""Connecting accounts that are signed in at Unipile: those that can send, by one key."""

from __future__ import annotations

import pytest

from cadenza.providers.connect import Connecting
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef
from cadenza.providers.outcome import Disconnected, Outcome, Rejected
from cadenza.providers.unipile import CONNECTOR
from tests.providers.contract import Scene, drive, judge, no_secret_in
from tests.providers.unipile.fixtures import CANARY, unipile


def _connecting(scene: Scene, key: str = CANARY, account: str = "") -> Connecting:
    return Connecting(
        http=scene.http,
        app=scene.app,
        now=scene.simulator.clock.now(),
        typed={"dsn": scene.app.base_url, "api_key": Secret(key), "account": account},
    )


async def test_all_accounts_that_can_send_are_connected_page_by_page() -> None:
    async with unipile("chat") as (scene, simulated):
        simulated.page = 2
        simulated.add_account("Ada's mail", kind="OUTLOOK")
        simulated.add_account("Ada's phone", kind="WHATSAPP")
        simulated.add_account("Cy").status = "CREDENTIALS"
        connected = await CONNECTOR.begin(_connecting(scene))
        assert isinstance(connected, tuple)
        assert [(each.name, each.kind) for each in connected] == [
            ("Ada", "linkedin"),
            ("Ada's mail", "mail"),
        ]
        ada = connected[0]
        scene.account = AccountRef(id="a1", remote_id=ada.remote_id, settings=ada.settings)
        scene.tokens = ada.tokens
        judge(await drive(scene), scene)
        assert scene.visible() == ["Good morning"]
        no_secret_in([repr(connected)], [CANARY])


@pytest.mark.parametrize(
    ("key", "account", "expected"),
    [
        ("", "", Rejected),
        ("wrong-key", "", Disconnected),
        (CANARY, "nobody", Rejected),
        (CANARY, "cy", Disconnected),
    ],
)
async def test_what_cannot_send_is_not_connected(
    key: str, account: str, expected: type[Outcome]
) -> None:
    async with unipile("chat") as (scene, simulated):
        cy = simulated.add_account("Cy")
        cy.status = "CREDENTIALS"
        wanted = cy.id if account == "cy" else account
        refused = await CONNECTOR.begin(_connecting(scene, key, wanted))
        assert isinstance(refused, expected)
        no_secret_in([repr(refused)], [CANARY])
