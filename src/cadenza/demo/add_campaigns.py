"""Gives the demo its campaigns: one that runs as a test when the demo starts, slowly enough to watch, and a draft."""

from datetime import datetime

from cadenza.accounts import configure
from cadenza.bootstrap.model import Runtime
from cadenza.campaigns.model import Campaign, locks_of
from cadenza.campaigns.save import CampaignForm, create_campaign
from cadenza.campaigns.start import StartPlan, start_campaign
from cadenza.contacts.audiences import list_audiences
from cadenza.inbox.bulk_mail import open_bulk_sender
from cadenza.sql.tx import Tx
from cadenza.templates.store import list_templates


async def add_campaigns(runtime: Runtime, home: str, account_id: str, by: str) -> None:
    """Add them; the worker sends once it runs."""

    def operation(tx: Tx, now: datetime) -> str:
        change = configure.Change(bulk=True)
        configure.configure(tx, now, workspace_id=home, account_id=account_id, change=change, by=by)
        audience = {each.name: each.id for each in list_audiences(tx, workspace_id=home)}
        template = {each.name: each.id for each in list_templates(tx, workspace_id=home, limit=50)}
        form = CampaignForm(
            name="Cards for the regulars",
            description="A test: it takes the whole path, and nothing reaches a mailbox.",
            audience_id=audience["Regulars"],
            template_id=template["Welcome"],
            account_ids=[account_id],
            delivery_rate=20,
            mode="test",
        )
        runs = create_campaign(tx, now, form, workspace_id=home, by=by)
        assert isinstance(runs, Campaign), runs
        draft = CampaignForm(
            name="The raffle in winter",
            audience_id=audience["May get mail"],
            template_id=template["Welcome"],
            account_ids=[account_id],
            delivery_rate=600,
        )
        made = create_campaign(tx, now, draft, workspace_id=home, by=by)
        assert isinstance(made, Campaign), made
        return runs.id

    id_ = await runtime.operations.run(operation)

    def begin(tx: Tx, now: datetime) -> None:
        sender = open_bulk_sender(
            tx, workspace_id=home, keyring=runtime.keyring, public_url=runtime.settings.home
        )
        begun = start_campaign(tx, now, id_, workspace_id=home, by=by, sender=sender)
        assert isinstance(begun, StartPlan), begun

    await runtime.operations.run(begin, locks=locks_of(home, id_))
