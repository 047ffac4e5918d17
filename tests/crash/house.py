"""Every network in rehearsal, a house's database, and real worker processes that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

import msgspec

from cadenza.accounts.connect import connect
from cadenza.bootstrap import House
from cadenza.config.model import Outbound, Settings, Work
from cadenza.core.ids import SystemIds
from cadenza.deliveries.admit_account import admit_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.demo.cast import Cast, Role
from cadenza.demo.rehearsal.ledger import Entry
from cadenza.sql.tx import Row, Tx
from tests.providers.pictures import jpeg

HOME = "ada-and-friends"
LEASE = 2.0
# `cadenza worker`, imported ahead and held until a line comes, so that rounds need not wait for imports.
WORKER = (
    "import sys; import cadenza.cli.worker; from cadenza.cli import main;"
    "sys.stdin.readline(); main(sys.argv[1:])"
)


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
    """`cadenza worker` as a process of its own; it waits for `go`."""

    process: subprocess.Popen[bytes]

    @classmethod
    def hire(cls, cast: Cast, settings: Settings, log: Path, *words: str) -> WorkerProcess:
        with log.open("ab") as lines:
            return cls(
                subprocess.Popen(
                    [sys.executable, "-c", WORKER, "worker", *words],
                    env=environment(cast, settings),
                    stdin=subprocess.PIPE,
                    stdout=lines,
                    stderr=lines,
                    cwd=settings.data,
                )
            )

    def go(self) -> Self:
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")
        self.process.stdin.close()
        return self

    def kill(self) -> None:
        assert self.process.poll() is None, "the worker died before it was killed"
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    async def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(30):
            while self.process.poll() is None:
                await asyncio.sleep(0.05)
        return self.process.wait()


@dataclass(slots=True)
class Stage:
    """What the crash tests ask and do."""

    cast: Cast
    house: House
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
                    ring=self.house.keyring,
                )
                admit_account(tx, now, workspace_id=HOME, account_id=name)

        await self.house.operations.run(add)

    async def post(self, role: Role, text: str) -> str:
        id_ = self.ids.new()
        content: dict[str, object] = {"text": text, "subject": role.subject}
        if role.picture is not None:
            data = jpeg()
            url = self.cast.rehearsal.put_media(role.world, role.picture, "image/jpeg", data)
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

        await self.house.operations.run(add)
        self.sent[id_] = (role.provider, text)
        return id_

    async def rows(self) -> dict[str, Row]:
        rows = await self.house.operations.read(
            lambda tx, _: tx.all("SELECT * FROM delivery ORDER BY id")
        )
        return {row["id"]: row for row in rows}

    async def let_time_pass(self) -> None:
        """Let ten minutes go by for every doubt: its deadline is over, lists show what is there."""

        def pass_(tx: Tx, now: datetime) -> None:
            for row in tx.all(
                """
                SELECT attempt.workspace_id, attempt.id, attempt.began_at FROM attempt
                JOIN delivery ON delivery.workspace_id = attempt.workspace_id
                    AND delivery.id = attempt.delivery_id
                WHERE delivery.state = 'unconfirmed' AND attempt.began_at > :t
                """,
                t=now - timedelta(minutes=8),
            ):
                tx.run(
                    """
                    UPDATE attempt SET began_at = :began, deadline_at = :deadline
                    WHERE workspace_id = :workspace_id AND id = :id
                    """,
                    workspace_id=row["workspace_id"],
                    id=row["id"],
                    began=row["began_at"] - timedelta(minutes=10),
                    deadline=row["began_at"] - timedelta(minutes=9),
                )
                tx.run("UPDATE delivery SET due_at = :t WHERE state = 'unconfirmed'", t=now)

        await self.house.operations.run(pass_)

    def visible(self, provider: str, text: str) -> list[Entry]:
        """List what people see of one post; a mail's text may have a line end more."""
        world = self.cast.roles[provider].world
        return [e for e in self.cast.rehearsal.visible(world) if e.text.strip() == text]
