"""Ada's account on a simulated Threads, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.demo.networks.meta_containers import Rules
from cadenza.demo.networks.threads import SCOPES, SimulatedThreads
from cadenza.demo.simulator.serve import Simulator, simulate
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import AccountRef, App, MediaItem, MediaKind, Message, Tokens
from cadenza.providers.threads import PROVIDER
from tests.providers.contract import Scene, open_client
from tests.providers.pictures import mp4, png

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "THcanary3f9b1cTokenThatNobodyMayRead"
SECRET = "canary-app-secret-5d0c"
CANARIES = (CANARY, SECRET)
MAKE = "POST /{version}/{account}/threads"
PUBLISH = "POST /{version}/{account}/threads_publish"
NODE = "GET /{version}/{node}"


def item(simulator: Simulator, simulated: SimulatedThreads, name: str, data: bytes) -> MediaItem:
    """Lay a file out where the network can fetch it."""
    moving = name.endswith(".mp4")
    mime = "video/mp4" if moving else "image/png"
    url = simulator.put_media(simulated, name, mime, data)

    async def read() -> bytes:
        return data

    kind = MediaKind.VIDEO if moving else MediaKind.IMAGE
    return MediaItem(kind, mime, len(data), read, name=name, url=url, alt="The sea")


@asynccontextmanager
async def threads(
    text: str = "Good morning",
    *,
    parts: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    link: str | None = None,
    rules: Rules | None = None,
    scopes: tuple[str, ...] = SCOPES,
) -> AsyncGenerator[tuple[Scene, SimulatedThreads]]:
    simulated = SimulatedThreads(rules)
    simulated.own_secret, simulated.own_grants = SECRET, scopes
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        ada = simulated.add_account("ada", token=CANARY)
        media = tuple(
            item(simulator, simulated, name, mp4() if name.endswith(".mp4") else png())
            for name in files
        )
        scene = Scene(
            simulator=simulator,
            simulated=simulated,
            provider=PROVIDER,
            http=http,
            account=AccountRef(id="a1", remote_id=ada.id, handle="@ada"),
            tokens=Tokens(
                access=Secret(CANARY),
                expires_at=START + timedelta(days=60),
                refreshed_at=START,
            ),
            app=App(
                base_url=simulated.url(), client_id=simulated.own_id, client_secret=Secret(SECRET)
            ),
            message=Message(
                channel=Channel.THREADS, text=text, parts=parts, media=media, link=link
            ),
            seen_as="ada",
        )
        yield scene, simulated
