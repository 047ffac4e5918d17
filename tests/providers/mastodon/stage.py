"""Ada's account on a Mastodon in rehearsal, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.demo.rehearsal.kernel import rehearse
from cadenza.demo.rehearsal.worlds.mastodon import MastodonWorld
from cadenza.demo.rehearsal.worlds.mastodon_model import Rules
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
) -> AsyncGenerator[tuple[Scene, MastodonWorld]]:
    world = MastodonWorld(rules)
    async with rehearse(world, start=START) as rehearsal, open_client(world) as http:
        token = world.add_account("ada", token=CANARY, scopes=scopes)
        limits = Limits(characters=world.rules.max_characters, media=world.rules.max_media)
        scene = Scene(
            rehearsal=rehearsal,
            world=world,
            provider=PROVIDER,
            http=http,
            account=AccountRef(
                id="a1",
                remote_id=world.person(token).id,
                handle="@ada@rehearsal.example",
                settings={"instance": world.url(), "limits": to_settings(limits)},
            ),
            tokens=Tokens(access=Secret(token)),
            app=App(base_url=world.url()),
            message=Message(channel=Channel.MASTODON, text=text, parts=parts, media=media),
            seen_as="ada",
        )
        yield scene, world
