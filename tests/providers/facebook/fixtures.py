"""Ada's page on a simulated Facebook, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from cadenza.core.channels import Channel
from cadenza.demo.networks.facebook import SCOPES, SimulatedFacebook
from cadenza.demo.networks.meta_model import LONG
from cadenza.demo.simulator.serve import simulate
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
) -> AsyncGenerator[tuple[Scene, SimulatedFacebook]]:
    simulated = SimulatedFacebook()
    simulated.grants, simulated.app_secret = scopes, SECRET
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        simulated.issue("USER", "ada", life=LONG, scopes=scopes, value=USER)
        page = simulated.add_page("Ada's bakery", "ada", token=CANARY)
        simulated.tokens[CANARY].parent = USER
        scene = Scene(
            simulator=simulator,
            simulated=simulated,
            provider=PROVIDER,
            http=http,
            account=AccountRef(id="a1", remote_id=page.id, handle=page.name),
            tokens=Tokens(
                access=Secret(CANARY),
                expires_at=START + timedelta(days=60),
                refreshed_at=START,
                extra={"user": Secret(USER)},
            ),
            app=App(
                base_url=simulated.url(), client_id=simulated.app_id, client_secret=Secret(SECRET)
            ),
            message=Message(channel=Channel.FACEBOOK_PAGE, text=text, media=media, link=link),
            seen_as="Ada's bakery",
        )
        yield scene, simulated
