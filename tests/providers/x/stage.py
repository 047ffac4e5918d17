"""Ada's account on an X in rehearsal, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.demo.rehearsal.kernel import rehearse
from cadenza.demo.rehearsal.worlds.x import XWorld
from cadenza.demo.rehearsal.worlds.x_model import SCOPES
from cadenza.providers.base import Call
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, MediaItem, MediaKind, Message, Tokens
from cadenza.providers.x import PROVIDER
from tests.providers.contract import Scene, open_client
from tests.providers.pictures import picture

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "canary-51e0d8-token-that-nobody-may-read"
REFRESH = "canary-b7712c-refresh-that-nobody-may-read"
BACK = "https://cadenza.example/back"
POSTS = "POST /2/tweets"
LISTS = "GET /2/users/{id}/tweets"


@asynccontextmanager
async def x(
    text: str = "Good morning",
    *,
    parts: tuple[str, ...] = (),
    media: tuple[MediaItem, ...] = (),
    scopes: tuple[str, ...] = SCOPES,
) -> AsyncGenerator[tuple[Scene, XWorld]]:
    world = XWorld()
    async with rehearse(world, start=START) as rehearsal, open_client(world) as http:
        token = world.add_user("ada", token=CANARY, scopes=scopes)
        client = world.add_app(BACK)
        assert client.secret is not None
        yield (
            Scene(
                rehearsal=rehearsal,
                world=world,
                provider=PROVIDER,
                http=http,
                account=AccountRef(
                    id="a1", remote_id=world.tokens[token].user, handle="@ada", settings={}
                ),
                tokens=Tokens(
                    access=Secret(token), refresh=Secret(world.issue_refresh(token, REFRESH))
                ),
                app=App(
                    base_url=world.url(),
                    client_id=client.id,
                    client_secret=Secret(client.secret),
                    options={"sign_in_url": world.url()},
                ),
                message=Message(channel=Channel.X, text=text, parts=parts, media=media),
                seen_as="ada",
            ),
            world,
        )


def gif() -> MediaItem:
    data = b"GIF89a\x02\x00\x02\x00" + b"\0" * 20

    async def read() -> bytes:
        return data

    still = picture("dance.gif", alt="A dancing cat")
    return replace(still, kind=MediaKind.GIF, mime="image/gif", size=len(data), read=read)


def call_of(scene: Scene) -> Call:
    return Call(
        account=scene.account,
        tokens=scene.tokens,
        app=scene.app,
        http=scene.http,
        now=scene.rehearsal.clock.now(),
        message=scene.message,
        began_at=scene.rehearsal.clock.now(),
    )
