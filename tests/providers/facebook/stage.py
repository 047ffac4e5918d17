"""Ada's page on a Facebook in rehearsal, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.demo.rehearsal.kernel import rehearse
from cadenza.demo.rehearsal.worlds.facebook import SCOPES, FacebookWorld
from cadenza.demo.rehearsal.worlds.meta_model import LONG
from cadenza.providers.facebook import PROVIDER
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, MediaItem, Message, Tokens
from tests.providers.contract import Scene, open_client

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "EAAcanary3f9b1cPageTokenThatNobodyMayRead"
USER = "EAAcanary77ab2eUserTokenThatNobodyMayRead"
SECRET = "canary-app-secret-5d0c"
CANARIES = (CANARY, USER, SECRET)
PHOTOS = "POST /{version}/{page}/photos"
FEED = "POST /{version}/{page}/feed"
SWITCH = "POST /{version}/{node}"
NODE = "GET /{version}/{node}"
VIDEOS = "POST /{version}/{page}/videos"


@asynccontextmanager
async def facebook(
    text: str = "Good morning",
    *,
    media: tuple[MediaItem, ...] = (),
    link: str | None = None,
    scopes: tuple[str, ...] = SCOPES,
) -> AsyncGenerator[tuple[Scene, FacebookWorld]]:
    world = FacebookWorld()
    world.grants, world.app_secret = scopes, SECRET
    async with rehearse(world, start=START) as rehearsal, open_client(world) as http:
        world.issue("USER", "ada", life=LONG, scopes=scopes, value=USER)
        page = world.add_page("Ada's bakery", "ada", token=CANARY)
        world.tokens[CANARY].parent = USER
        scene = Scene(
            rehearsal=rehearsal,
            world=world,
            provider=PROVIDER,
            http=http,
            account=AccountRef(id="a1", remote_id=page.id, handle=page.name),
            tokens=Tokens(
                access=Secret(CANARY),
                expires_at=START + timedelta(days=60),
                refreshed_at=START,
                extra={"user": Secret(USER)},
            ),
            app=App(base_url=world.url(), client_id=world.app_id, client_secret=Secret(SECRET)),
            message=Message(channel=Channel.FACEBOOK_PAGE, text=text, media=media, link=link),
            seen_as="Ada's bakery",
        )
        yield scene, world
