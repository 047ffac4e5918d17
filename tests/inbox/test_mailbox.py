"""A mailbox is read by IMAP, from a real Dovecot: each mail once, nothing in it is changed, failures are told."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cadenza.accounts.open import mailbox_row
from cadenza.bootstrap import Runtime, open_runtime
from cadenza.bootstrap.read_mailboxes import find_mail, read_mailbox
from cadenza.config.model import Outbound, Settings
from cadenza.inbox.imap import ImapFailed, ImapServer, ImapSession, open_mailbox
from cadenza.inbox.mailboxes import NewMailbox, find_mailbox, save_mailbox
from cadenza.providers.http.redact import Secret
from cadenza.sql.tx import Tx
from tests.inbox.conftest import DOMAIN, HOME, MAIL, Office, furnish_office
from tests.providers.http.conftest import certificate
from tests.servers.dovecot import PASSWORD, Dovecot, dovecot
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail

__all__ = ["certificate"]
ABOUT = {"workspace_id": HOME, "account_id": MAIL}
REPLY = b"""From: Ben <ben@example.org>
To: ada@ada.example.org
Subject: Re: An offer
Message-ID: <reply-%d@example.org>
In-Reply-To: <one@ada.example.org>
Date: Wed, 18 Nov 2026 09:00:00 +0000

Yes, please.
"""


@pytest.fixture
def server(certificate: Path) -> Iterator[Dovecot]:
    try:
        with dovecot(certificate) as running:
            yield running
    except ServerUnavailableError as reason:
        skip_or_fail("dovecot", reason)


@asynccontextmanager
async def runtime_for(server: Dovecot, certificate: Path, folder: Path) -> AsyncGenerator[Runtime]:
    allow = (f"127.0.0.1:{server.port}", f"127.0.0.1:{server.secure_port}")
    outbound = Outbound(allow=allow, ca_file=str(certificate))
    async with open_runtime(Settings(data=folder, outbound=outbound)) as runtime:
        await furnish_office(runtime.operations)
        yield runtime


@pytest.fixture
async def runtime(server: Dovecot, certificate: Path, tmp_path: Path) -> AsyncIterator[Runtime]:
    async with runtime_for(server, certificate, tmp_path) as runtime:
        yield runtime


async def connect(runtime: Runtime, server: Dovecot, **changes: Any) -> None:
    """Let Ada's mailbox be read."""
    said: dict[str, Any] = {
        "port": server.secure_port,
        "security": "tls",
        "password": PASSWORD,
        **changes,
    }
    sealed = runtime.keyring.seal(said.pop("password"), row=mailbox_row(HOME, MAIL))
    new = NewMailbox(**ABOUT, host="127.0.0.1", username="ada", sealed=sealed, **said)
    await runtime.operations.run(lambda tx, now: save_mailbox(tx, now, new, by="member:ada"))
    await read_mailbox(runtime, ABOUT)


async def state(runtime: Runtime) -> Any:
    return await runtime.operations.read(lambda tx, _: find_mailbox(tx, HOME, MAIL))


async def texts(runtime: Runtime) -> list[tuple[str, str]]:
    rows = await runtime.operations.read(
        lambda tx, _: tx.all(
            "SELECT kind, remote_id FROM inbound_event ORDER BY happened_at, remote_id"
        )
    )
    return [(row["kind"], row["remote_id"]) for row in rows]


async def test_what_comes_after_the_connection_is_read_once_and_nothing_is_changed(
    runtime: Runtime, server: Dovecot
) -> None:
    office = Office(runtime.operations)
    delivery = await office.sent("ben@example.org", remote_id=f"<one@{DOMAIN}>")
    server.put(REPLY % 0)
    await connect(runtime, server)
    assert (await state(runtime)).error is None
    assert await texts(runtime) == [], "what was there before is left alone"
    server.put(REPLY % 1)
    server.put(REPLY % 2, junk=True)
    before = server.files()
    for _ in range(3):
        await read_mailbox(runtime, ABOUT)
    assert sorted(await texts(runtime)) == [
        *(("reply", "<reply-1@example.org>"), ("reply", "<reply-2@example.org>")),
    ]
    (row, _) = await office.rows("SELECT delivery_id FROM inbound_event")
    assert row["delivery_id"] == delivery
    assert list(server.files().values()) == list(before.values())
    assert not any(name.endswith(("S", "T", "F")) for name in server.files()), "no flag was set"


