"""A workspace with three people, a real mail server, and programs that listen."""

from __future__ import annotations

import asyncio
import email
import email.policy
from collections.abc import AsyncIterator
from datetime import datetime
from email.message import EmailMessage
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from cadenza.accounts.seal import Keyring, load_keyring
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.core.ids import SeededRandom
from cadenza.db.open import open_product
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.notices.dispatch import Dispatcher
from cadenza.notices.mail import SmtpMail
from cadenza.notices.model import Choice, Topic
from cadenza.notices.preferences import add_webhook, choose, webhook_row, webhook_url_row
from cadenza.providers.http.client import OutboundClient
from cadenza.providers.http.policy import HostRule, Policy
from cadenza.providers.http.redact import Secret
from cadenza.providers.smtp.session import Server
from cadenza.providers.split_address import cut_address
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

HOME = "ada-and-friends"
SECRET = "whsec_Y2FuYXJ5LW9mLXRoZS13ZWJob29rLTAxMjM0NTY3ODk="


class PostOffice:
    """What arrived, and what the next replies are."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.refusals: list[str] = []
        self.refused_addresses: set[str] = set()

    async def handle_RCPT(  # noqa: N802 - the library's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refused_addresses:
            return "550 5.1.1 nobody here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - the library's name
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.refusals:
            return self.refusals.pop(0)
        assert isinstance(envelope.content, bytes)
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 taken"

    def to(self, address: str) -> list[EmailMessage]:
        return [mail for mail in self.mails if address in str(mail["To"])]


class Installation:
    """Things happen here, and the dispatcher tells them."""

    def __init__(
        self, operations: Operations, office: PostOffice, port: int, ring: Keyring
    ) -> None:
        self.operations = operations
        self.office = office
        self.ring = ring
        self.address = ""
        self._port = port
        self._ids = count(1)
        self.policy: tuple[HostRule, ...] = ()

    def http(self) -> OutboundClient:
        rules = (HostRule("127.0.0.1", self._port), *self.policy)
        return OutboundClient(Policy(allow=rules), clock=SystemClock())

    def dispatcher(self, http: OutboundClient, operations: Operations | None = None) -> Dispatcher:
        server = Server(host="127.0.0.1", port=self._port, security="none")
        return Dispatcher(
            operations or self.operations,
            mail=SmtpMail(http, server, "cadenza@example.com"),
            http=http,
            open_secret=lambda sealed, row: Secret(self.ring.open(sealed, row=row)),
            public_url="https://cadenza.example",
            rng=SeededRandom(1),
        )

    async def dispatch(self, passes: int = 1) -> None:
        async with self.http() as http:
            dispatcher = self.dispatcher(http)
            for _ in range(passes):
                await dispatcher.run_once()

    async def deliver(
        self,
        state: str,
        *,
        post: str = "p1",
        channel: Channel = Channel.MASTODON,
        text: str = "Good morning",
        reason: str | None = None,
        **more: Any,
    ) -> str:
        """Let a delivery end like that, with its outbox row, as the settling transaction does."""
        id_ = f"d{next(self._ids):05}"

        def end(tx: Tx, now: datetime) -> None:
            new = NewDelivery(
                id=id_,
                workspace_id=HOME,
                account_id="ada",
                channel=channel,
                action=more.get("action", Action.POST),
                due_at=now,
                content=f'{{"text":"{text}"}}',
                post_id=post,
                mode=more.get("mode", "live"),
            )
            schedule(tx, now, [new])
            tx.run(
                """
                UPDATE delivery SET state = :state, reason = :reason, attempts = :attempts,
                    sent_at = CASE WHEN :state = 'sent' THEN created_at END,
                    failed_at = CASE WHEN :state = 'failed' THEN created_at END
                WHERE id = :id
                """,
                state=state,
                reason=reason or ("it broke" if state == "failed" else None),
                attempts=1,
                id=id_,
            )
            if state in ("sent", "failed", "unconfirmed"):
                tx.run(
                    """
                    INSERT INTO outbox (workspace_id, id, kind, subject_id, body, created_at)
                    VALUES (:home, :id, :kind, :subject, :body, :now)
                    """,
                    home=HOME,
                    id=f"{id_}:1:{state}",
                    kind=f"delivery.{state}",
                    subject=id_,
                    body=f'{{"state":"{state}","reason":"{reason or ""}","url":null}}',
                    now=now,
                )

        await self.operations.run(end)
        return id_

    async def choose(self, member: str, topic: Topic, choice: Choice) -> None:
        await self.operations.run(
            lambda tx, now: choose(
                tx, now, workspace_id=HOME, member_id=member, topic=topic, choice=choice
            )
        )

    async def listen(
        self, url: str, rule: HostRule, *, id_: str = "hook", kinds: str = "*"
    ) -> None:
        self.policy = (*self.policy, rule)
        sealed = self.ring.seal(SECRET, row=webhook_row(HOME, id_))
        await self.operations.run(
            lambda tx, now: add_webhook(
                tx,
                now,
                workspace_id=HOME,
                id=id_,
                shown_url=cut_address(url),
                sealed_url=self.ring.seal(url, row=webhook_url_row(HOME, id_)),
                sealed=sealed,
                kinds=kinds,
            )
        )

    async def run(self, sql: str, **params: object) -> int:
        return await self.operations.run(lambda tx, _: tx.run(sql, **params))

    async def rows(self, table: str) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(f"SELECT * FROM {table}"))

    async def now(self) -> datetime:
        return await self.operations.read(lambda _, now: now)

    async def make_due(self) -> None:
        """Let the time of all that waits come."""
        await self.run("UPDATE notice SET due_at = :t WHERE state = 'waiting'", t=await self.now())


@pytest.fixture
async def runtime(database: str, tmp_path: Path) -> AsyncIterator[Installation]:
    office = PostOffice()
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(office, hostname="mail.example"), "127.0.0.1", 0
    )
    port = server.sockets[0].getsockname()[1]
    try:
        async with open_product(database, clock=SystemClock()) as operations:
            await operations.run(_furnish)
            made = Installation(operations, office, port, load_keyring(tmp_path / "keys"))
            made.address = database
            yield made
    finally:
        server.close()
        await server.wait_closed()


def _furnish(tx: Tx, now: datetime) -> None:
    tx.run(
        "INSERT INTO workspace (id, name, zone, created_at) VALUES (:id, 'Ada & friends', 'Europe/Berlin', :now)",
        id=HOME,
        now=now,
    )
    for name, role in (("ada", "owner"), ("ben", "editor"), ("cy", "viewer")):
        tx.run(
            """
            INSERT INTO member (workspace_id, id, email, name, role, created_at)
            VALUES (:home, :id, :email, :name, :role, :now)
            """,
            home=HOME,
            id=name,
            email=f"{name}@example.com",
            name=name.title(),
            role=role,
            now=now,
        )
    tx.run(
        """
        INSERT INTO account (workspace_id, id, provider, remote_id, handle, zone, created_at)
        VALUES (:home, 'ada', 'mastodon', '1', '@ada', 'Europe/Berlin', :now)
        """,
        home=HOME,
        now=now,
    )
    init_account(tx, now, workspace_id=HOME, account_id="ada")
