"""A workspace with a mailbox made for many, people, a list and a template; on both databases."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cadenza.accounts.seal import load_keyring
from cadenza.campaigns import control, plan_recipients, start
from cadenza.campaigns.count import CampaignPlanner
from cadenza.campaigns.model import Campaign, find_campaign, locks_of
from cadenza.campaigns.save import CampaignForm, create_campaign
from cadenza.contacts.audiences import Audience, Member, add_members, create_audience
from cadenza.contacts.model import Contact, ContactForm
from cadenza.contacts.save import create_contact
from cadenza.core.clock import SystemClock
from cadenza.deliveries import contents, planners
from cadenza.deliveries.permit import Permitted
from cadenza.engine.client import Engine
from cadenza.engine.store import Store
from cadenza.engine.stores.postgres import PostgresStore
from cadenza.engine.stores.sqlite import SqliteStore
from cadenza.inbox.bulk_mail import BulkSender
from cadenza.providers.outcome import Outcome, Sent
from cadenza.sql.transactions import SqliteOperations
from cadenza.sql.tx import Tx
from cadenza.templates.fill_in import fill_in
from cadenza.templates.model import Template, TemplateContent
from cadenza.templates.store import create_template
from tests.deliveries.conftest import HOME, Pipeline, open_pipeline

BY = "member:ada"


@dataclass
class Campaigns:
    """The pipeline's operations, and campaigns on top of them."""

    pipeline: Pipeline
    audience: str
    template: str
    sender: BulkSender

    async def run(self, operation: Callable[[Tx, datetime], Any], id_: str = "") -> Any:
        locks = locks_of(HOME, id_) if id_ else ()
        return await self.pipeline.operations.run(operation, locks=locks)

    async def draft(self, **changes: Any) -> str:
        form = CampaignForm(
            **(
                {
                    "name": "Autumn",
                    "audience_id": self.audience,
                    "template_id": self.template,
                    "account_ids": ["mail"],
                    "mode": "test",
                }
                | changes
            )
        )
        made = await self.run(
            lambda tx, now: create_campaign(tx, now, form, workspace_id=HOME, by=BY)
        )
        assert isinstance(made, Campaign), made
        return made.id

    async def start(self, id_: str) -> Any:
        return await self.run(
            lambda tx, now: start.start_campaign(
                tx, now, id_, workspace_id=HOME, by=BY, sender=self.sender
            ),
            id_,
        )

    async def plan(self, id_: str) -> int:
        """Go through the audience; return how many chunks it took."""
        chunks = 0
        while True:
            planned = await self.run(
                lambda tx, now: plan_recipients.plan_chunk(
                    tx, now, workspace_id=HOME, campaign_id=id_, sender=self.sender
                ),
                id_,
            )
            chunks += 1
            if planned is None or not planned.more:
                return chunks

    async def send(self, outcome: Callable[[int], Outcome] = lambda n: Sent(str(n))) -> int:
        """Send until nothing is handed out; return how many calls were made."""
        calls = 0
        while tickets := await self.pipeline.claim(100):
            for ticket in tickets:
                (answer,) = await self.pipeline.permit(ticket)
                if isinstance(answer, Permitted):
                    await self.pipeline.settle(ticket, outcome(calls), answer.attempt_id)
                    calls += 1
        return calls

    async def finish(self, id_: str) -> Campaign:
        await self.run(
            lambda tx, now: control.complete_campaign(tx, now, workspace_id=HOME, campaign_id=id_),
            id_,
        )
        return await self.show(id_)

    async def show(self, id_: str) -> Campaign:
        found = await self.run(lambda tx, _: find_campaign(tx, HOME, id_))
        assert isinstance(found, Campaign)
        return found


def furnish(tx: Tx, now: datetime, people: int) -> tuple[str, str]:
    tx.run(
        """
        UPDATE account SET provider = 'smtp', settings = '{"bulk": true}' WHERE workspace_id = :home AND id = 'mail'
        """,
        home=HOME,
    )
    audience = create_audience(tx, now, workspace_id=HOME, name="Regulars", by=BY)
    assert isinstance(audience, Audience)
    members: list[Member] = []
    for n in range(people):
        form = ContactForm(first_name=f"Guest {n}", addresses=[("email", f"guest{n}@example.org")])
        contact = create_contact(tx, now, form, workspace_id=HOME, by=BY)
        assert isinstance(contact, Contact)
        members.append(Member("contact", contact.id))
    add_members(tx, now, workspace_id=HOME, audience_id=audience.id, members=members)
    words = TemplateContent(subject="Bread", body="Dear {{first_name}}")
    template = create_template(tx, now, words, workspace_id=HOME, name="Letter", by=BY)
    assert isinstance(template, Template)
    return audience.id, template.id


def store_of(pipeline: Pipeline, database: str) -> Store:
    if isinstance(pipeline.operations, SqliteOperations):
        own = pipeline.operations.database
        return SqliteStore(own.path, clock=SystemClock(), database=own)
    return PostgresStore(database, clock=SystemClock())


@pytest.fixture
async def campaigns(database: str, tmp_path: Path) -> AsyncIterator[Campaigns]:
    before, filled = dict(planners._planners), list(contents._fill_in)
    planners.register("campaign", CampaignPlanner())
    contents.register(fill_in)
    async with open_pipeline(database) as pipeline:
        await pipeline.connect("mail")
        audience, template = await pipeline.operations.run(lambda tx, now: furnish(tx, now, 60))
        async with Engine(store_of(pipeline, database)):  # where its jobs are kept
            sender = BulkSender(
                workspace_id=HOME,
                keyring=load_keyring(tmp_path / "keys"),
                public_url="https://example.org",
                postal_address="Mill Lane 1",
            )
            yield Campaigns(pipeline, audience, template, sender)
    planners._planners.clear()
    planners._planners.update(before)
    contents._fill_in[:] = filled
