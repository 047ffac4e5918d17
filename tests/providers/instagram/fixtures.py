"""Ada's account on a simulated Instagram, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.demo.networks.instagram import SimulatedInstagram
from cadenza.demo.networks.meta_containers import Rules
from cadenza.demo.networks.meta_model import LONG
from cadenza.demo.simulator.serve import Simulator, simulate
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


def item(simulator: Simulator, simulated: SimulatedInstagram, name: str, data: bytes) -> MediaItem:
    """Lay a file out where the network can fetch it."""
    moving = name.endswith(".mp4")
    mime = "video/mp4" if moving else f"image/{name.rpartition('.')[2]}".replace("jpg", "jpeg")
    url = simulator.put_media(simulated, name, mime, data)

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
) -> AsyncGenerator[tuple[Scene, SimulatedInstagram]]:
    simulated = SimulatedInstagram(rules)
    simulated.app_secret = simulated.own_secret = SECRET
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        ada = simulated.add_account("ada", token="" if by_facebook else CANARY)
        settings = {"login": "instagram"}
        if by_facebook:
            simulated.issue("USER", "ada-person", life=LONG, scopes=simulated.grants, value=USER)
            page = simulated.add_page("Ada's bakery", "ada-person", token=CANARY)
            page.twin, simulated.tokens[CANARY].parent = ada.id, USER
            settings = {"login": "facebook", "page": page.id}
        story = channel is Channel.INSTAGRAM_STORY
        media = tuple(
            item(simulator, simulated, name, mp4() if name.endswith(".mp4") else jpeg())
            for name in files
        )
        scene = Scene(
            simulator=simulator,
            simulated=simulated,
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
                base_url=simulated.url(),
                client_id=simulated.app_id if by_facebook else simulated.own_id,
                client_secret=Secret(SECRET),
                options={
                    "facebook": simulated.url("facebook"),
                    "api": simulated.url(),
                    "login": "facebook" if by_facebook else "instagram",
                },
            ),
            message=Message(channel=channel, text=text, media=media),
            expected=("" if story else text,),
            seen_as="ada",
        )
        yield scene, simulated
