"""A house that browsers can visit: real rows on SQLite, a real server on a free port, a clock set to October.

Ada owns the workspace, Ben edits, Cy looks. It is Wednesday 21 October 2026, 07:00 UTC, when the doors open:
clocks go back in Berlin on the 25th and in New York on 1 November. Nothing is sent: no worker runs.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from playwright.async_api import Browser, BrowserContext, Page

from cadenza.api.app import create_app
from cadenza.api.serve import serve
from cadenza.bootstrap import Runtime, open_runtime
from cadenza.config.model import MailServer, Settings
from cadenza.core.clock import SystemClock
from cadenza.deliveries.init_account import init_account
from cadenza.people.model import Role
from cadenza.people.sessions import SessionOrigin, open_session
from cadenza.people.sign_up import add_person
from cadenza.people.tokens import draw_token
from cadenza.people.workspaces import NewWorkspace, add_member, create_workspace
from cadenza.posts.create import Created, create
from cadenza.posts.model import NewPost
from cadenza.queues import schedule
from cadenza.queues.add import add
from cadenza.sql.tx import Row, Tx

OPENS = datetime(2026, 10, 21, 7, 0, tzinfo=UTC)
HOME = "home-of-ada"
DAILY = {str(day): ["09:00", "17:30"] for day in range(7)}
TEXTS = (
    "The new season begins: tickets from Friday",
    "Behind the scenes with the string section",
    "Three questions for our conductor",
    "Rehearsal diary, part one",
    "What a bassoon is good for",
    "An evening with Clara Schumann",
)
# argon2id of nothing that anybody types: sessions are opened directly.
HASH = "$argon2id$v=19$m=65536,t=3,p=4$SxJEwsgAwt8d2p3vngeoHw$+ko7L9ZHMWAPt5B2GJv9R3HMwE04GHxxl4i9p7BcLeI"


class SetClock(SystemClock):
    """The machine's clock, set so that the application opens at a named instant."""

    def __init__(self, opens: datetime) -> None:
        self._ahead = opens - super().now()

    def now(self) -> datetime:
        """Return the time in the application."""
        return super().now() + self._ahead


@dataclass
class Stage:
    """The application, its address, and who may come in."""

    runtime: Runtime
    browser: Browser
    stop: asyncio.Event
    address: str = ""
    app: FastAPI = field(default_factory=FastAPI)
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    members: dict[str, str] = field(default_factory=dict[str, str])
    posts: list[str] = field(default_factory=list[str])
    names: dict[str, str] = field(default_factory=dict[str, str])  # ids that a test keeps by name
    contexts: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def visit(self, who: str, path: str, *, deaf: bool = False, **options: Any) -> Page:
        """Open a screen of the workspace in a browser of `who`; a deaf one hears of no events."""
        options = {
            "locale": "en-GB",
            "timezone_id": "Europe/London",
            "viewport": {"width": 1280, "height": 860},
        } | options
        context: BrowserContext = await self.browser.new_context(**options)
        self.contexts.push_async_callback(context.close)
        await context.add_cookies(
            [{"name": "cadenza", "value": self.tokens[who], "url": self.address}]
        )
        await context.clock.install(time=self.runtime.clock.now())
        if deaf:
            await context.route("**/events", lambda route: route.abort())
        return await self.open_page(context, f"w/{HOME}/{path}")

    async def stranger(self, path: str) -> Page:
        """Open a page in the telephone of somebody whom the application does not know."""
        context = await self.browser.new_context(
            locale="en-GB", timezone_id="Europe/London", viewport={"width": 390, "height": 800}
        )
        self.contexts.push_async_callback(context.close)
        return await self.open_page(context, path)

    async def open_page(self, context: BrowserContext, path: str) -> Page:
        """Open an address of the installation; what a busy machine does slowly is no failure."""
        page = await context.new_page()
        page.set_default_timeout(15_000)
        page.set_default_navigation_timeout(30_000)
        await page.goto(f"{self.address}/{path}")
        return page

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        """Read what is in the database."""
        return await self.runtime.operations.read(lambda tx, _: tx.all(sql, **params))

    async def order(self, account: str = "mastodon") -> list[str]:
        """Read the texts of an account's queue in the order in which they are due."""
        rows = await self.rows(
            """
            SELECT post.content FROM delivery JOIN post
                ON post.workspace_id = delivery.workspace_id AND post.id = delivery.post_id
            WHERE delivery.workspace_id = :home AND delivery.account_id = :account
                AND delivery.state IN ('draft', 'scheduled')
            ORDER BY delivery.due_at
            """,
            home=HOME,
            account=account,
        )
        return [next(text for text in TEXTS if text in str(row["content"])) for row in rows]


