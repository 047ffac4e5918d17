"""Ada's account on an Instagram in rehearsal, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.demo.rehearsal.kernel import Rehearsal, rehearse
from cadenza.demo.rehearsal.worlds.instagram import InstagramWorld
from cadenza.demo.rehearsal.worlds.meta_containers import Rules
from cadenza.demo.rehearsal.worlds.meta_model import LONG
from cadenza.providers.http.redact import Secret
from cadenza.providers.instagram import PROVIDER
from cadenza.providers.message import AccountRef, App, MediaItem, MediaKind, Message, Tokens
from tests.providers.contract import Scene, open_client
from tests.providers.pictures import jpeg, mp4

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "IGcanary3f9b1cTokenThatNobodyMayRead"
USER = "EAAcanary77ab2eUserTokenThatNobodyMayRead"
SECRET = "canary-app-secret-5d0c"
CANARIES = (CANARY, USER, SECRET)
MAKE = "POST /{version}/{account}/media"
PUBLISH = "POST /{version}/{account}/media_publish"
NODE = "GET /{version}/{node}"


def item(rehearsal: Rehearsal, world: InstagramWorld, name: str, data: bytes) -> MediaItem:
    """Lay a file out where the network can fetch it."""
    moving = name.endswith(".mp4")
    mime = "video/mp4" if moving else f"image/{name.rpartition('.')[2]}".replace("jpg", "jpeg")
    url = rehearsal.put_media(world, name, mime, data)

    async def read() -> bytes:
        return data

    kind = MediaKind.VIDEO if moving else MediaKind.IMAGE
    return MediaItem(kind, mime, len(data), read, name=name, url=url, alt="" if moving else "Sea")


@asynccontextmanager
async def instagram(
    text: str = "Good morning",
    *,
    files: tuple[str, ...] = ("sea.jpg",),
    channel: Channel = Channel.INSTAGRAM_FEED,
    rules: Rules | None = None,
    by_facebook: bool = False,
) -> AsyncGenerator[tuple[Scene, InstagramWorld]]:
    world = InstagramWorld(rules)
    world.app_secret = world.own_secret = SECRET
    async with rehearse(world, start=START) as rehearsal, open_client(world) as http:
        ada = world.add_account("ada", token="" if by_facebook else CANARY)
        settings = {"login": "instagram"}
        if by_facebook:
            world.issue("USER", "ada-person", life=LONG, scopes=world.grants, value=USER)
            page = world.add_page("Ada's bakery", "ada-person", token=CANARY)
            page.twin, world.tokens[CANARY].parent = ada.id, USER
            settings = {"login": "facebook", "page": page.id}
        story = channel is Channel.INSTAGRAM_STORY
        media = tuple(
            item(rehearsal, world, name, mp4() if name.endswith(".mp4") else jpeg())
            for name in files
        )
        scene = Scene(
            rehearsal=rehearsal,
            world=world,
            provider=PROVIDER,
            http=http,
            account=AccountRef(id="a1", remote_id=ada.id, handle="@ada", settings=settings),
            tokens=Tokens(
                access=Secret(CANARY),
                expires_at=START + timedelta(days=60),
                refreshed_at=START,
                extra={"user": Secret(USER)} if by_facebook else {},
            ),
            app=App(
                base_url=world.url(),
                client_id=world.app_id if by_facebook else world.own_id,
                client_secret=Secret(SECRET),
                options={
                    "facebook": world.url("facebook"),
                    "api": world.url(),
                    "login": "facebook" if by_facebook else "instagram",
                },
            ),
            message=Message(channel=channel, text=text, media=media),
            expected=("" if story else text,),
            seen_as="ada",
        )
        yield scene, world
