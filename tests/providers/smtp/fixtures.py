"""Ada's mailbox on a simulated mail server, ready to be driven."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.demo.networks.smtp import SimulatedSmtp
from cadenza.demo.networks.smtp_model import Rules
from cadenza.demo.simulator.serve import simulate
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.connect import RawConnection
from cadenza.providers.http.outcome import NotSent
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Timeouts
from cadenza.providers.message import AccountRef, App, MediaItem, Message, Recipient, Tokens
from cadenza.providers.smtp import PROVIDER
from tests.providers.contract import PATIENCE, Scene

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "canary-5c0ffee-password-that-nobody-may-read"
ADA, BEN = "ada@example.com", "ben@example.org"


class HastyClient(OutboundClient):
    """The real client, with a test's patience."""

    async def connect(
        self, host: str, port: int, *, ports: frozenset[int], timeouts: Timeouts
    ) -> RawConnection | NotSent:
        hasty = Timeouts(connect=PATIENCE, read=PATIENCE, total=PATIENCE * 2)
        plug = await super().connect(host, port, ports=ports, timeouts=hasty)
        return replace(plug, timeouts=hasty) if isinstance(plug, RawConnection) else plug


def hasty_client(*ports: int, ca_file: Path | None = None) -> HastyClient:
    """Make a client that may call these local ports and nothing else."""
    rules = tuple(HostRule("127.0.0.1", port) for port in ports)
    policy = Policy(allow=rules, ca_file=str(ca_file) if ca_file else None)
    return HastyClient(policy, clock=SystemClock())


def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def mail(text: str = "Good morning", **more: Any) -> Message:
    fields: dict[str, Any] = {"subject": "Hello", "recipient": Recipient(BEN, "Ben"), **more}
    return Message(channel=Channel.EMAIL, text=text, **fields)


@asynccontextmanager
async def mail_server(
    message: Message | None = None,
    *,
    rules: Rules | None = None,
    certificate: Path | None = None,
    security: str = "none",
    media: tuple[MediaItem, ...] = (),
) -> AsyncGenerator[tuple[Scene, SimulatedSmtp]]:
    """Open a mail server with Ada's mailbox; with a certificate it encrypts."""
    simulated = SimulatedSmtp(rules, tls=server_tls(certificate) if certificate else None)
    async with (
        simulate(simulated, start=START) as simulator,
        hasty_client(*simulated.ports.values(), ca_file=certificate) as http,
    ):
        simulated.add_mailbox(ADA, CANARY)
        message = message or mail()
        scene = Scene(
            simulator=simulator,
            simulated=simulated,
            provider=PROVIDER,
            http=http,
            account=AccountRef(
                id="a1",
                remote_id=ADA,
                settings={
                    "host": "127.0.0.1",
                    "port": simulated.ports["smtps" if security == "tls" else "smtp"],
                    "security": security,
                    "username": ADA,
                    "from_name": "Ada",
                },
            ),
            tokens=Tokens(access=Secret(CANARY)),
            app=App(base_url=""),
            message=replace(message, media=media or message.media),
            seen_as=ADA,
        )
        yield scene, simulated
