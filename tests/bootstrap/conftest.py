"""A whole application on both databases, with a simulated Mastodon, and Ada's account in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from cadenza.accounts.connect import connect
from cadenza.bootstrap import Runtime, guard, open_runtime
from cadenza.config.model import Network, Outbound, Settings, Work
from cadenza.core.channels import Channel
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.demo.networks.mastodon import SimulatedMastodon
from cadenza.demo.simulator.serve import Simulator, simulate
from cadenza.providers.connect import Connected
from cadenza.providers.http.redact import Secret
from cadenza.providers.message import Tokens
from cadenza.sql.tx import Row, Tx

HOME = "ada-and-friends"
TOKEN = "canary-of-the-house-token-nobody-may-read"


class Town:
    """A house's settings, and the network that it speaks to."""

    def __init__(
        self, settings: Settings, simulated: SimulatedMastodon, simulator: Simulator
    ) -> None:
        self.settings = settings
        self.simulated = simulated
        self.simulator = simulator
        self._ids = count(1)

    def visible(self) -> list[str]:
        return [entry.text for entry in self.simulator.visible(self.simulated)]

    async def furnish(self, runtime: Runtime) -> None:
        token = self.simulated.add_account("ada", token=TOKEN, scopes=("read", "write"))
        connected = Connected(
            remote_id=self.simulated.person(token).id,
            handle="@ada",
            name="Ada",
            tokens=Tokens(access=Secret(token)),
            settings={"instance": self.simulated.url()},
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
                ring=runtime.keyring,
            )
            init_account(tx, now, workspace_id=HOME, account_id="ada")

        await runtime.operations.run(add)

    async def post(self, runtime: Runtime, text: str, *, due: timedelta = timedelta()) -> str:
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

        await runtime.operations.run(add)
        return id_

    async def row(self, runtime: Runtime, id_: str) -> Row:
        row = await runtime.operations.read(
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
    simulated = SimulatedMastodon()
    async with simulate(simulated) as simulator:
        settings = Settings(
            data=tmp_path / "data",
            database=database,
            worker=Work(poll=0.05),
            outbound=Outbound(allow=(f"127.0.0.1:{simulated.ports['api']}",)),
            providers={"mastodon": Network(base_url=simulated.url())},
        )
        yield Town(settings, simulated, simulator)


@pytest.fixture
async def runtime(town: Town) -> AsyncIterator[Runtime]:
    async with open_runtime(town.settings) as opened:
        await town.furnish(opened)
        yield opened
