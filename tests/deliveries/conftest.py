"""A workspace with two accounts, on both databases, and a clock of the database's own."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from msgspec import structs

from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries import lanes
from cadenza.deliveries.claim import claim
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, ClaimedDelivery, NewDelivery
from cadenza.deliveries.permit import Answer, PermitRequest, locks_of, permit
from cadenza.deliveries.schedule import schedule
from cadenza.deliveries.settle import Result, settle
from cadenza.deliveries.settle import locks_of as settle_locks
from cadenza.providers.outcome import Outcome
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx
from tests.deliveries.moves import refuse_other_moves

LEASE = timedelta(seconds=60)
HOME = "ada-and-friends"


class Pipeline:
    """The pipeline's operations, as a worker would call them one by one."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        self._ids = count(1)

    async def connect(
        self, account: str, *, zone: str = "Europe/Berlin", settings: str = "{}"
    ) -> None:
        def add(tx: Tx, now: datetime) -> None:
            tx.run(
                """
                INSERT INTO account (workspace_id, id, provider, remote_id, zone, settings, created_at)
                VALUES (:home, :id, 'simulated', :id, :zone, :settings, :now)
                """,
                home=HOME,
                id=account,
                zone=zone,
                settings=settings,
                now=now,
            )
            init_account(tx, now, workspace_id=HOME, account_id=account)

        await self.operations.run(add)

    async def limit(
        self, account: str, action: str, kind: str, amount: int, per: int | None = None
    ) -> None:
        await self.operations.run(
            lambda tx, _: tx.run(
                """
                INSERT INTO budget (workspace_id, scope, action, kind, amount, per_seconds)
                VALUES (:home, :scope, :action, :kind, :amount, :per)
                ON CONFLICT (workspace_id, scope, action, kind)
                DO UPDATE SET amount = excluded.amount, per_seconds = excluded.per_seconds
                """,
                home=HOME,
                scope=account if ":" in account else f"account:{account}",
                action=action,
                kind=kind,
                amount=amount,
                per=per,
            )
        )

    async def post(
        self, account: str = "ada", *, due: timedelta = timedelta(), **changes: Any
    ) -> str:
        id_ = changes.pop("id", f"d{next(self._ids):05}")

        def add(tx: Tx, now: datetime) -> object:
            new = NewDelivery(
                id=id_,
                workspace_id=HOME,
                account_id=account,
                channel=changes.pop("channel", Channel.MASTODON),
                action=changes.pop("action", Action.POST),
                due_at=now + due,
                content=changes.pop("content", '{"text":"hello"}'),
                **changes,
            )
            return schedule(tx, now, [new])

        await self.operations.run(add)
        return id_

    async def claim(
        self,
        limit: int = 100,
        worker: str = "worker-1",
        lease: timedelta = LEASE,
        *,
        alone: bool = False,
    ) -> list[ClaimedDelivery]:
        return await self.operations.run(
            lambda tx, now: claim(tx, now, limit=limit, worker=worker, lease=lease, alone=alone)
        )

    async def permit(
        self, *tickets: ClaimedDelivery, epoch: int | None = None, part: int = 0
    ) -> list[Answer]:
        requests = [
            PermitRequest(
                ticket if epoch is None else structs.replace(ticket, epoch=epoch),
                f"a{next(self._ids):05}",
                part,
            )
            for ticket in tickets
        ]
        return await self.operations.run(
            lambda tx, now: permit(tx, now, requests), locks=locks_of(requests)
        )

    async def settle(
        self, ticket: ClaimedDelivery, outcome: Outcome, attempt_id: str | None
    ) -> bool:
        result = Result(ticket, outcome, attempt_id)
        (won,) = await self.operations.run(
            lambda tx, now: settle(tx, now, [result]), locks=settle_locks([result])
        )
        return won

    async def wait_out(self) -> None:
        """Let every wait be over, and what was put off be due."""

        def pass_time(tx: Tx, now: datetime) -> None:
            tx.run("UPDATE lane SET parked_until = NULL, park_reason = NULL, parked_by = NULL")
            tx.run("DELETE FROM network_wait")
            tx.run("UPDATE delivery SET due_at = :now WHERE due_at > :now", now=now)
            lanes.refresh(
                tx, [(row["workspace_id"], row["id"]) for row in tx.all("SELECT * FROM lane")]
            )

        await self.operations.run(pass_time)

    async def epoch(self, ticket: ClaimedDelivery) -> int:
        return (await self.row("lane", ticket.delivery.lane_id))["epoch"]

    async def row(self, table: str, id_: str) -> Row:
        row = await self.operations.read(
            lambda tx, _: tx.one(f"SELECT * FROM {table} WHERE id = :id", id=id_)
        )
        assert row is not None
        return row

    async def rows(self, table: str) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(f"SELECT * FROM {table}"))


@asynccontextmanager
async def open_pipeline(database: str) -> AsyncGenerator[Pipeline]:
    async with open_product(database, clock=SystemClock()) as operations:
        await operations.run(
            lambda tx, now: tx.run(
                "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, 'Ada', 'Europe/Berlin', :now)",
                id=HOME,
                now=now,
            )
        )
        await refuse_other_moves(operations)
        pipeline = Pipeline(operations)
        await pipeline.connect("ada")
        await pipeline.connect("ben")
        yield pipeline


@pytest.fixture
async def pipeline(database: str) -> AsyncIterator[Pipeline]:
    async with open_pipeline(database) as pipeline:
        yield pipeline
