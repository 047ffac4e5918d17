"""Ada's account on a simulated Mastodon, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.demo.networks.mastodon import SimulatedMastodon
from cadenza.demo.networks.mastodon_model import Rules
from cadenza.demo.simulator.serve import simulate
from cadenza.providers.http.redact import Secret
from cadenza.providers.mastodon import PROVIDER
from cadenza.providers.mastodon.limits import Limits, to_settings
from cadenza.providers.message import AccountRef, App, MediaItem, Message, Tokens
from tests.providers.contract import Scene, open_client

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "canary-3f9b1c-token-that-nobody-may-read"
POSTS = "POST /api/v1/statuses"


@asynccontextmanager
async def mastodon(
    text: str = "Good morning",
    *,
    parts: tuple[str, ...] = (),
    media: tuple[MediaItem, ...] = (),
    rules: Rules | None = None,
    scopes: tuple[str, ...] = ("read", "write"),
) -> AsyncGenerator[tuple[Scene, SimulatedMastodon]]:
    simulated = SimulatedMastodon(rules)
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        token = simulated.add_account("ada", token=CANARY, scopes=scopes)
        limits = Limits(characters=simulated.rules.max_characters, media=simulated.rules.max_media)
        scene = Scene(
            simulator=simulator,
            simulated=simulated,
            provider=PROVIDER,
            http=http,
            account=AccountRef(
                id="a1",
                remote_id=simulated.person(token).id,
                handle="@ada@simulated.example",
                settings={"instance": simulated.url(), "limits": to_settings(limits)},
            ),
            tokens=Tokens(access=Secret(token)),
            app=App(base_url=simulated.url()),
            message=Message(channel=Channel.MASTODON, text=text, parts=parts, media=media),
            seen_as="ada",
        )
        yield scene, simulated
