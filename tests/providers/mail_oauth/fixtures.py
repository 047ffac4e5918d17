"""Ada's mailbox at Google's and at Microsoft's, simulated: a sign-in page, tokens, and a mail server that takes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cadenza.core.channels import Channel
from cadenza.demo.networks.mail_oauth import (
    SimulatedGoogleMail,
    SimulatedMailSignIn,
    SimulatedMicrosoftMail,
)
from cadenza.demo.simulator.serve import simulate
from cadenza.providers import google_mail, microsoft_mail
from cadenza.providers.connect import Connected, Connecting, Redirect
from cadenza.providers.http.outcome import Reply
from cadenza.providers.http.redact import Secret
from cadenza.providers.http.request import Request
from cadenza.providers.message import AccountRef, App, Message, Recipient, Tokens
from cadenza.providers.outcome import Outcome
from tests.providers.contract import Scene
from tests.providers.smtp.fixtures import hasty_client

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BACK = "https://cadenza.example/connect/back"
VERIFIER = "a-verifier-that-is-long-enough-to-be-one-0123456789"
KINDS = {
    "google_mail": (SimulatedGoogleMail, google_mail),
    "microsoft_mail": (SimulatedMicrosoftMail, microsoft_mail),
}


@dataclass
class MailScene(Scene):
    """A scene with a sign-in page."""

    def connecting(self, **more: Any) -> Connecting:
        return Connecting(
            http=self.http,
            app=self.app,
            now=self.simulator.clock.now(),
            redirect_uri=BACK,
            state="home.state",
            verifier=VERIFIER,
            typed=more,
        )

    async def browse(self, begun: Redirect) -> dict[str, str]:
        """Open the page as a browser does; return what it brings back."""
        reply = await self.http.send(Request("GET", begun.url))
        assert isinstance(reply, Reply)
        assert reply.status == 302, reply
        place = reply.header("location") or ""
        return {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}

    async def sign_in(self, connector: Any, **typed: str) -> tuple[Connected, ...] | Outcome:
        """Go the whole way."""
        begun = await connector.begin(self.connecting(**typed))
        assert isinstance(begun, Redirect), begun
        brought = await self.browse(begun)
        return await connector.complete(self.connecting(), begun.keep, Secret(brought["code"]))


@asynccontextmanager
async def mail_oauth(
    name: str = "google_mail", text: str = "Good morning"
) -> AsyncGenerator[tuple[MailScene, SimulatedMailSignIn]]:
    kind, folder = KINDS[name]
    simulated = kind()
    async with (
        simulate(simulated, start=START) as simulator,
        hasty_client(*simulated.ports.values()) as http,
    ):
        client = simulated.add_app(BACK)
        app = App(
            base_url=simulated.url(),
            client_id=client.id,
            client_secret=Secret(client.secret),
            options={
                "sign_in_url": simulated.url(),
                "smtp_host": "127.0.0.1",
                "smtp_port": str(simulated.ports["smtp"]),
                "smtp_security": "none",
            },
        )
        settings = {"from_address": "ada@example.com", "username": "ada@example.com"}
        settings |= {"host": "127.0.0.1", "security": "none", "auth": "oauth"}
        token = f"ya29.{simulated.shared.ids.letters(60)}"
        refresh = f"1//{simulated.shared.ids.letters(60)}"
        simulated.tokens[token] = ("ada@example.com", datetime(2026, 3, 2, 10, tzinfo=UTC))
        simulated.refreshes[refresh] = ("ada@example.com", "")
        yield (
            MailScene(
                simulator=simulator,
                simulated=simulated,
                provider=folder.PROVIDER,
                http=http,
                account=AccountRef(
                    id="a1",
                    remote_id="ada@example.com",
                    settings={**settings, "port": simulated.ports["smtp"]},
                ),
                tokens=Tokens(access=Secret(token), refresh=Secret(refresh)),
                app=app,
                message=Message(
                    channel=Channel.EMAIL,
                    text=text,
                    subject="Hello",
                    recipient=Recipient("ben@example.org", "Ben"),
                ),
                seen_as="ada@example.com",
            ),
            simulated,
        )
