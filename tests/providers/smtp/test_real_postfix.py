"""The adapter against a real Postfix: it delivers, reads refusals, and parts as the server expects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cadenza.core.clock import SystemClock
from cadenza.demo.networks.smtp_model import read_mail, words_of
from cadenza.providers.base import AttemptContext
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import REUSE, HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Message, Recipient, Tokens
from cadenza.providers.outcome import Forbidden, Outcome, RecipientGone, Rejected, Sent, Transient
from cadenza.providers.smtp import PROVIDER
from cadenza.providers.smtp.compose import message_id
from tests.providers.smtp.fixtures import ADA, mail
from tests.servers.place import ServerUnavailableError
from tests.servers.postfix import DOMAIN, SIZE, Postfix, postfix
from tests.servers.run import skip_or_fail

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BEN, GREY, NOBODY = f"ben@{DOMAIN}", f"grey@{DOMAIN}", f"nobody@{DOMAIN}"


@pytest.fixture
def server(certificate: Path) -> Iterator[Postfix]:
    yield from _run(certificate)


def _run(certificate: Path, **settings: Any) -> Iterator[Postfix]:
    try:
        with postfix(certificate, **settings) as running:
            yield running
    except ServerUnavailableError as reason:
        skip_or_fail("postfix", reason)


def client(server: Postfix, certificate: Path, *, reuse: float = REUSE) -> OutboundClient:
    rule = HostRule("127.0.0.1", server.port)
    policy = Policy(allow=(rule,), ca_file=str(certificate), reuse=reuse)
    return OutboundClient(policy, clock=SystemClock())


def call(
    server: Postfix, http: OutboundClient, message: Message, *, security: str = "starttls"
) -> AttemptContext:
    settings = {"host": "127.0.0.1", "port": server.port, "security": security}
    assert message.recipient is not None
    return AttemptContext(
        account=AccountRef(id="a1", remote_id=ADA, settings=settings),
        tokens=Tokens(access=Secret("")),
        app=App(base_url=""),
        http=http,
        now=NOW,
        message=message,
        key=f"{message.recipient.address} {message.text[:20]}",
    )


def to(address: str, text: str = "Good morning") -> Message:
    return mail(text, recipient=Recipient(address))


@pytest.mark.parametrize("security", ["starttls", "none"])
async def test_postfix_delivers_the_mail_as_it_was_written(
    server: Postfix, certificate: Path, security: str
) -> None:
    text = ".dots at the start\n.\nand Grüße " + "x" * 2000
    async with client(server, certificate) as http:
        requested = call(server, http, to(BEN, text), security=security)
        outcome = await PROVIDER.publish(requested)
    assert isinstance(outcome, Sent), outcome
    await asyncio.to_thread(server.wait_for_log, "status=sent")
    (delivered,) = server.mails()
    found = read_mail(delivered)
    assert words_of(found) == text
    assert (
        found["Message-ID"].strip()
        == message_id(requested.key, requested.account)
        == outcome.remote_id
    )
    assert ("with ESMTPS " in str(found["Received"])) == (security == "starttls")
    assert "lost connection" not in server.log()


async def test_several_mails_go_over_one_connection(server: Postfix, certificate: Path) -> None:
    async with client(server, certificate) as http:
        for number in range(5):
            outcome = await PROVIDER.publish(call(server, http, to(BEN, f"Mail {number}")))
            assert isinstance(outcome, Sent), outcome
    (told,) = await asyncio.to_thread(server.wait_for_log, r"smtpd.* disconnect from")
    assert "mail=5 rcpt=5 data=5 rset=4 quit=1" in told
    await asyncio.to_thread(server.wait_for_log, "status=sent", times=5)
    assert sorted(words_of(read_mail(each)) for each in server.mails()) == [
        f"Mail {number}" for number in range(5)
    ]


@pytest.mark.parametrize(
    ("message", "kind", "code"),
    [
        (to(NOBODY), RecipientGone, "550 5.1.1"),
        (to("cy@elsewhere.example"), Forbidden, "554 5.7.1"),
        (to(BEN, "too large\n" + "x" * SIZE), Rejected, "552 5.3.4"),
    ],
    ids=["unknown", "elsewhere", "too_large"],
)
async def test_a_refusal_is_understood_and_answered_with_quit(
    server: Postfix, certificate: Path, message: Message, kind: type[Outcome], code: str
) -> None:
    async with client(server, certificate) as http:
        outcome = await PROVIDER.publish(call(server, http, message))
    assert isinstance(outcome, kind), outcome
    assert code in getattr(outcome, "message", "")
    (told,) = await asyncio.to_thread(server.wait_for_log, r"smtpd.* disconnect from")
    assert "quit=1" in told
    assert "lost connection" not in server.log()
    assert server.mails() == []


async def test_a_refused_recipient_does_not_cost_the_next_mail(
    server: Postfix, certificate: Path
) -> None:
    async with client(server, certificate) as http:
        assert isinstance(await PROVIDER.publish(call(server, http, to(BEN, "One"))), Sent)
        gone = await PROVIDER.publish(call(server, http, to(NOBODY)))
        assert isinstance(gone, RecipientGone)
        assert isinstance(await PROVIDER.publish(call(server, http, to(BEN, "Two"))), Sent)
    told = await asyncio.to_thread(server.wait_for_log, r"smtpd.* disconnect from", times=2)
    assert all("quit=1" in each for each in told)


async def test_a_greylisted_mail_waits_and_is_taken_when_it_comes_again(certificate: Path) -> None:
    async with greylist() as port:
        for server in _run(certificate, policy=port):
            async with client(server, certificate) as http:
                first = await PROVIDER.publish(call(server, http, to(GREY)))
                assert isinstance(first, Transient), first
                assert first.wait is not None
                assert first.wait >= timedelta(minutes=5)
                assert "Greylisted" in first.message
                assert isinstance(await PROVIDER.publish(call(server, http, to(GREY))), Sent)
            await asyncio.to_thread(server.wait_for_log, "status=sent")
            assert len(server.mails("grey")) == 1
            assert "lost connection" not in server.log()


async def test_a_kept_connection_that_postfix_closed_is_replaced(certificate: Path) -> None:
    for server in _run(certificate, timeout="1s"):
        async with client(server, certificate, reuse=60) as http:
            assert isinstance(await PROVIDER.publish(call(server, http, to(BEN, "One"))), Sent)
            await asyncio.to_thread(server.wait_for_log, "timeout after")
            assert isinstance(await PROVIDER.publish(call(server, http, to(BEN, "Two"))), Sent)
        await asyncio.to_thread(server.wait_for_log, "status=sent", times=2)
        assert len(server.mails()) == 2


@asynccontextmanager
async def greylist() -> AsyncGenerator[int]:
    """Answer Postfix as a greylisting service does: who comes for the first time comes again."""
    met: set[str] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requested: dict[str, str] = {}
        while line := (await reader.readline()).decode().rstrip("\n"):
            name, _, value = line.partition("=")
            requested[name] = value
        who = requested.get("sender", "")
        action = (
            "DUNNO" if who in met else "DEFER_IF_PERMIT 4.2.0 Greylisted, come again in 5 minutes"
        )
        met.add(who)
        writer.write(f"action={action}\n\n".encode())
        await writer.drain()
        writer.close()

    policy = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield policy.sockets[0].getsockname()[1]
    finally:
        policy.close()
