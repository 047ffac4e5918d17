"""Ada's account on a Bluesky in rehearsal, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.demo.rehearsal.kernel import rehearse
from cadenza.demo.rehearsal.worlds.bluesky import BlueskyWorld
from cadenza.providers.bluesky import PROVIDER
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, MediaItem, Message, Tokens
from tests.providers.contract import Scene, open_client

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PASSWORD = "canary-app-password"
PUTS = "POST /xrpc/com.atproto.repo.putRecord"
BLOBS = "POST /xrpc/com.atproto.repo.uploadBlob"
GETS = "GET /xrpc/com.atproto.repo.getRecord"
RESOLVES = "GET /xrpc/com.atproto.identity.resolveHandle"
REFRESHES = "POST /xrpc/com.atproto.server.refreshSession"


@asynccontextmanager
async def bluesky(
    text: str = "Good morning",
    *,
    parts: tuple[str, ...] = (),
    media: tuple[MediaItem, ...] = (),
    link: str | None = None,
) -> AsyncGenerator[tuple[Scene, BlueskyWorld]]:
    world = BlueskyWorld()
    async with rehearse(world, start=START) as rehearsal, open_client(world) as http:
        did = world.add_account("ada.example", PASSWORD)
        world.add_account("ben.test", "other")
        pair = world.sessions.begin(did, rehearsal.stage.ids, rehearsal.clock.now())
        scene = Scene(
            rehearsal=rehearsal,
            world=world,
            provider=PROVIDER,
            http=http,
            account=AccountRef(
                id="a1", remote_id=did, handle="@ada.example", settings={"pds": world.url("pds")}
            ),
            tokens=Tokens(
                access=Secret(pair.access),
                refresh=Secret(pair.refresh),
                expires_at=pair.access_until,
            ),
            app=App(base_url=world.url()),
            message=Message(
                channel=Channel.BLUESKY, text=text, parts=parts, media=media, link=link
            ),
            seen_as="ada.example",
        )
        yield scene, world
