"""Gives the demo its campaigns, all tests that take the whole path and reach nobody.

One ends soon after the demo starts, one runs slowly against flood waits, one pauses itself for its failures, one goes
to people by mail, and one is a draft.
"""

from collections.abc import Mapping
from datetime import datetime

from cadenza.accounts import configure
from cadenza.bootstrap.model import Runtime
from cadenza.campaigns.model import Campaign, locks_of
from cadenza.campaigns.save import CampaignForm, create_campaign
from cadenza.campaigns.start import StartPlan, start_campaign
from cadenza.contacts.audiences import (
    Audience,
    Member,
    add_members,
    create_audience,
    list_audiences,
)
from cadenza.deliveries.recipient_channels import NewChannel, save_channels
from cadenza.inbox.bulk_mail import open_bulk_sender
from cadenza.sql.tx import Tx
from cadenza.templates.model import Template, TemplateContent
from cadenza.templates.store import create_template, list_templates

SUBSCRIBERS = 60


async def add_campaigns(runtime: Runtime, home: str, accounts: Mapping[str, str], by: str) -> None:
    """Add them; the worker sends once it runs."""

    def operation(tx: Tx, now: datetime) -> list[str]:
        change = configure.Change(bulk=True)
        configure.configure(
            tx, now, workspace_id=home, account_id=accounts["smtp"], change=change, by=by
        )
        return [
            _create(tx, now, form, home, by)
            for form in (
                *_mails(tx, home, accounts["smtp"]),
                *_news(tx, now, home, accounts["smtp"], by),
            )
        ]

    _, *begun = await runtime.operations.run(operation)  # the first stays a draft
    for id_ in begun:

        def begin(tx: Tx, now: datetime, id_: str = id_) -> None:
            sender = open_bulk_sender(
                tx, workspace_id=home, keyring=runtime.keyring, public_url=runtime.settings.home
            )
            started = start_campaign(tx, now, id_, workspace_id=home, by=by, sender=sender)
            assert isinstance(started, StartPlan), started

        await runtime.operations.run(begin, locks=locks_of(home, id_))


def _create(tx: Tx, now: datetime, form: CampaignForm, home: str, by: str) -> str:
    made = create_campaign(tx, now, form, workspace_id=home, by=by)
    assert isinstance(made, Campaign), made
    return made.id


def _mails(tx: Tx, home: str, account_id: str) -> list[CampaignForm]:
    audience = {each.name: each.id for each in list_audiences(tx, workspace_id=home)}
    template = {each.name: each.id for each in list_templates(tx, workspace_id=home, limit=50)}
    return [
        CampaignForm(
            name="The raffle in winter",
            audience_id=audience["May get mail"],
            template_id=template["Welcome"],
            account_ids=[account_id],
            delivery_rate=600,
        ),
        CampaignForm(
            name="Cards for the regulars",
            description="A test: it takes the whole path, and nothing reaches a mailbox.",
            audience_id=audience["Regulars"],
            template_id=template["Welcome"],
            account_ids=[account_id],
            delivery_rate=20,
            mode="test",
        ),
    ]


def _news(tx: Tx, now: datetime, home: str, account_id: str, by: str) -> list[CampaignForm]:
    """Write to subscribers: three tests, of which two meet faults."""
    boxes = [f"friend{n:02}@example.org" for n in range(1, SUBSCRIBERS + 1)]
    new = [NewChannel(provider="email", address=each, category="subscribers") for each in boxes]
    saved = save_channels(tx, now, new, workspace_id=home)
    audience = create_audience(tx, now, workspace_id=home, name="Subscribers", by=by)
    assert isinstance(audience, Audience), audience
    members = [Member("channel", id_, "email") for id_ in saved.created]
    add_members(tx, now, workspace_id=home, audience_id=audience.id, members=members)
    words = TemplateContent(subject="Fresh bread", body="Walnut bread is out of the oven.")
    template = create_template(tx, now, words, workspace_id=home, name="Fresh bread", by=by)
    assert isinstance(template, Template), template
    return [
        CampaignForm(
            name=name,
            description=description,
            audience_id=audience.id,
            template_id=template.id,
            account_ids=[account_id],
            delivery_rate=rate,
            mode="test",
            test_faults=faults,
        )
        for name, description, rate, faults in (
            ("Bread for subscribers", "A test that ends by itself.", None, {}),
            ("Rolls on Sunday", "A test against flood waits.", 10, {"flood_wait": 25}),
            ("Old addresses", "A test that pauses itself.", None, {"bounce": 50}),
        )
    ]
