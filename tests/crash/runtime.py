"""Every simulated network, an installation's database, and real worker processes that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from cadenza.accounts.connect import connect
from cadenza.bootstrap import Runtime
from cadenza.config.model import Outbound, Settings, Work
from cadenza.core.ids import SystemIds
from cadenza.deliveries import lanes
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.demo.cast import Cast, Role
from cadenza.demo.simulator.ledger import Entry
from cadenza.sql.tx import Row, Tx
from tests.crash.nursery import Nursery, Worker
from tests.providers.pictures import jpeg

HOME = "ada-and-friends"
LEASE = 2.0


def settings_for(cast: Cast, database: str, folder: Path) -> Settings:
    return Settings(
        data=folder,
        database=database,
        worker=Work(lease=LEASE, poll=0.2, grace=5),
        outbound=Outbound(allow=cast.hosts),
        providers=cast.networks,
    )


def environment(cast: Cast, settings: Settings) -> dict[str, str]:
    ours = {
        "CADENZA_DATA": str(settings.data),
        "CADENZA_DATABASE": settings.database,
        "CADENZA_WORKER_LEASE": str(LEASE),
        "CADENZA_WORKER_POLL": "0.2",
        "CADENZA_WORKER_GRACE": "5",
        "CADENZA_LOG": "json",
    }
    return {**os.environ, **cast.environment(), **ours}


@dataclass(slots=True)
class WorkerProcess:
    """`cadenza worker` as a process of its own, forked from one that has imported it."""

    worker: Worker
    log: Path

    @classmethod
    def hire(
        cls, nursery: Nursery, cast: Cast, settings: Settings, log: Path, *words: str
    ) -> WorkerProcess:
        env = environment(cast, settings)
        words = ("worker", *words)
        return cls(nursery.hire(words, env=env, log=log, folder=settings.data), log)

    def kill(self) -> None:
        assert self.worker.alive, "the worker died before it was killed"
        self.worker.kill()

    async def stop(self) -> int:
        """Ask it to stop; return the code that it left with."""
        self.worker.send(signal.SIGTERM)
        async with asyncio.timeout(30):
            while self.worker.alive:
                await asyncio.sleep(0.02)
        return self._left_with()

    def _left_with(self) -> int:
        return int(Path(f"{self.log}.left").read_text())


@dataclass(slots=True)
class Stage:
    """What the crash tests ask and do."""

    cast: Cast
    runtime: Runtime
    ids: SystemIds = field(default_factory=SystemIds)
    sent: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    async def furnish(self) -> None:
        """Connect Ada's account in every network."""

        def add(tx: Tx, now: datetime) -> None:
            tx.run(
                "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, 'Ada', 'UTC', :now)",
                id=HOME,
                now=now,
            )
            for name, role in self.cast.roles.items():
                connect(
                    tx,
                    now,
                    workspace_id=HOME,
                    new_id=name,
                    provider=name,
                    connected=role.connected,
                    ring=self.runtime.keyring,
                )
                init_account(tx, now, workspace_id=HOME, account_id=name)

        await self.runtime.operations.run(add)

    async def post(self, role: Role, text: str) -> str:
        id_ = self.ids.new()
        content: dict[str, object] = {"text": text, "subject": role.subject}
        if role.picture is not None:
            data = jpeg()
            url = self.cast.simulator.put_media(role.simulated, role.picture, "image/jpeg", data)
            content["media"] = [
                {
                    "file": role.picture,
                    "kind": "image",
                    "mime": "image/jpeg",
                    "size": len(data),
                    "url": url,
                    "alt": "The sea",
                }
            ]

        def add(tx: Tx, now: datetime) -> object:
            new = NewDelivery(
                id=id_,
                workspace_id=HOME,
                account_id=role.provider,
                channel=role.channel,
                action=Action.POST,
                due_at=now,
                recipient=role.recipient,
                retry_limit=100,  # each kill in a call burns an attempt
                content=msgspec.json.encode(content).decode(),
            )
            return schedule(tx, now, [new])

        await self.runtime.operations.run(add)
        self.sent[id_] = (role.provider, text)
        return id_

    async def rows(self) -> dict[str, Row]:
        rows = await self.runtime.operations.read(
            lambda tx, _: tx.all("SELECT * FROM delivery ORDER BY id")
        )
        return {row["id"]: row for row in rows}

    async def let_time_pass(self) -> None:
        """Let ten minutes go by: an unconfirmed send's deadline is over, lists show what is there, waits have ended."""

        def pass_(tx: Tx, now: datetime) -> None:
            uncertain = tx.all(
                """
                SELECT attempt.workspace_id, attempt.id, attempt.began_at FROM attempt
                JOIN delivery ON delivery.workspace_id = attempt.workspace_id
                    AND delivery.id = attempt.delivery_id
                WHERE delivery.state = 'unconfirmed' AND attempt.began_at > :t
                """,
                t=now - timedelta(minutes=8),
            )
            tx.run_each(
                """
                UPDATE attempt SET began_at = :began, deadline_at = :deadline
                WHERE workspace_id = :workspace_id AND id = :id
                """,
                [
                    {
                        "workspace_id": row["workspace_id"],
                        "id": row["id"],
                        "began": row["began_at"] - timedelta(minutes=10),
                        "deadline": row["began_at"] - timedelta(minutes=20),  # nobody need watch it
                    }
                    for row in uncertain
                ],
            )
            if uncertain:
                tx.run("UPDATE delivery SET look_at = :t WHERE state = 'unconfirmed'", t=now)
            waiting = tx.all(
                """
                UPDATE delivery SET due_at = :t
                WHERE state = 'scheduled' AND leased_until IS NULL AND due_at > :t
                RETURNING workspace_id, lane_id
                """,
                t=now,
            )
            lanes.refresh(tx, {(row["workspace_id"], row["lane_id"]) for row in waiting})

        await self.runtime.operations.run(pass_)

    def visible(self, provider: str, text: str) -> list[Entry]:
        """List what people see of one post; a mail's text may have a line end more."""
        simulated = self.cast.roles[provider].simulated
        return [e for e in self.cast.simulator.visible(simulated) if e.text.strip() == text]
