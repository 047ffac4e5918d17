"""Ada's account on a simulated Bluesky, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.demo.networks.bluesky import SimulatedBluesky
from cadenza.demo.simulator.serve import simulate
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
) -> AsyncGenerator[tuple[Scene, SimulatedBluesky]]:
    simulated = SimulatedBluesky()
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        did = simulated.add_account("ada.example", PASSWORD)
        simulated.add_account("ben.test", "other")
        pair = simulated.sessions.begin(did, simulator.shared.ids, simulator.clock.now())
        scene = Scene(
            simulator=simulator,
            simulated=simulated,
            provider=PROVIDER,
            http=http,
            account=AccountRef(
                id="a1",
                remote_id=did,
                handle="@ada.example",
                settings={"pds": simulated.url("pds")},
            ),
            tokens=Tokens(
                access=Secret(pair.access),
                refresh=Secret(pair.refresh),
                expires_at=pair.access_until,
            ),
            app=App(base_url=simulated.url()),
            message=Message(
                channel=Channel.BLUESKY, text=text, parts=parts, media=media, link=link
            ),
            seen_as="ada.example",
        )
        yield scene, simulated
