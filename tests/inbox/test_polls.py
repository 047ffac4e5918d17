"""Networks are asked for replies and acceptances: each once, however often and by whom they are told."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest

from cadenza.accounts.connect import connect
from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.poll_accounts import find_polls, poll_account
from cadenza.config.model import Settings
from cadenza.core.channels import Channel
from cadenza.deliveries.init_account import init_account
from cadenza.demo.networks.unipile import SimulatedUnipile
from cadenza.demo.networks.unipile_lists import problem
from cadenza.demo.networks.unipile_model import Account, Person
from cadenza.demo.simulator.faults import Kind
from cadenza.demo.simulator.serve import simulate
from cadenza.demo.simulator.wire import Received
from cadenza.inbox import polls
from cadenza.inbox.account_status import note_status
from cadenza.inbox.read_events import read_data
from cadenza.inbox.sources import InboundSource, SourceKind, add_source, record_events
from cadenza.providers.connect import Connected
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.sql.tx import Row, Tx
from tests.inbox.conftest import HOME, Office, furnish_office
from tests.providers.contract import open_client

KEY = "a-key-of-unipile"
ADA = "polled-ada"
ABOUT = {"workspace_id": HOME, "account_id": ADA}


@dataclass
class Desk:
    """Ada's account at Unipile, and what was recorded of it."""

    runtime: Runtime
    simulated: SimulatedUnipile
    account: Account
    person: Person
    office: Office

    async def poll(self) -> Any:
        """Let an account be asked for that is due, and ask."""
        await self.hurry()
        await find_polls(self.runtime, {})
        await poll_account(self.runtime, ABOUT)
        return await self.state()

    async def state(self) -> Any:
        return await self.runtime.operations.read(lambda tx, _: polls.find_poll(tx, HOME, ADA))

    async def hurry(self) -> None:
        def move(tx: Tx, now: datetime) -> int:
            tx.run("UPDATE inbound_poll SET next_poll_at = :now, read_until = NULL", now=now)
            return tx.run(
                "UPDATE inbound_poll SET relations_at = :at WHERE relations_at IS NOT NULL",
                at=now - timedelta(days=1),
            )

        await self.runtime.operations.run(move)

    async def events(self) -> list[tuple[str, str]]:
        rows = await self.rows("SELECT kind, text FROM inbound_event ORDER BY happened_at, id")
        return [(row["kind"], row["text"]) for row in rows]

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        return await self.office.rows(sql, **params)

    async def account_state(self) -> str:
        (row,) = await self.rows("SELECT state FROM account WHERE id = :id", id=ADA)
        return row["state"]


@asynccontextmanager
async def open_desk(database: str, kind: str, folder: Any) -> AsyncGenerator[Desk]:
    simulated = SimulatedUnipile()
    async with (
        simulate(simulated),
        open_client(simulated) as http,
        open_runtime(Settings(data=folder, database=database)) as opened,
    ):
        runtime = replace(opened, http=http)
        simulated.keys.add(KEY)
        account = simulated.add_account(
            "Ada", kind="GOOGLE_OAUTH" if kind == "mail" else "LINKEDIN"
        )
        person = simulated.add_person("Ben", connected=False)
        await furnish_office(runtime.operations)

        def take_in(tx: Tx, now: datetime) -> None:
            connect(
                tx,
                now,
                workspace_id=HOME,
                new_id=ADA,
                provider="unipile",
                connected=Connected(
                    remote_id=account.id,
                    handle="Ada",
                    name="Ada",
                    kind=kind,
                    tokens=Tokens(access=Secret(KEY)),
                    settings={"dsn": simulated.url()},
                ),
                ring=runtime.keyring,
            )
            init_account(tx, now, workspace_id=HOME, account_id=ADA)

        await runtime.operations.run(take_in)
        yield Desk(runtime, simulated, account, person, Office(runtime.operations))