@asynccontextmanager
async def open_stage(
    browser: Browser, folder: Path, *, opens: datetime = OPENS
) -> AsyncGenerator[Stage]:
    """Open a furnished house and serve it."""
    settings = Settings(
        data=folder,
        database=f"sqlite:///{folder}/product.sqlite3",
        # Nobody calls it: no worker runs.
        mail=MailServer(host="mail.example.org", sender="cadenza@example.org"),
    )
    async with (
        open_runtime(settings, clock=SetClock(opens)) as runtime,
        open_doors(runtime, browser) as stage,
    ):
        await runtime.operations.run(lambda tx, now: _furnish(tx, now, stage))
        yield stage


@asynccontextmanager
async def open_doors(runtime: Runtime, browser: Browser) -> AsyncGenerator[Stage]:
    """Serve a house as it is, until the story ends."""
    stop = asyncio.Event()
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    app = create_app(runtime, stop=stop)
    serving = asyncio.create_task(
        serve(app, "127.0.0.1", 0, stop, started=port.set_result, grace=1)
    )
    stage = Stage(runtime, browser, stop, f"http://127.0.0.1:{await port}", app)
    try:
        yield stage
    finally:
        await stage.contexts.aclose()
        stop.set()
        await asyncio.wait_for(serving, 10)


def move_in(tx: Tx, now: datetime, stage: Stage) -> None:
    """Make the workspace and let its people in."""
    new = NewWorkspace(id=HOME, name="Concert hall", zone="Europe/Berlin")
    create_workspace(tx, now, new=new, by="system")
    for who, role in (("ada", Role.OWNER), ("ben", Role.EDITOR), ("cy", Role.VIEWER)):
        _admit(tx, now, stage, who, role)


def _furnish(tx: Tx, now: datetime, stage: Stage) -> None:
    move_in(tx, now, stage)
    for id_, handle, zone in (
        ("mastodon", "@hall@music.example", "Europe/Berlin"),
        ("bluesky", "hall.example", "America/New_York"),
        ("linkedin", "Concert hall", "Europe/London"),
    ):
        connect_account(tx, now, id_, handle, zone)
    tx.run(
        "UPDATE account SET state = 'needs_reconnect', state_reason = 'the token was revoked' WHERE id = 'linkedin'"
    )
    by = f"member:{stage.members['ada']}"
    for account in ("mastodon", "bluesky"):
        schedule.write(
            tx, now, workspace_id=HOME, account_id=account, slots=DAILY, max_per_day=3, by=by
        )
    for text in TEXTS:
        made = create(tx, now, NewPost(workspace_id=HOME, text=text), by=by, approve=True)
        assert isinstance(made, Created)
        stage.posts.append(made.id)
        add(tx, now, workspace_id=HOME, post_id=made.id, by=by, targets=["mastodon"])


def _admit(tx: Tx, now: datetime, stage: Stage, who: str, role: Role) -> None:
    person = add_person(
        tx,
        now,
        email=f"{who}@example.org",
        name=who.title(),
        password_hash=HASH,
        zone="Europe/London",
        owner=who == "ada",
    )
    stage.members[who] = add_member(
        tx, now, workspace_id=HOME, person_id=person, role=role, by="system"
    )
    token = draw_token()
    origin = SessionOrigin(address="192.0.2.1", agent="test")
    open_session(tx, now, person_id=person, token_hash=token.hash, origin=origin)
    stage.tokens[who] = token.text


def connect_account(tx: Tx, now: datetime, id_: str, handle: str, zone: str) -> None:
    """Connect an account of the network that its id names."""
    tx.run(
        """
        INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, sealed, created_at)
        VALUES (:home, :id, :id, :id, :handle, :zone, 'sealed', :now)
        """,
        home=HOME,
        id=id_,
        handle=handle,
        zone=zone,
        now=now - timedelta(days=30),
    )
    init_account(tx, now, workspace_id=HOME, account_id=id_)
