"""A workspace with two people, a viewer and three accounts, on both databases."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.posts.compose import compose
from cadenza.posts.create import Created, create
from cadenza.posts.find import find
from cadenza.posts.model import NewPost, Post
from cadenza.posts.targets import Targets
from cadenza.sql.transactions import Operation, Result
from cadenza.sql.tx import Row, Tx
from tests.deliveries import conftest as road_conftest
from tests.deliveries.conftest import Pipeline

HOME = road_conftest.HOME
ADA = "member:ada"
BEN = "member:ben"
CY = "member:cy"  # may only look
MASTODON = ("toots", Channel.MASTODON)
BLUESKY = ("skies", Channel.BLUESKY)
INSTAGRAM = ("pics", Channel.INSTAGRAM_FEED)


class Desk(Pipeline):
    """The delivery pipeline, and what people do at their desks."""

    async def run(self, operation: Operation[Result], *, locks: Sequence[str] = ()) -> Result:
        return await self.operations.run(operation, locks=locks)

    async def write(
        self, text: str = "hello", *, by: str = ADA, approve: bool | None = None, **more: Any
    ) -> str:
        """Save a post; return its id."""
        made = await self.save(text, by=by, approve=approve, **more)
        assert isinstance(made, Created)
        return made.id

    async def save(
        self, text: str = "hello", *, by: str = ADA, approve: bool | None = None, **more: Any
    ) -> Any:
        new = NewPost(workspace_id=HOME, text=text, **more)
        return await self.run(lambda tx, now: create(tx, now, new, by=by, approve=approve))

    async def plan(
        self, post_id: str, targets: Targets, *, due: timedelta = timedelta(hours=1), **more: Any
    ) -> list[str]:
        """Give the post's pieces an instant, as a planner does; return the deliveries."""

        def operation(tx: Tx, now: datetime) -> list[str]:
            new = [
                NewDelivery(
                    id=tx.new_id(),
                    workspace_id=HOME,
                    account_id=piece.account_id,
                    channel=piece.channel,
                    action=Action.POST,
                    due_at=now + due,
                    content=piece.content,
                    post_id=piece.post_id,
                    approved=piece.approved,
                    **more,
                )
                for piece in compose(tx, HOME, post_id, targets)
            ]
            schedule(tx, now, new)
            return [each.id for each in new]

        return await self.run(operation)

    async def post(self, post_id: str) -> Post:  # pyright: ignore[reportIncompatibleMethodOverride]
        found = await self.operations.read(lambda tx, _: find(tx, HOME, post_id))
        assert isinstance(found, Post)
        return found

    async def delivery(self, id_: str) -> Row:
        return await self.row("delivery", id_)

    async def composed(self, post_id: str, channel: Channel) -> dict[str, Any]:
        """Return what one channel would get."""
        (piece,) = await self.operations.read(
            lambda tx, _: compose(tx, HOME, post_id, [("toots", channel)], hold=False)
        )
        return msgspec.json.decode(piece.content)

    async def sql(self, text: str, **params: Any) -> int:
        return await self.run(lambda tx, _: tx.run(text, **params))

    async def file(self, id_: str, **more: Any) -> str:
        """Put a picture into the library."""
        values: dict[str, Any] = {
            "kind": "image",
            "mime": "image/jpeg",
            "size": 1000,
            "alt": "a cat",
            **more,
        }

        def operation(tx: Tx, now: datetime) -> None:
            tx.run(
                """
                INSERT INTO media (workspace_id, id, file, kind, mime, size, width, height, sha256, name, alt,
                    created_at, created_by, stored_at)
                VALUES (:home, :id, :file, :kind, :mime, :size, 1080, 1080, :id, 'cat.jpg', :alt, :now,
                    'member:ada', :now)
                """,
                home=HOME,
                id=id_,
                file=f"{id_}.jpg",
                now=now,
                **values,
            )

        await self.run(operation)
        return id_


def _settle_in(tx: Tx, now: datetime) -> None:
    tx.run(
        "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, 'Ada', 'Europe/Berlin', :now)",
        id=HOME,
        now=now,
    )
    for member, role in (("ada", "owner"), ("ben", "editor"), ("cy", "viewer")):
        tx.run(
            """
            INSERT INTO member (workspace_id, id, email, name, role, created_at)
            VALUES (:home, :id, :email, :id, :role, :now)
            """,
            home=HOME,
            id=member,
            email=f"{member}@example.org",
            role=role,
            now=now,
        )
    for account, provider in (("toots", "mastodon"), ("skies", "bluesky"), ("pics", "instagram")):
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, created_at)
            VALUES (:home, :id, :provider, :id, :handle, 'Europe/Berlin', :now)
            """,
            home=HOME,
            id=account,
            provider=provider,
            handle=f"@{account}",
            now=now,
        )
        init_account(tx, now, workspace_id=HOME, account_id=account)


@pytest.fixture
async def desk(database: str) -> AsyncIterator[Desk]:
    async with open_product(database, clock=SystemClock()) as operations:
        await operations.run(_settle_in)
        yield Desk(operations)


@pytest.fixture
async def crowded(postgres_database: str) -> AsyncIterator[Desk]:
    """The same on PostgreSQL alone, where two connections can meet."""
    async with open_product(postgres_database, clock=SystemClock()) as operations:
        await operations.run(_settle_in)
        yield Desk(operations)