@pytest.fixture
async def desk(database: str, tmp_path: Any) -> AsyncIterator[Desk]:
    async with open_desk(database, "linkedin", tmp_path) as opened:
        yield opened


@pytest.fixture
async def mail_desk(database: str, tmp_path: Any) -> AsyncIterator[Desk]:
    async with open_desk(database, "mail", tmp_path) as opened:
        yield opened


async def test_a_reply_in_a_chat_is_found_once_and_answers_what_we_sent(desk: Desk) -> None:
    sent = await desk.office.sent(
        desk.person.id, account=ADA, channel=Channel.LINKEDIN_MESSAGE, remote_id="m1"
    )
    await desk.simulated.receive_message(desk.account, desk.person, "Yes, please.")
    for _ in range(3):
        await desk.poll()
    assert await desk.events() == [("reply", "Yes, please.")]
    (row,) = await desk.rows("SELECT delivery_id FROM inbound_event")
    assert row["delivery_id"] == sent


async def test_what_a_webhook_told_is_no_second_reply(desk: Desk) -> None:
    await desk.simulated.receive_message(desk.account, desk.person, "Yes.")
    hook: dict[str, Any] = {"url": "", "event": {}}

    async def catch(url: str, body: bytes, headers: dict[str, str]) -> int:
        hook.update(url=url, event=msgspec.json.decode(body))
        return 200

    desk.simulated.post = catch
    await desk.simulated.add_webhook(_registers("messaging"))
    await desk.simulated.receive_message(desk.account, desk.person, "And tomorrow?")

    def told(tx: Tx, now: datetime) -> None:
        source = add_source(
            tx,
            now,
            workspace_id=HOME,
            id_="s1",
            kind=SourceKind.UNIPILE,
            account_id=None,
            sealed="x",
            by="member:ada",
        )
        assert isinstance(source, InboundSource)
        record_events(tx, now, source, read_data("unipile", hook["event"], {}, now))

    await desk.runtime.operations.run(told)
    there = await desk.poll()
    assert sorted(text for _, text in await desk.events()) == ["And tomorrow?", "Yes."]
    assert there.next_poll_at - there.polled_at > timedelta(hours=4), "a webhook works: poll seldom"


async def test_without_a_webhook_it_is_asked_every_few_minutes(desk: Desk) -> None:
    there = await desk.poll()
    wait = there.next_poll_at - there.polled_at
    assert timedelta(minutes=8) <= wait <= timedelta(minutes=12)
    assert there.error is None


async def test_our_own_messages_are_no_replies(desk: Desk) -> None:
    desk.person.connected = True
    chat = desk.simulated.add_chat(desk.account, desk.person)
    desk.simulated._say_in(_registers("messaging"), chat, "message", "From us", desk.account)
    await desk.poll()
    assert await desk.events() == []


async def test_an_acceptance_is_found_by_the_relations_and_old_ones_are_left_alone(
    desk: Desk,
) -> None:
    old = desk.simulated.add_person("Cy", connected=False)
    await desk.simulated.accept(desk.account, old)
    sent = await desk.office.sent(
        desk.person.id, account=ADA, channel=Channel.LINKEDIN_INVITATION, remote_id="i1"
    )
    await desk.runtime.operations.run(
        lambda tx, _: tx.run("UPDATE activity SET action = 'connection_request'")
    )
    await desk.poll()
    assert await desk.events() == [], "who was there before did not accept now"
    await desk.simulated.accept(desk.account, desk.person)
    for _ in range(2):
        await desk.poll()
    (row,) = await desk.rows("SELECT kind, delivery_id FROM inbound_event")
    assert (row["kind"], row["delivery_id"]) == ("accepted", sent)


async def test_relations_are_not_read_while_no_invitation_is_out(desk: Desk) -> None:
    await desk.poll()
    assert not any(call.path.endswith("/relations") for call in desk.simulated.received)
    assert (await desk.state()).relations_at is None


