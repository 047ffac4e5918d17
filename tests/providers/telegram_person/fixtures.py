"""Ada's own session with a simulated Telegram, ready to send."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.providers.base import AttemptContext, Prepared, StillPreparing
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, MediaItem, Message, Recipient, Tokens
from cadenza.providers.outcome import Outcome
from cadenza.providers.telegram_person import PROVIDER
from tests.providers.telegram_person.standin import Telegram, telegram

APP = App(base_url="", client_id="12345", client_secret=Secret("canary-hash-of-our-app"))


@asynccontextmanager
async def person(
    text: str = "Good morning",
    *,
    to: str = "@ben",
    parts: tuple[str, ...] = (),
    media: tuple[MediaItem, ...] = (),
) -> AsyncGenerator[tuple[AttemptContext, Telegram]]:
    async with telegram() as simulated:
        policy = Policy(allow=(HostRule("127.0.0.1", simulated.port),))
        async with OutboundClient(policy, clock=SystemClock()) as http:
            now = datetime.now(UTC)
            message = Message(
                channel=Channel.TELEGRAM,
                text=text,
                parts=parts,
                media=media,
                recipient=Recipient(to),
            )
            call = AttemptContext(
                account=AccountRef(id="a1", remote_id="41"),
                tokens=Tokens(access=Secret(simulated.session)),
                app=APP,
                http=http,
                now=now,
                message=message,
                key="the-attempt",
                began_at=now,
            )
            yield call, simulated


async def ready(call: AttemptContext) -> AttemptContext | Outcome:
    """Prepare to the end."""
    found: Prepared | StillPreparing | Outcome = StillPreparing(call.state)
    while isinstance(found, StillPreparing):
        call = replace(call, state=found.state)
        found = await PROVIDER.prepare(call)
    return replace(call, state=found.state) if isinstance(found, Prepared) else found


async def made_ready(call: AttemptContext) -> AttemptContext:
    found = await ready(call)
    assert isinstance(found, AttemptContext), found
    return found
