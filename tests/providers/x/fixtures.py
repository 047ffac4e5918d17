"""Ada's account on a simulated X, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.demo.networks.x import SimulatedX
from cadenza.demo.networks.x_model import SCOPES
from cadenza.demo.simulator.serve import simulate
from cadenza.providers.base import AttemptContext
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
) -> AsyncGenerator[tuple[Scene, SimulatedX]]:
    simulated = SimulatedX()
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        token = simulated.add_user("ada", token=CANARY, scopes=scopes)
        client = simulated.add_app(BACK)
        assert client.secret is not None
        yield (
            Scene(
                simulator=simulator,
                simulated=simulated,
                provider=PROVIDER,
                http=http,
                account=AccountRef(
                    id="a1", remote_id=simulated.tokens[token].user, handle="@ada", settings={}
                ),
                tokens=Tokens(
                    access=Secret(token), refresh=Secret(simulated.issue_refresh(token, REFRESH))
                ),
                app=App(
                    base_url=simulated.url(),
                    client_id=client.id,
                    client_secret=Secret(client.secret),
                    options={"sign_in_url": simulated.url()},
                ),
                message=Message(channel=Channel.X, text=text, parts=parts, media=media),
                seen_as="ada",
            ),
            simulated,
        )


def gif() -> MediaItem:
    data = b"GIF89a\x02\x00\x02\x00" + b"\0" * 20

    async def read() -> bytes:
        return data

    still = picture("dance.gif", alt="A dancing cat")
    return replace(still, kind=MediaKind.GIF, mime="image/gif", size=len(data), read=read)


def call_of(scene: Scene) -> AttemptContext:
    return AttemptContext(
        account=scene.account,
        tokens=scene.tokens,
        app=scene.app,
        http=scene.http,
        now=scene.simulator.clock.now(),
        message=scene.message,
        began_at=scene.simulator.clock.now(),
    )
