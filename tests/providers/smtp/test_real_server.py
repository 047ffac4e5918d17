"""The same adapter against aiosmtpd, a mail server that we did not write, with faults in its hooks."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from cadenza.demo.networks.smtp_model import read_mail, words_of
from cadenza.providers.base import AttemptContext
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Tokens
from cadenza.providers.outcome import (
    Disconnected,
    Outcome,
    RecipientGone,
    Rejected,
    Sent,
    Transient,
    TryLater,
    Unconfirmed,
)
from cadenza.providers.smtp import PROVIDER
from tests.providers.contract import PATIENCE
from tests.providers.smtp.fixtures import ADA, BEN, CANARY, hasty_client, mail, server_tls

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass
class Sink:
    """Keeps what it takes; `script` says what goes wrong at which hook."""

    script: dict[str, str] = field(default_factory=dict[str, str])
    taken: list[Envelope] = field(default_factory=list[Envelope])

    async def handle_MAIL(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return await self._said("mail", server) or "250 OK"

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        said = await self._said("rcpt", server)
        if said is None:
            envelope.rcpt_tos.append(address)
        return said or "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        said = await self._said("refuse", server)
        if said is not None:
            return said
        self.taken.append(envelope)
        return await self._said("dot", server) or "250 OK, taken"

    async def _said(self, hook: str, server: SMTP) -> str | None:
        what = self.script.pop(hook, None)
        if what == "drop":
            transport: Any = server.transport
            transport.abort()
            return "250 nobody hears this"
        if what == "hang":
            await asyncio.sleep(PATIENCE * 3)
            return None
        return what


def _authenticate(server: SMTP, session: Session, envelope: Envelope, way: str, data: Any) -> Any:
    good = data.login == ADA.encode() and data.password == CANARY.encode()
    return AuthResult(success=good, handled=False)  # the server says so itself


@asynccontextmanager
async def serving(sink: Sink, certificate: Path, *, implicit: bool = False) -> AsyncGenerator[int]:
    """Run aiosmtpd in this loop, with STARTTLS and AUTH required."""
    tls = server_tls(certificate)

    def protocol() -> SMTP:
        return SMTP(
            sink,
            hostname="real.example",
            tls_context=None if implicit else tls,
            require_starttls=not implicit,
            auth_required=True,
            auth_require_tls=not implicit,
            authenticator=_authenticate,
            enable_SMTPUTF8=True,
            loop=asyncio.get_running_loop(),
        )

    context: ssl.SSLContext | None = tls if implicit else None
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0.05)  # connections that are closing get their turn


async def _publish(
    port: int, certificate: Path, *, password: str = CANARY, security: str = "starttls", **more: Any
) -> Outcome:
    settings = {"host": "127.0.0.1", "port": port, "security": security, "username": ADA}
    async with hasty_client(port, ca_file=certificate) as http:
        return await PROVIDER.publish(
            AttemptContext(
                account=AccountRef(id="a1", remote_id=ADA, settings=settings),
                tokens=Tokens(access=Secret(password)),
                app=App(base_url=""),
                http=http,
                now=NOW,
                message=mail(**more),
                key="delivery-1.attempt-1",
            )
        )


# aiosmtpd does not know that its whole connection is encrypted.
@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")
@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_real_server_takes_the_mail_once(security: str, certificate: Path) -> None:
    sink = Sink()
    text = ".dots at the start\n.\nand Grüße " + "x" * 2000
    unsubscribe = "https://cadenza.example/u/" + "t" * 120
    async with serving(sink, certificate, implicit=security == "tls") as port:
        outcome = await _publish(
            port, certificate, security=security, text=text, unsubscribe_url=unsubscribe
        )
    assert isinstance(outcome, Sent)
    (envelope,) = sink.taken
    assert (envelope.mail_from, envelope.rcpt_tos) == (ADA, [BEN])
    assert isinstance(envelope.content, bytes)
    got = read_mail(envelope.content)
    assert words_of(got) == text
    assert got["Message-ID"] == outcome.remote_id
    assert got.get_all("List-Unsubscribe") == [f"<{unsubscribe}>"]
    assert got.get_all("List-Unsubscribe-Post") == ["List-Unsubscribe=One-Click"]


async def test_the_same_attempt_is_the_same_mail_to_receivers(certificate: Path) -> None:
    sink = Sink()
    async with serving(sink, certificate) as port:
        first = await _publish(port, certificate)
        again = await _publish(port, certificate)
    assert isinstance(first, Sent)
    assert isinstance(again, Sent)
    assert first.remote_id == again.remote_id


async def test_a_real_server_refuses_a_wrong_password(certificate: Path) -> None:
    sink = Sink()
    async with serving(sink, certificate) as port:
        outcome = await _publish(port, certificate, password="wrong-password")
    assert isinstance(outcome, Disconnected)
    assert sink.taken == []


@pytest.mark.parametrize(
    ("hook", "what", "expected", "taken"),
    [
        ("mail", "451 4.7.0 Sending rate exceeded", TryLater, 0),
        ("mail", "drop", Transient, 0),
        ("mail", "hang", Transient, 0),
        ("rcpt", "550 5.1.1 No such user", RecipientGone, 0),
        ("rcpt", "451 4.7.1 Greylisted", Transient, 0),
        ("rcpt", "drop", Transient, 0),
        ("rcpt", "hang", Transient, 0),
        ("refuse", "552 5.3.4 Too big", Rejected, 0),
        ("refuse", "drop", Unconfirmed, 0),
        ("dot", "drop", Unconfirmed, 1),
        ("dot", "hang", Unconfirmed, 1),
        ("dot", "421 4.3.2 Going down", Unconfirmed, 1),
    ],
)
async def test_faults_of_a_real_server_end_clearly(
    hook: str, what: str, expected: type[Outcome], taken: int, certificate: Path
) -> None:
    sink = Sink({hook: what})
    async with serving(sink, certificate) as port:
        outcome = await _publish(port, certificate)
        assert isinstance(outcome, expected), outcome
        assert len(sink.taken) == taken
        if not isinstance(outcome, Unconfirmed):  # it may be sent again, and is there once
            assert isinstance(await _publish(port, certificate), Sent)
            assert len(sink.taken) == 1
