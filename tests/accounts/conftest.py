"""A workspace, Ada's X account in it with sealed tokens, and refreshers as several machines have them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cadenza.accounts.connect import NewAccount, connect
from cadenza.accounts.model import Account, read_account
from cadenza.accounts.open import open_account_tokens
from cadenza.accounts.refresher import Refresher
from cadenza.accounts.seal import Keyring, load_keyring
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.init_account import init_account
from cadenza.providers.connect import Connected
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx
from tests.providers.contract import Scene

HOME = "ada-and-friends"


class Desk:
    """Accounts, as the edges would handle them."""

    def __init__(self, operations: Operations, ring: Keyring, address: str) -> None:
        self.operations = operations
        self.ring = ring
        self.address = address

    async def connect(
        self,
        connected: Connected | None = None,
        *,
        id_: str = "ada",
        provider: str = "x",
    ) -> object:
        who = connected or ada()

        def add(tx: Tx, now: datetime) -> object:
            answer = connect(
                tx,
                now,
                workspace_id=HOME,
                new_id=id_,
                provider=provider,
                connected=who,
                ring=self.ring,
            )
            if isinstance(answer, NewAccount):
                init_account(tx, now, workspace_id=HOME, account_id=answer.id)
            return answer

        return await self.operations.run(add)

    async def account(self, id_: str = "ada") -> Account:
        account = await self.operations.read(lambda tx, _: read_account(tx, HOME, id_))
        assert account is not None
        return account

    async def tokens(self, id_: str = "ada") -> Tokens:
        opened = open_account_tokens(self.ring, await self.account(id_))
        assert opened is not None
        return opened

    async def rows(self, table: str) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(f"SELECT * FROM {table}"))

    async def set(self, **columns: object) -> None:
        """Move Ada's account to another state or time."""
        said = ", ".join(f"{name} = :{name}" for name in columns)
        await self.operations.run(
            lambda tx, _: tx.run(f"UPDATE account SET {said} WHERE id = 'ada'", **columns)
        )

    async def now(self) -> datetime:
        return await self.operations.read(lambda _, now: now)

    async def run_out(self) -> None:
        """Let Ada's token have ten minutes of two hours left."""
        now = await self.now()
        await self.set(
            token_issued_at=now - timedelta(minutes=110),
            token_expires_at=now + timedelta(minutes=10),
        )

    def refresher(self, scene: Scene, operations: Operations | None = None) -> Refresher:
        return Refresher(
            operations or self.operations,
            ring=self.ring,
            provider_of=lambda _: scene.provider,
            app_of=lambda _: scene.app,
            http=scene.http,
            clock=SystemClock(),
        )


def ada(tokens: Tokens | None = None, **changes: object) -> Connected:
    """Ada, as X lets her in."""
    who = Connected(
        remote_id="42",
        handle="@ada",
        name="Ada",
        tokens=tokens or Tokens(access=Secret("canary-access"), refresh=Secret("canary-refresh")),
    )
    return replace(who, **changes)


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_product(database, clock=SystemClock()) as operations:
        await operations.run(
            lambda tx, now: tx.run(
                "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, 'Ada', 'Europe/Berlin', :now)",
                id=HOME,
                now=now,
            )
        )
        yield Desk(operations, load_keyring(tmp_path / "keys"), database)
