"""Ada's bot and her channel on a simulated Telegram, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from cadenza.core.channels import Channel
from cadenza.demo.networks.telegram import SimulatedTelegram
from cadenza.demo.simulator.serve import simulate
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, MediaItem, Message, Recipient, Tokens
from cadenza.providers.telegram import PROVIDER
from tests.providers.contract import Scene, open_client

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "5550001111:AA-canary_7d1e-token-nobody-may-read"
CALLS = "POST /bot{token}/{method}"


@asynccontextmanager
async def telegram(
    text: str = "Good morning",
    *,
    parts: tuple[str, ...] = (),
    media: tuple[MediaItem, ...] = (),
    to: str | None = None,
    html: str | None = None,
    **options: Any,
) -> AsyncGenerator[tuple[Scene, SimulatedTelegram]]:
    """Open a world with a bot that posts in the channel @ada_daily; `to` makes it a broadcast."""
    simulated = SimulatedTelegram()
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        simulated.add_bot("ada_bot", token=CANARY)
        channel = simulated.add_chat("channel", "Ada daily", username="ada_daily")
        scene = Scene(
            simulator=simulator,
            simulated=simulated,
            provider=PROVIDER,
            http=http,
            account=AccountRef(
                id="a1",
                remote_id=f"5550001111/{channel.id}",
                settings={"chat_id": str(channel.id)},
            ),
            tokens=Tokens(access=Secret(CANARY)),
            app=App(base_url=simulated.url()),
            message=Message(
                channel=Channel.TELEGRAM,
                text=text,
                html=html,
                parts=parts,
                media=media,
                recipient=Recipient(to) if to is not None else None,
                options=options,
            ),
            seen_as="ada_bot",
        )
        yield scene, simulated
