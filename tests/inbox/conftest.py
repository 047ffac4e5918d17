"""A workspace of Ada's with a mailbox and a LinkedIn account, on both databases, and messages that were sent."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from cadenza.contacts.model import Contact, ContactForm
from cadenza.contacts.save import create_contact
from cadenza.core.channels import Channel
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.init_account import init_account
from cadenza.deliveries.model import Action, NewDelivery
from cadenza.deliveries.schedule import schedule
from cadenza.inbox.listeners import InboundKind
from cadenza.inbox.model import Inbound, Recorded
from cadenza.inbox.record import record_inbound
from cadenza.people.workspaces import NewWorkspace, create_workspace
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

HOME = "home-of-ada"
MAIL, LINKEDIN = "mail-of-ada", "linkedin-of-ada"
DOMAIN = "ada.example.org"


class Office:
    """What goes out and what comes in."""

    def __init__(self, operations: Operations) -> None:
        self.operations = operations
        self._numbers = count(1)

    async def sent(
        self,
        to: str = "ben@example.org",
        *,
        account: str = MAIL,
        channel: Channel = Channel.EMAIL,
        remote_id: str | None = None,
        settled: bool = True,
        campaign_id: str | None = None,
    ) -> str:
        """Send a message; return its delivery's id."""
        action = Action.EMAIL if channel is Channel.EMAIL else Action.MESSAGE
        number = next(self._numbers)

        def send(tx: Tx, now: datetime) -> str:
            new = NewDelivery(
                id=tx.new_id(),
                workspace_id=HOME,
                account_id=account,
                channel=channel,
                action=action,
                due_at=now,
                content='{"text":"Dear Ben","subject":"An offer"}',
                recipient=to,
                campaign_id=campaign_id,
            )
            schedule(tx, now, [new])
            about = {"home": HOME, "id": new.id, "now": now}
            tx.run(
                """
                UPDATE delivery SET state = 'sent', sent_at = :now
                WHERE workspace_id = :home AND id = :id
                """,
                **about,
            )
            tx.run(
                """
                INSERT INTO attempt (workspace_id, id, delivery_id, number, lease, key, content_hash, began_at,
                    deadline_at, remote_id)
                VALUES (:home, :attempt, :id, 1, 1, :attempt, '', :now, :now, :remote_id)
                """,
                attempt=f"attempt-{number}",
                remote_id=(remote_id or f"<m{number}@{DOMAIN}>") if settled else None,
                **about,
            )
            tx.run(
                """
                INSERT INTO activity (workspace_id, id, account_id, action, mode, delivery_id, recipient, state,
                    counts, reserved_at)
                VALUES (:home, :activity, :account, :action, 'live', :id, :to, 'success', true, :now)
                """,
                activity=f"activity-{number}",
                account=account,
                action=action.value,
                to=to.casefold(),
                **about,
            )
            return new.id

        return await self.operations.run(send)

    async def settle(self, delivery_id: str, remote_id: str) -> None:
        await self.operations.run(
            lambda tx, _: tx.run(
                "UPDATE attempt SET remote_id = :remote_id WHERE delivery_id = :id",
                remote_id=remote_id,
                id=delivery_id,
            )
        )

    async def record(self, kind: InboundKind = InboundKind.REPLY, **said: Any) -> Recorded:
        """Let something come in."""
        said.setdefault("remote_id", f"in-{next(self._numbers)}")
        said.setdefault("account_id", MAIL)
        said.setdefault("source", "imap")

        def operation(tx: Tx, now: datetime) -> Recorded:
            at = now + said.pop("after", timedelta())
            return record_inbound(tx, now, Inbound(workspace_id=HOME, kind=kind, at=at, **said))

        return await self.operations.run(operation)

    async def contact(self, email: str, **said: Any) -> Contact:
        form = ContactForm(addresses=[("email", email)], **said)
        made = await self.operations.run(
            lambda tx, now: create_contact(tx, now, form, workspace_id=HOME, by="member:ada")
        )
        assert isinstance(made, Contact), made
        return made

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(sql, **params))

    async def suppressed(self) -> list[tuple[str, str, str]]:
        rows = await self.rows(
            "SELECT value, channel, reason FROM suppression ORDER BY value, reason"
        )
        return [(row["value"], row["channel"], row["reason"]) for row in rows]


async def furnish_office(operations: Operations) -> None:
    """Make the workspace and its accounts."""

    def make(tx: Tx, now: datetime) -> None:
        new = NewWorkspace(id=HOME, name="Ada", zone="Europe/Berlin")
        create_workspace(tx, now, new=new, by="system")
        for id_, provider, settings in (
            (MAIL, "smtp", f'{{"from_address":"ada@{DOMAIN}"}}'),
            (LINKEDIN, "unipile", "{}"),
        ):
            tx.run(
                """
                INSERT INTO account (workspace_id, id, provider, remote_id, zone, settings, created_at)
                VALUES (:home, :id, :provider, :remote, 'Europe/Berlin', :settings, :now)
                """,
                home=HOME,
                id=id_,
                provider=provider,
                remote=f"ada@{DOMAIN}" if provider == "smtp" else "unipile-1",
                settings=settings,
                now=now,
            )
            init_account(tx, now, workspace_id=HOME, account_id=id_)

    await operations.run(make)


@pytest.fixture
async def office(database: str) -> AsyncIterator[Office]:
    async with open_product(database, clock=SystemClock()) as operations:
        await furnish_office(operations)
        yield Office(operations)