async def test_many_mails_are_read_in_chunks(runtime: Runtime, server: Dovecot) -> None:
    await connect(runtime, server)
    for number in range(45):
        server.put(REPLY % number)
    await read_mailbox(runtime, ABOUT)
    assert len(await texts(runtime)) == 45


async def test_a_folder_that_is_numbered_anew_is_read_again_and_nothing_is_doubled(
    runtime: Runtime, server: Dovecot
) -> None:
    await connect(runtime, server)
    server.put(REPLY % 1)
    await read_mailbox(runtime, ABOUT)
    first = (await state(runtime)).places["INBOX"].validity
    server.renumber()
    server.put(REPLY % 2)
    await read_mailbox(runtime, ABOUT)
    assert (await state(runtime)).places["INBOX"].validity != first
    assert sorted(await texts(runtime)) == [
        *(("reply", "<reply-1@example.org>"), ("reply", "<reply-2@example.org>")),
    ]


async def test_our_own_mail_is_no_reply(runtime: Runtime, server: Dovecot) -> None:
    await connect(runtime, server)
    server.put((REPLY % 1).replace(b"Ben <ben@example.org>", f"Ada <ada@{DOMAIN}>".encode()))
    await read_mailbox(runtime, ABOUT)
    assert await texts(runtime) == []


async def test_a_mail_of_many_megabytes_is_read_from_its_beginning(
    runtime: Runtime, server: Dovecot
) -> None:
    await connect(runtime, server)
    server.put(REPLY % 1 + b"x" * 60 + b"\n" + (b"y" * 70 + b"\n") * 40_000)
    await read_mailbox(runtime, ABOUT)
    assert await texts(runtime) == [("reply", "<reply-1@example.org>")]


@pytest.mark.parametrize("security", ["starttls", "none"])
async def test_other_ways_to_connect_work(runtime: Runtime, server: Dovecot, security: str) -> None:
    await connect(runtime, server, port=server.port, security=security)
    assert (await state(runtime)).error is None


async def test_a_server_without_plain_sign_in_is_asked_by_login(
    runtime: Runtime, server: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    command = ImapSession.command

    async def without_plain(self: ImapSession, text: str, *then: bytes) -> Any:
        said.append(text.partition(" ")[0])
        told = await command(self, text, *then)
        return [] if text == "CAPABILITY" else told

    monkeypatch.setattr(ImapSession, "command", without_plain)
    await connect(runtime, server)
    assert (await state(runtime)).error is None
    assert "LOGIN" in said


async def test_a_wrong_password_is_told_and_tried_again_later(
    runtime: Runtime, server: Dovecot
) -> None:
    await connect(runtime, server, password="wrong")
    there = await state(runtime)
    assert "password" in there.error
    assert there.next_poll_at - there.polled_at == timedelta(minutes=4)
    await read_mailbox(runtime, ABOUT)
    again = await state(runtime)
    assert again.next_poll_at - again.polled_at == timedelta(minutes=8)
    await connect(runtime, server)
    assert (await state(runtime)).error is None


async def test_a_server_that_is_away_is_told_and_the_place_is_kept(
    runtime: Runtime, server: Dovecot
) -> None:
    await connect(runtime, server)
    place = (await state(runtime)).places

    def move(tx: Tx, now: datetime) -> int:
        return tx.run("UPDATE mailbox SET port = :port", port=server.port)

    await runtime.operations.run(move)  # TLS on a port that speaks in the clear
    await read_mailbox(runtime, ABOUT)
    there = await state(runtime)
    assert there.error is not None
    assert there.places == place


async def test_a_mailbox_is_read_when_its_time_has_come_by_one_job(
    runtime: Runtime, server: Dovecot
) -> None:
    await connect(runtime, server)
    await find_mail(runtime, {})
    assert (await state(runtime)).read_until is None, "its time has not come"
    await runtime.operations.run(
        lambda tx, now: tx.run("UPDATE mailbox SET next_poll_at = :now", now=now)
    )
    for _ in range(2):
        await find_mail(runtime, {})
    jobs = await runtime.operations.read(
        lambda tx, _: tx.all("SELECT task FROM job WHERE task = 'read_mailbox'")
    )
    assert len(jobs) == 1


async def test_only_ports_of_mail_servers_are_called(
    runtime: Runtime,
) -> None:
    server = ImapServer(
        host="203.0.113.1", port=80, security="none", username="ada", password=Secret("x")
    )
    with pytest.raises(ImapFailed, match="Port 80 is not open"):
        async with open_mailbox(runtime.http, server):
            pass
