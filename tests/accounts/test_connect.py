"""Accounts come, come back as the same, and go with their tokens wiped."""

from cadenza.accounts.connect import (
    NewAccount,
    NoSuchAccount,
    OtherIdentity,
    Reconnected,
    reconnect,
)
from cadenza.accounts.disconnect import disconnect
from cadenza.providers.connect import Connected
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from tests.accounts.conftest import HOME, Desk, ada

FRESH = Tokens(access=Secret("second-access"), refresh=Secret("second-refresh"))


async def come_back(desk: Desk, who: Connected, id_: str = "ada") -> object:
    return await desk.operations.run(
        lambda tx, now: reconnect(
            tx, now, workspace_id=HOME, account_id=id_, connected=who, ring=desk.ring
        )
    )


async def test_a_connected_account_sends_with_the_workspaces_zone(desk: Desk) -> None:
    assert await desk.connect() == NewAccount("ada")
    row = await desk.account()
    assert (row.state, row.zone, row.handle) == ("connected", "Europe/Berlin", "@ada")
    assert (await desk.tokens()).access.reveal() == "canary-access"
    assert [lane["id"] for lane in await desk.rows("lane")] == ["account:ada"]


async def test_no_secret_stands_in_the_database(desk: Desk) -> None:
    await desk.connect()
    tables = ("account", "outbox", "lane", "budget", "audit")
    assert "canary" not in "".join([repr(await desk.rows(table)) for table in tables])


async def test_the_same_identity_is_the_same_account(desk: Desk) -> None:
    await desk.connect()
    assert await desk.connect(ada(FRESH), id_="another") == Reconnected("ada", "connected")
    assert len(await desk.rows("account")) == 1
    assert (await desk.tokens()).access.reveal() == "second-access"


async def test_a_reconnect_brings_a_lost_account_back(desk: Desk) -> None:
    await desk.connect()
    await desk.set(state="needs_reconnect", state_reason="revoked", lost_at=await desk.now())
    assert await come_back(desk, ada(FRESH)) == Reconnected("ada", "needs_reconnect")
    row = await desk.account()
    assert (row.state, row.state_reason, row.lost_at) == ("connected", None, None)
    assert (await desk.tokens()).refresh == Secret("second-refresh")


async def test_another_identity_cannot_take_an_account_over(desk: Desk) -> None:
    await desk.connect()
    await desk.set(state="needs_reconnect")
    answer = await come_back(desk, ada(FRESH, remote_id="43", handle="@ben"))
    assert isinstance(answer, OtherIdentity)
    assert answer.expected == "42"
    assert (await desk.account()).state == "needs_reconnect"
    assert (await desk.tokens()).access.reveal() == "canary-access"
    assert await come_back(desk, ada(FRESH), id_="cy") == NoSuchAccount()


async def test_settings_that_people_made_survive_a_reconnect(desk: Desk) -> None:
    await desk.connect(ada(settings={"instance": "old"}))
    await desk.set(settings='{"hours":{"post":null},"instance":"old"}')
    await come_back(desk, ada(FRESH, settings={"instance": "new"}))
    settings = (await desk.account()).settings
    assert '"hours":{"post":null}' in settings
    assert '"instance":"new"' in settings


async def test_a_suspension_is_not_lifted_by_a_reconnect(desk: Desk) -> None:
    await desk.connect()
    await desk.set(state="suspended", state_reason="spam")
    await come_back(desk, ada(FRESH))
    row = await desk.account()
    assert (row.state, row.state_reason) == ("suspended", "spam")


async def test_a_disconnected_account_keeps_no_token(desk: Desk) -> None:
    await desk.connect()
    gone = [
        await desk.operations.run(
            lambda tx, now: disconnect(
                tx, now, workspace_id=HOME, account_id="ada", reason="Ada left"
            )
        )
        for _ in range(2)
    ]
    assert gone == [True, False]
    row = await desk.account()
    assert (row.state, row.state_reason, row.sealed) == ("disabled", "Ada left", None)
