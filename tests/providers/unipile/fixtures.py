"""Ada's LinkedIn account and her mailbox on a simulated Unipile, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from cadenza.core.channels import Channel
from cadenza.demo.networks.unipile import SimulatedUnipile
from cadenza.demo.networks.unipile_model import Rules
from cadenza.demo.simulator.serve import simulate
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, Message, Recipient, Tokens
from cadenza.providers.unipile import PROVIDER
from tests.providers.contract import Scene, open_client

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "canary-90ab.unipile-key-that-nobody-may-read"
MAILS = "POST /api/v1/emails"
CHATS = "POST /api/v1/chats"
MESSAGES = "POST /api/v1/chats/{chat}/messages"
INVITES = "POST /api/v1/users/invite"
# Each way to send: its channel, its route, and whether the chat is known.
WAYS: dict[str, tuple[Channel, str]] = {
    "email": (Channel.EMAIL, MAILS),
    "chat": (Channel.LINKEDIN_MESSAGE, CHATS),
    "message": (Channel.LINKEDIN_MESSAGE, MESSAGES),
    "inmail": (Channel.LINKEDIN_INMAIL, CHATS),
    "invitation": (Channel.LINKEDIN_INVITATION, INVITES),
}


@asynccontextmanager
async def unipile(
    way: str = "message", text: str = "Good morning", *, rules: Rules | None = None, **more: Any
) -> AsyncGenerator[tuple[Scene, SimulatedUnipile]]:
    """Open a world in which Ada writes to Ben in one of the ways."""
    simulated = SimulatedUnipile(rules)
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        simulated.keys.add(CANARY)
        ada = simulated.add_account("Ada", kind="GOOGLE_OAUTH" if way == "email" else "LINKEDIN")
        ben = simulated.add_person("Ben", connected=way in {"chat", "message"})
        fields = {"chat_id": simulated.add_chat(ada, ben).id} if way == "message" else {}
        address = "ben@example.org" if way == "email" else ben.id
        channel = WAYS[way][0]
        subject = "Hello" if way in {"email", "inmail"} else ""
        message: dict[str, Any] = {"subject": subject, **more}
        message.setdefault("recipient", Recipient(address, "Ben", fields))
        scene = Scene(
            simulator=simulator,
            simulated=simulated,
            provider=PROVIDER,
            http=http,
            account=AccountRef(id="a1", remote_id=ada.id, settings={"dsn": simulated.url()}),
            tokens=Tokens(access=Secret(CANARY)),
            app=App(base_url=simulated.url()),
            message=Message(channel=channel, text=text, **message),
            seen_as="Ada",
        )
        yield scene, simulated
