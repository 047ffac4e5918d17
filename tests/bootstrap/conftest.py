"""A whole house on both databases, with Mastodon in rehearsal, and Ada's account in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from cadenza.accounts.connect import connect
from cadenza.bootstrap import House, guard, open_house
from cadenza.config.model import Network, Outbound, Settings, Work
from cadenza.core.channels import Channel
from cadenza.deliveries.admit_account import admit_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.demo.rehearsal.kernel import Rehearsal, rehearse
from cadenza.demo.rehearsal.worlds.mastodon import MastodonWorld
from cadenza.providers.connect import Connected
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.sql.tx import Row, Tx

HOME = "ada-and-friends"
TOKEN = "canary-of-the-house-token-nobody-may-read"


class Town:
    """A house's settings, and the network that it speaks to."""

    def __init__(self, settings: Settings, world: MastodonWorld, rehearsal: Rehearsal) -> None:
        self.settings = settings
        self.world = world
        self.rehearsal = rehearsal
        self._ids = count(1)

    def visible(self) -> list[str]:
        return [entry.text for entry in self.rehearsal.visible(self.world)]

    async def furnish(self, house: House) -> None:
        token = self.world.add_account("ada", token=TOKEN, scopes=("read", "write"))
        connected = Connected(
            remote_id=self.world.person(token).id,
            handle="@ada",
            name="Ada",
            tokens=Tokens(access=Secret(token)),
            settings={"instance": self.world.url()},
        )

        def add(tx: Tx, now: datetime) -> None:
            tx.run(
                "INSERT INTO workspace (id, name, zone, created_at)"
                " VALUES (:id, 'Ada', 'Europe/Berlin', :now)",
                id=HOME,
                now=now,
            )
            connect(
                tx,
                now,
                workspace_id=HOME,
                new_id="ada",
                provider="mastodon",
                connected=connected,
                ring=house.keyring,
            )
            admit_account(tx, now, workspace_id=HOME, account_id="ada")

        await house.operations.run(add)

    async def post(self, house: House, text: str, *, due: timedelta = timedelta()) -> str:
        id_ = f"d{next(self._ids):05}"

        def add(tx: Tx, now: datetime) -> object:
            new = NewDelivery(
                id=id_,
                workspace_id=HOME,
                account_id="ada",
                channel=Channel.MASTODON,
                action=Action.POST,
                due_at=now + due,
                content=f'{{"text":"{text}"}}',
            )
            return schedule(tx, now, [new])

        await house.operations.run(add)
        return id_

    async def row(self, house: House, id_: str) -> Row:
        row = await house.operations.read(
            lambda tx, _: tx.one("SELECT * FROM delivery WHERE id = :id", id=id_)
        )
        assert row is not None
        return row


@pytest.fixture(autouse=True)
def brief_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a machine that is new to a database wait for the others only briefly."""
    monkeypatch.setattr(guard, "PATIENCE", 0.5)
    monkeypatch.setattr(guard, "LOOK_EVERY", 0.05)


@pytest.fixture
async def town(database: str, tmp_path: Path) -> AsyncIterator[Town]:
    world = MastodonWorld()
    async with rehearse(world) as rehearsal:
        settings = Settings(
            data=tmp_path / "data",
            database=database,
            worker=Work(poll=0.05),
            outbound=Outbound(allow=(f"127.0.0.1:{world.ports['api']}",)),
            providers={"mastodon": Network(base_url=world.url())},
        )
        yield Town(settings, world, rehearsal)


@pytest.fixture
async def house(town: Town) -> AsyncIterator[House]:
    async with open_house(town.settings) as opened:
        await town.furnish(opened)
        yield opened
