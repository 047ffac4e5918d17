"""New mail is read at once (IMAP IDLE), and mailboxes are signed in to by tokens (XOAUTH2), on a real Dovecot."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cadenza.bootstrap import Runtime
from cadenza.bootstrap.watch_mailboxes import MailboxWatch
from cadenza.inbox import mailboxes
from cadenza.inbox.imap import ImapFailed, ImapServer, open_mailbox
from cadenza.providers.http.redact import Secret
from cadenza.sql.tx import Tx
from tests.inbox.test_mailbox import (
    ABOUT,
    REPLY,
    certificate,
    connect,
    runtime,
    runtime_for,
    server,
    state,
)
from tests.servers.dovecot import Dovecot, dovecot
from tests.servers.place import ServerUnavailableError
from tests.servers.run import skip_or_fail

__all__ = ["certificate", "runtime", "server"]
JOBS = "SELECT task FROM job WHERE task = 'read_mailbox'"


async def until_enqueued(runtime: Runtime) -> None:
    """Wait until the reader was woken."""
    async with asyncio.timeout(60):
        while not await runtime.operations.read(lambda tx, _: tx.all(JOBS)):
            await asyncio.sleep(0.05)


async def until_waiting(watch: MailboxWatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the mailboxes, and go on when the server lets us wait."""
    from cadenza.inbox.imap import ImapSession

    waiting, idle = asyncio.Event(), ImapSession.wait_for_mail

    async def told(self: ImapSession, seconds: float) -> bool:
        waiting.set()
        return await idle(self, seconds)

    monkeypatch.setattr(ImapSession, "wait_for_mail", told)
    await watch.run_once()
    async with asyncio.timeout(60):
        await waiting.wait()


async def test_a_mail_that_arrives_wakes_the_reader(
    runtime: Runtime, server: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    await connect(runtime, server)
    watch = MailboxWatch(runtime)
    await until_waiting(watch, monkeypatch)
    server.put(REPLY % 1)
    await until_enqueued(runtime)
    there = await state(runtime)
    assert there.watched_until is not None
    await watch.close()
    assert (await state(runtime)).watched_until is None, "another worker may take over at once"


async def test_one_worker_watches_a_mailbox(runtime: Runtime, server: Dovecot) -> None:
    await connect(runtime, server)

    def take(tx: Tx, now: datetime) -> Any:
        return [len(mailboxes.take_watch(tx, now, limit=9)) for _ in range(2)]

    assert await runtime.operations.run(take) == [1, 0]


async def test_a_mailbox_that_fails_is_left_to_the_poll(runtime: Runtime, server: Dovecot) -> None:
    await connect(runtime, server)
    await runtime.operations.run(lambda tx, _: tx.run("UPDATE mailbox SET sealed = 'x'"))
    watch = MailboxWatch(runtime)
    await watch.run_once()
    async with asyncio.timeout(60):
        while watch._waiting:
            await asyncio.sleep(0.01)
    assert (await state(runtime)).watched_until is not None, "it is not tried again at once"
    await connect(runtime, server, password="wrong")
    await watch.run_once()
    assert not watch._waiting, "what cannot be read is not watched"


async def test_a_wake_while_it_is_read_is_not_lost(runtime: Runtime, server: Dovecot) -> None:
    await connect(runtime, server)
    there = await state(runtime)

    def wake(tx: Tx, now: datetime) -> Any:
        return [mailboxes.wake(tx, now, there) for _ in range(2)]

    assert await runtime.operations.run(wake) == [True, False]
    waking = asyncio.ensure_future(MailboxWatch(runtime)._wake(there))
    await runtime.operations.run(lambda tx, now: mailboxes.finish_poll(tx, now, **ABOUT))
    async with asyncio.timeout(60):
        await waking
    assert len(await runtime.operations.read(lambda tx, _: tx.all(JOBS))) == 2


class Tokens(BaseHTTPRequestHandler):
    """Says which tokens are good, as a provider's introspection does."""

    good: ClassVar[set[str]] = set()

    def do_GET(self) -> None:
        active = self.headers["authorization"].removeprefix("Bearer ") in self.good
        body = b'{"active": true, "email": "ada"}' if active else b'{"active": false}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Say nothing."""


@pytest.fixture
def token_server(certificate: Path) -> Iterator[Dovecot]:
    Tokens.good = {"fresh"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Tokens) as introspection:
        threading.Thread(target=introspection.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{introspection.server_port}/"
        try:
            with dovecot(certificate, introspection=url) as running:
                yield running
        except ServerUnavailableError as reason:
            skip_or_fail("dovecot", reason)
        finally:
            introspection.shutdown()


@pytest.fixture
async def by_token(
    token_server: Dovecot, certificate: Path, tmp_path: Path
) -> AsyncIterator[tuple[Runtime, ImapServer, list[bool]]]:
    """A server that takes only the token `fresh`, and an account whose first one is old."""
    asked: list[bool] = []

    async def bring(*, refused: bool) -> Secret | None:
        asked.append(refused)
        return Secret("fresh" if refused else "old")

    server = ImapServer(
        host="127.0.0.1",
        port=token_server.secure_port,
        security="tls",
        username="ada",
        tokens=bring,
    )
    async with runtime_for(token_server, certificate, tmp_path) as runtime:
        yield runtime, server, asked


async def test_a_refused_token_is_renewed_once(
    by_token: tuple[Runtime, ImapServer, list[bool]],
) -> None:
    runtime, server, asked = by_token
    async with open_mailbox(runtime.http, server) as session:
        assert (await session.folders())[0] == "INBOX"
    assert asked == [False, True]
    Tokens.good = set()
    with pytest.raises(ImapFailed, match="connect the account again") as failed:
        async with open_mailbox(runtime.http, server):
            pass
    assert failed.value.sign_in
    assert asked == [False, True, False, True]


async def test_a_server_without_tokens_says_so(runtime: Runtime, server: Dovecot) -> None:
    async def bring(*, refused: bool) -> Secret | None:
        raise AssertionError("nothing is asked for")

    there = ImapServer(
        host="127.0.0.1", port=server.secure_port, security="tls", username="ada", tokens=bring
    )
    with pytest.raises(ImapFailed, match="no sign-in by token"):
        async with open_mailbox(runtime.http, there):
            pass