async def test_mails_are_found_and_automatic_answers_are_told_by_their_headers(
    mail_desk: Desk,
) -> None:
    desk = mail_desk
    await desk.simulated.receive_mail(desk.account, "ben@example.org", "Re: An offer", "Yes.")
    await desk.simulated.receive_mail(desk.account, "cy@example.org", "Re: An offer", "Thanks.")
    desk.simulated.items[-1].shown["headers"] = [
        {"name": "Auto-Submitted", "value": "auto-replied"}
    ]
    for _ in range(2):
        await desk.poll()
    assert sorted(kind for kind, _ in await desk.events()) == ["out_of_office", "reply"]


async def test_a_filter_that_is_ignored_brings_nothing_old(desk: Desk) -> None:
    desk.simulated.heeds_after = False
    await desk.simulated.receive_message(desk.account, desk.person, "Long ago")
    desk.simulated.items[-1].shown["timestamp"] = "2020-01-01T00:00:00.000Z"
    await desk.poll()
    assert await desk.events() == []


async def test_one_process_asks_at_a_time(desk: Desk) -> None:
    enqueue = partial(polls.enqueue_due, providers=["unipile"])
    assert await desk.runtime.operations.run(enqueue) == 1
    assert await desk.runtime.operations.run(enqueue) == 0
    await poll_account(desk.runtime, ABOUT)
    assert await desk.runtime.operations.run(enqueue) == 0, "its time has not come again"


async def test_an_account_that_is_signed_out_is_held_and_comes_back(desk: Desk) -> None:
    await desk.poll()
    desk.simulated.accounts[desk.account.id].status = "CREDENTIALS"

    def signed_out(tx: Tx, now: datetime) -> bool:
        return note_status(tx, now, **ABOUT, status="CREDENTIALS", by="inbound:s1")

    assert await desk.runtime.operations.run(signed_out)
    assert await desk.account_state() == "needs_reconnect"
    there = await desk.poll()
    assert await desk.account_state() == "needs_reconnect"
    assert there.next_poll_at - there.polled_at == timedelta(hours=1)
    desk.simulated.accounts[desk.account.id].status = "OK"
    there = await desk.poll()
    assert await desk.account_state() == "connected"
    assert there.error is None


@pytest.mark.parametrize(
    ("headers", "minutes"),
    [((("retry-after", "1800"),), 30), ((("x-ratelimit-reset", "2400"),), 40), ((), 30)],
)
async def test_a_network_that_asks_for_time_gets_it(
    desk: Desk, headers: tuple[tuple[str, str], ...], minutes: int
) -> None:
    told = problem(429, "too_many_requests", "Slow down")
    answer = replace(told, headers=(*told.headers, *headers))
    desk.simulated.faults.plan(Kind.ERROR_BEFORE, "GET /api/v1/messages", answer=answer)
    await desk.simulated.receive_message(desk.account, desk.person, "Yes.")
    there = await desk.poll()
    assert there.next_poll_at - there.polled_at == timedelta(minutes=minutes)
    assert await desk.account_state() == "connected"
    there = await desk.poll()
    assert (there.error, there.failures) == (None, 0)
    assert await desk.events() == [("reply", "Yes.")], "what came meanwhile is not lost"


async def test_a_key_that_is_refused_loses_the_account_with_the_reason(desk: Desk) -> None:
    desk.simulated.keys.clear()
    there = await desk.poll()
    assert "API key" in there.error
    assert await desk.account_state() == "needs_reconnect"


def _registers(source: str) -> Any:
    body = msgspec.json.encode({"request_url": "http://127.0.0.1/in/s1", "source": source})
    return Received(
        method="POST",
        path="/api/v1/webhooks",
        query={},
        headers={"x-api-key": KEY, "content-type": "application/json"},
        body=body,
        at=datetime.fromisoformat("2026-11-18T09:00:00+00:00"),
    )
