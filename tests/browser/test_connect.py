"""Connecting an account in a browser, to the network's own page and back, against a simulated Mastodon."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from cadenza.cli.local import open_local
from cadenza.config.model import Network
from cadenza.core.secret import Secret
from cadenza.deliveries import lanes
from cadenza.demo.networks.mastodon import SimulatedMastodon
from cadenza.providers.telegram_person import auth
from cadenza.sql.tx import Tx
from tests.browser.look import hindrances, snap
from tests.browser.stage import HOME, Stage
from tests.browser.texts import t
from tests.providers.mastodon.fixtures import CANARY, mastodon
from tests.providers.telegram_person.fixtures import APP, person
from tests.providers.telegram_person.standin import CODE, PASSWORD, PHONE

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def simulated(stage: Stage) -> AsyncIterator[SimulatedMastodon]:
    """A Mastodon that the application can reach, and that sends people back to it."""
    async with mastodon() as (scene, simulated):
        settings = replace(stage.runtime.settings, public_url=stage.address)
        stage.app.state.runtime = replace(stage.runtime, http=scene.http, settings=settings)
        yield simulated


async def test_an_account_is_connected_by_way_of_the_networks_own_page(
    stage: Stage, simulated: SimulatedMastodon
) -> None:
    page = await stage.visit("ada", "accounts")
    await begin(page, simulated)

    brought = page.get_by_role("dialog", name=t("accounts.connect"))
    await expect(brought).to_contain_text("It's ready.")
    await snap(page, "accounts-brought")
    assert await hindrances(page) == []
    await brought.get_by_role("button", name=t("accounts.done")).click()
    await expect(page.get_by_text("1 account connected.")).to_be_visible()
    (row,) = await stage.rows(
        "SELECT id, handle, state FROM account WHERE id NOT IN ('mastodon', 'bluesky', 'linkedin')"
    )
    assert row["state"] == "connected"
    await expect(page.get_by_role("button", name=row["handle"])).to_contain_text(
        t("accounts.connected")
    )


async def test_who_says_no_on_the_networks_page_is_told_and_nothing_is_connected(
    stage: Stage, simulated: SimulatedMastodon
) -> None:
    simulated.refuses = True
    page = await stage.visit("ada", "accounts")
    await begin(page, simulated)

    await expect(page.get_by_text("The network said: The person said no.")).to_be_visible()
    await snap(page, "accounts-refused")
    assert await hindrances(page) == []
    await page.get_by_role("link", name=t("accounts.backToAccounts")).click()
    await expect(page.get_by_role("button", name=t("accounts.connectAnAccount"))).to_be_visible()
    assert len(await stage.rows("SELECT id FROM account")) == 3


async def test_what_the_command_line_began_is_finished_in_the_browser(
    stage: Stage, simulated: SimulatedMastodon
) -> None:
    async with open_local(stage.app.state.runtime) as client:
        fields = {"instance": simulated.url()}
        begun = await client.workspace(HOME).connect.begin("mastodon", fields=fields)
    assert begun["redirect"] is not None
    assert begun["id"] is not None
    page = await stage.visit("ada", "queue")
    await page.goto(begun["redirect"])
    brought = page.get_by_role("dialog", name=t("accounts.connect"))
    await expect(brought).to_contain_text("It's ready.")
    await expect(page).to_have_url(f"{stage.address}/w/{HOME}/accounts")
    async with open_local(stage.app.state.runtime) as client:
        told = await client.workspace(HOME).connect.show_begun(begun["id"])
    assert told["state"] == "connected"


async def test_somebody_else_who_comes_back_connects_nothing(
    stage: Stage, simulated: SimulatedMastodon
) -> None:
    async with open_local(stage.app.state.runtime) as client:
        fields = {"instance": simulated.url()}
        begun = await client.workspace(HOME).connect.begin("mastodon", fields=fields)
    assert begun["redirect"] is not None
    await stage.runtime.operations.run(
        lambda tx, _: tx.run(
            "UPDATE member SET role = 'admin' WHERE id = :id", id=stage.members["ben"]
        )
    )
    page = await stage.visit("ben", "queue")
    await page.goto(begun["redirect"])
    await expect(page.get_by_text("signed in as the same person")).to_be_visible()
    await snap(page, "accounts-somebody-else")
    assert len(await stage.rows("SELECT id FROM account")) == 3


async def test_telegram_asks_for_a_number_a_code_and_a_password(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with person() as (call, telegram):
        telegram.signed_in, telegram.has_password = False, True
        monkeypatch.setattr(auth, "blank", lambda: Secret(telegram.session))
        network = Network(client_id=APP.client_id, client_secret=APP.client_secret)
        settings = replace(stage.runtime.settings, providers={"telegram_person": network})
        stage.app.state.runtime = replace(
            stage.runtime, http=call.http, settings=settings, app_of=lambda _: APP
        )
        page = await stage.visit("ada", "accounts")
        await page.get_by_role("button", name=t("accounts.connectAnAccount")).click()
        await page.get_by_role("button", name=t("ui.telegramPersonal")).click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Telephone number").fill(f"+{PHONE}")
        await dialog.get_by_role("button", name=t("accounts.connect"), exact=True).click()
        await expect(dialog).to_contain_text("Telegram has sent you a code.")
        await dialog.get_by_role("textbox", name="Code").fill("11111")
        await dialog.get_by_role("button", name=t("accounts.continue")).click()
        await expect(dialog.get_by_role("alert")).to_be_visible()
        await snap(page, "accounts-connect-code")
        assert await hindrances(page) == []
        await dialog.get_by_role("textbox", name="Code").fill(CODE)
        await dialog.get_by_role("button", name=t("accounts.continue")).click()
        await expect(dialog).to_contain_text("This account has a password.")
        await dialog.get_by_role("textbox", name=t("enter.password")).fill(PASSWORD)
        await dialog.get_by_role("button", name=t("accounts.continue")).click()
        await expect(dialog).to_contain_text("It's ready.")
    (row,) = await stage.rows("SELECT state FROM account WHERE provider = 'telegram_person'")
    assert row["state"] == "connected"


async def begin(page: Page, simulated: SimulatedMastodon) -> None:
    await page.get_by_role("button", name=t("accounts.connectAnAccount")).click()
    await page.get_by_role("button", name="Mastodon", exact=True).click()
    await page.get_by_role("dialog").get_by_role("textbox").first.fill(simulated.url())
    await page.get_by_role("button", name=t("accounts.connect"), exact=True).click()


async def test_after_a_reconnect_a_person_chooses_what_happens_to_what_came_due(
    stage: Stage, simulated: SimulatedMastodon
) -> None:
    await lose(stage, simulated)
    page = await stage.visit("ada", "accounts?account=mastodon")
    await page.get_by_role("button", name="Reconnect…", exact=True).click()
    await page.get_by_role("dialog").get_by_role("textbox").first.fill(simulated.url())
    await page.get_by_role("button", name=t("accounts.connect"), exact=True).click()

    brought = page.get_by_role("dialog", name=t("accounts.connect"))
    await expect(brought).to_contain_text("2 posts were due while it was disconnected")
    await snap(page, "accounts-came-due")
    await brought.get_by_role("button", name=t("accounts.done")).click()
    await expect(page.get_by_text(t("accounts.postsNeedADecision")).first).to_be_visible()

    await page.goto(f"{stage.address}/w/{HOME}/attention")
    await expect(page.get_by_role("button", name=t("accounts.decideDots")).first).to_be_visible()
    await snap(page, "attention-came-due")
    await page.goto(f"{stage.address}/w/{HOME}/queue?account=mastodon")
    await expect(page.get_by_text("2 posts were due while @ada")).to_be_visible()
    await snap(page, "queue-came-due")
    await page.get_by_role("button", name=t("accounts.decideDots")).click()
    dialog = page.get_by_role("dialog", name=t("attention.resumeQueue"))
    await expect(dialog).to_contain_text(t("queue.dueWhileDisconnected"))
    await expect(dialog.get_by_role("radio")).to_have_count(3)
    await expect(dialog).to_contain_text("2 posts were due")
    await snap(page, "queue-resume-choices")
    assert await hindrances(page) == []
    await dialog.get_by_role("button", name=t("drafts.resume")).click()
    await expect(page.get_by_text(t("queue.resumed"))).to_be_visible()
    await expect(page.get_by_text("2 posts were due while @ada")).to_have_count(0)
    now = stage.runtime.clock.now()
    rows = await stage.rows("SELECT due_at FROM delivery WHERE account_id = 'mastodon'")
    assert len(rows) == 6
    assert all(row["due_at"] > now for row in rows), "what came due took the next slots"


async def lose(stage: Stage, simulated: SimulatedMastodon) -> None:
    """Let the network revoke the account while two posts come due."""
    remote_id = simulated.person(CANARY).id

    def go(tx: Tx, now: datetime) -> None:
        first = tx.all("SELECT id FROM delivery ORDER BY due_at LIMIT 2")
        for turn, row in enumerate(first):
            tx.run(
                "UPDATE delivery SET due_at = :at, slot_at = NULL WHERE id = :id",
                at=now - timedelta(minutes=20 - turn),
                id=row["id"],
            )
        tx.run(
            """
            UPDATE account SET state = 'needs_reconnect', state_reason = 'the token was revoked',
                remote_id = :remote WHERE id = 'mastodon'
            """,
            remote=remote_id,
        )
        lanes.park(
            tx,
            now,
            workspace_id=HOME,
            lane_id="account:mastodon",
            until=now + timedelta(days=3650),
            reason="the account needs a reconnect",
            by=lanes.RECONNECT,
        )

    await stage.runtime.operations.run(go)
