"""Ada's workspace and Cy's beside it, on both databases, with the library's operations."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.media.add import Known, RemovedMeanwhile, Store, begin, finish
from cadenza.media.model import Facts, Media
from cadenza.media.use import use
from cadenza.providers.message import MediaKind
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

HOME = "ada-and-friends"
AWAY = "cy-alone"
BY = "member:ada"


def facts(content: str = "a" * 64, **changes: Any) -> Facts:
    """A picture, as if it had been probed."""
    said: dict[str, Any] = {
        "kind": MediaKind.IMAGE,
        "mime": "image/png",
        "extension": "png",
        "size": 10,
        "sha256": content,
        "width": 4,
        "height": 3,
    }
    return Facts(**{**said, **changes})


class Library:
    """The library's operations, as an edge would call them."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        self._ids = count(1)

    async def add(self, content: str = "a" * 64, *, workspace_id: str = HOME) -> Media:
        said = facts(content)
        answer = await self.operations.run(
            lambda tx, now: begin(
                tx, now, workspace_id=workspace_id, facts=said, name="cat.png", alt="a cat", by=BY
            ),
        )
        if isinstance(answer, Known):
            return answer.media
        assert isinstance(answer, Store)
        stored = await self.operations.run(
            lambda tx, now: finish(tx, now, media=answer.media, by=BY)
        )
        assert not isinstance(stored, RemovedMeanwhile)
        return stored

    async def use(self, post_id: str, *media: Media) -> Any:
        return await self.operations.run(
            lambda tx, _: use(tx, HOME, post_id, [each.id for each in media]),
        )

    async def deliver(self, post_id: str, state: str = "scheduled", *, account: str = "ada") -> str:
        """A delivery of the post, put into a state."""
        id_ = f"d{next(self._ids):05}"

        def add(tx: Tx, now: datetime) -> None:
            new = NewDelivery(
                id=id_,
                workspace_id=HOME,
                account_id=account,
                channel=Channel.MASTODON,
                action=Action.POST,
                due_at=now + timedelta(days=1),
                content='{"text":"hello"}',
                post_id=post_id,
            )
            schedule(tx, now, [new])
            tx.run(
                """
                UPDATE delivery SET state = :state, sent_at = :sent_at, failed_at = :failed_at, reason = 'x'
                WHERE workspace_id = :home AND id = :id
                """,
                state=state,
                sent_at=now if state == "sent" else None,
                failed_at=now if state == "failed" else None,
                home=HOME,
                id=id_,
            )

        await self.operations.run(add)
        return id_

    async def rows(self, table: str) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(f"SELECT * FROM {table}"))


@pytest.fixture
async def operations(database: str) -> AsyncIterator[Operations]:
    async with open_product(database, clock=SystemClock()) as opened:
        await opened.run(_settle_in)
        yield opened


@pytest.fixture
def library(operations: Operations) -> Library:
    return Library(operations)


def _settle_in(tx: Tx, now: datetime) -> None:
    for home in (HOME, AWAY):
        tx.run(
            "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, :id, 'Europe/Berlin', :now)",
            id=home,
            now=now,
        )
    for account in ("ada", "ben"):
        tx.run(
            """
            INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
            VALUES (:home, :id, 'simulated', :id, 'Europe/Berlin', :now)
            """,
            home=HOME,
            id=account,
            now=now,
        )
        init_account(tx, now, workspace_id=HOME, account_id=account)
