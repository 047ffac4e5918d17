"""Ada's profile and her page on a simulated LinkedIn, ready to be driven."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from cadenza.core.channels import Channel
from cadenza.demo.networks.linkedin import SimulatedLinkedIn
from cadenza.demo.simulator.serve import simulate
from cadenza.providers.http.redact import Secret
from cadenza.providers.linkedin import PROVIDER
from cadenza.providers.message import AccountRef, App, MediaItem, MediaKind, Message, Tokens
from tests.providers.contract import Scene, open_client
from tests.providers.pictures import film

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CANARY = "canary-7d21aa-token-that-nobody-may-read"
REFRESH = "canary-90ce4b-refresh-that-nobody-may-read"
BACK = "https://cadenza.example/back"
POSTS = "POST /rest/posts"
LISTS = "GET /rest/posts"


@asynccontextmanager
async def linkedin(
    text: str = "Good morning",
    *,
    page: bool = False,
    media: tuple[MediaItem, ...] = (),
    refreshes: bool = False,
    link: str | None = None,
    subject: str = "",
) -> AsyncGenerator[tuple[Scene, SimulatedLinkedIn]]:
    simulated = SimulatedLinkedIn()
    async with simulate(simulated, start=START) as simulator, open_client(simulated) as http:
        token = simulated.add_person("Ada", token=CANARY)
        author = simulated.add_page("Ada & Co", token) if page else simulated.tokens[token].person
        client = simulated.add_app(BACK, refreshes=refreshes)
        refresh = simulated.issue_refresh(token, REFRESH) if refreshes else None
        channel = Channel.LINKEDIN_ORGANIZATION if page else Channel.LINKEDIN_PROFILE
        yield (
            Scene(
                simulator=simulator,
                simulated=simulated,
                provider=PROVIDER,
                http=http,
                account=AccountRef(id="a1", remote_id=author, handle="ada"),
                tokens=Tokens(access=Secret(token), refresh=Secret(refresh) if refresh else None),
                app=App(
                    base_url=simulated.url(),
                    client_id=client.id,
                    client_secret=Secret(client.secret),
                    options={"sign_in_url": simulated.url("www")},
                ),
                message=Message(
                    channel=channel, text=text, media=media, link=link, subject=subject
                ),
                seen_as=author,
            ),
            simulated,
        )


def long_film(size: int = 90_000) -> MediaItem:
    """Make a film that is just long enough for LinkedIn."""
    start = film()

    async def read() -> bytes:
        return (await start.read()).ljust(size, b"\0")

    return replace(start, read=read, size=size)


def document() -> MediaItem:
    data = b"%PDF-1.7\n%%EOF"

    async def read() -> bytes:
        return data

    return MediaItem(MediaKind.DOCUMENT, "application/pdf", len(data), read, name="plan.pdf")
