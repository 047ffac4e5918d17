"""Ada's LinkedIn account and her mailbox on a Unipile in rehearsal, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from cadenza.core.channels import Channel
from cadenza.demo.rehearsal.kernel import rehearse
from cadenza.demo.rehearsal.worlds.unipile import UnipileWorld
from cadenza.demo.rehearsal.worlds.unipile_model import Rules
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
) -> AsyncGenerator[tuple[Scene, UnipileWorld]]:
    """Open a world in which Ada writes to Ben in one of the ways."""
    world = UnipileWorld(rules)
    async with rehearse(world, start=START) as rehearsal, open_client(world) as http:
        world.keys.add(CANARY)
        ada = world.add_account("Ada", kind="GOOGLE_OAUTH" if way == "email" else "LINKEDIN")
        ben = world.add_person("Ben", connected=way in {"chat", "message"})
        fields = {"chat_id": world.add_chat(ada, ben).id} if way == "message" else {}
        address = "ben@example.org" if way == "email" else ben.id
        channel = WAYS[way][0]
        subject = "Hello" if way in {"email", "inmail"} else ""
        message: dict[str, Any] = {"subject": subject, **more}
        message.setdefault("recipient", Recipient(address, "Ben", fields))
        scene = Scene(
            rehearsal=rehearsal,
            world=world,
            provider=PROVIDER,
            http=http,
            account=AccountRef(id="a1", remote_id=ada.id, settings={"dsn": world.url()}),
            tokens=Tokens(access=Secret(CANARY)),
            app=App(base_url=world.url()),
            message=Message(channel=channel, text=text, **message),
            seen_as="Ada",
        )
        yield scene, world
