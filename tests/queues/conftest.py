"""A workspace with queues, on both databases; `now` is the test's own, so that a schedule can be read off it."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

import pytest

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.claim import claim
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, ClaimedDelivery, ComposedPost, NewDelivery
from cadenza.deliveries.permit import Answer as PermitAnswer
from cadenza.deliveries.permit import PermitRequest, permit
from cadenza.deliveries.schedule import schedule as put_on_the_road
from cadenza.deliveries.settle import Result, settle
from cadenza.providers.outcome import Sent
from cadenza.queues import store
from cadenza.queues.add import Added, Queued, To, add_pieces
from cadenza.queues.model import Queue, locks
from cadenza.queues.schedule import Written, write
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

HOME = "ada-and-friends"
ADA = "member:ada"
BEN = "member:ben"
LEASE = timedelta(seconds=60)
# A Monday, 10:00 in Berlin.
MONDAY = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
# Monday 09:00 and 15:00, Wednesday 12:00, Friday 18:00: the week of the first design.
WEEK = {
    "1": [{"hour": 9, "minute": 0}, {"hour": 15, "minute": 0}],
    "3": [{"hour": 12, "minute": 0}],
    "5": [{"hour": 18, "minute": 0}],
}
DAILY = {str(day): ["09:00", "12:00", "15:00"] for day in range(7)}
T = TypeVar("T")


class Desk:
    """What people do with queues, at an instant that the test chooses."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        self.now = MONDAY
        self._ids = count(1)

    async def run(self, operation: Callable[..., T], *accounts: str, **words: Any) -> T:
        """Run an operation of queues at the desk's instant, under the locks of these accounts."""
        return await self.operations.run(
            lambda tx, _: operation(tx, self.now, workspace_id=HOME, **words),
            locks=locks(HOME, *(accounts or (words.get("account_id", "ada"),))),
        )

    async def connect(self, account: str, *, zone: str = "Europe/Berlin") -> None:
        def join(tx: Tx, now: datetime) -> None:
            tx.run(
                """
                INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
                VALUES (:home, :id, 'simulated', :id, :zone, :now)
                """,
                home=HOME,
                id=account,
                zone=zone,
                now=now,
            )
            init_account(tx, now, workspace_id=HOME, account_id=account)

        await self.operations.run(join)

    async def week(self, account: str = "ada", slots: object = WEEK, **words: Any) -> Queue:
        answer = await self.run(write, account_id=account, slots=slots, by=ADA, **words)
        assert isinstance(answer, Written)
        return answer.queue

    async def queue(self, account: str = "ada") -> Queue:
        found = await self.operations.read(
            lambda tx, _: store.read(tx, workspace_id=HOME, account_id=account)
        )
        assert isinstance(found, Queue)
        return found

    async def add(
        self,
        *accounts: str,
        post: str | None = None,
        to: To | datetime = To.FIRST_FREE,
        channels: Sequence[Channel] = (Channel.MASTODON,),
        approved: bool = True,
        by: str = ADA,
    ) -> Added:
        names = accounts or ("ada",)
        pieces = piece(post or f"p{next(self._ids):04}", names, channels, approved=approved)
        return await self.run(add_pieces, *names, pieces=pieces, by=by, to=to)

    async def fill(self, count: int, account: str = "ada", **words: Any) -> list[Queued]:
        found: list[Queued] = []
        for _ in range(count):
            (answer,) = (await self.add(account, **words)).answers
            assert isinstance(answer, Queued), answer
            found.append(answer)
        return found

    async def by_hand(self, at: datetime, account: str = "ada", **changes: Any) -> str:
        id_ = f"h{next(self._ids):04}"
        new = NewDelivery(
            id=id_,
            workspace_id=HOME,
            account_id=account,
            channel=Channel.MASTODON,
            action=Action.POST,
            due_at=at,
            content='{"text":"by hand"}',
            post_id=changes.pop("post_id", f"post-{id_}"),
            **changes,
        )
        await self.operations.run(lambda tx, _: put_on_the_road(tx, self.now, [new]))
        return id_

    async def claim(self, limit: int = 100) -> list[ClaimedDelivery]:
        return await self.operations.run(
            lambda tx, _: claim(tx, self.now, limit=limit, worker="w", lease=LEASE)
        )

    async def permit(self, ticket: ClaimedDelivery) -> PermitAnswer:
        lane = await self.row("lane", ticket.delivery.lane_id)
        request = PermitRequest(ticket, f"a{next(self._ids):04}", lane["epoch"])
        (answer,) = await self.operations.run(lambda tx, _: permit(tx, self.now, [request]))
        return answer

    async def claim_and_permit(self) -> list[PermitAnswer]:
        return [await self.permit(ticket) for ticket in await self.claim()]

    async def send(self) -> list[str]:
        """Claim, permit and settle what is due now, one round."""
        tickets = await self.claim()
        for ticket in tickets:
            answer = await self.permit(ticket)
            attempt = getattr(answer, "attempt_id", None)
            if attempt is not None:
                result = Result(ticket, Sent("remote"), attempt)
                await self.operations.run(lambda tx, _, r=result: settle(tx, self.now, [r]))
        return [ticket.id for ticket in tickets]

    async def row(self, table: str, id_: str) -> Row:
        row = await self.operations.read(
            lambda tx, _: tx.one(f"SELECT * FROM {table} WHERE id = :id", id=id_)
        )
        assert row is not None
        return row

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(sql, **params))

    async def order(self, account: str = "ada") -> list[tuple[str, str]]:
        """The queue in its order: post and wall time."""
        rows = await self.rows(
            """
            SELECT post_id, wall_time FROM delivery
            WHERE account_id = :account AND slot_at IS NOT NULL AND state IN ('draft', 'scheduled')
            ORDER BY slot_at
            """,
            account=account,
        )
        return [(row["post_id"], row["wall_time"]) for row in rows]

    async def posts(self, account: str = "ada") -> list[str]:
        return [post for post, _ in await self.order(account)]


def piece(
    post: str, accounts: Sequence[str], channels: Sequence[Channel], *, approved: bool = True
) -> list[ComposedPost]:
    return [
        ComposedPost(
            post_id=post,
            account_id=account,
            channel=channel,
            content='{"text":"hello"}',
            approved=approved,
        )
        for account in accounts
        for channel in channels
    ]


async def make_home(operations: Operations) -> None:
    await operations.run(
        lambda tx, now: tx.run(
            "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, 'Ada', 'Europe/Berlin', :now)",
            id=HOME,
            now=now,
        )
    )


@pytest.fixture
async def desk(database: str) -> AsyncIterator[Desk]:
    async with open_product(database, clock=SystemClock()) as operations:
        await make_home(operations)
        desk = Desk(operations)
        await desk.connect("ada")
        await desk.connect("ben")
        yield desk


@pytest.fixture
async def pg(postgres_database: str) -> AsyncIterator[Desk]:
    """On PostgreSQL alone, where writers are many."""
    async with open_product(postgres_database, clock=SystemClock()) as operations:
        await make_home(operations)
        desk = Desk(operations)
        await desk.connect("ada")
        await desk.connect("ben")
        yield desk


def only(added: Added) -> Queued:
    (answer,) = added.answers
    assert isinstance(answer, Queued), answer
    return answer
