"""Gives the demo its customers: contacts with tags and a field of their own, lists, channels, and some replies."""

from datetime import datetime

from cadenza.bootstrap.model import Runtime
from cadenza.contacts import audiences, fields
from cadenza.contacts.audiences import Audience, Member
from cadenza.contacts.filters import Condition
from cadenza.contacts.model import Contact, ContactForm, contacts_lock
from cadenza.contacts.save import create_contact
from cadenza.deliveries.recipient_channels import NewChannel, save_channels
from cadenza.demo import script
from cadenza.inbox.listeners import InboundKind
from cadenza.inbox.model import Inbound
from cadenza.inbox.record import record_inbound
from cadenza.sql.tx import Tx


async def add_contacts(runtime: Runtime, home: str, by: str) -> None:
    """Add everybody in one go."""

    def operation(tx: Tx, now: datetime) -> None:
        fields.save_field(
            tx, now, workspace_id=home, key="favourite", label="Favourite", kind="text", by=by
        )
        regulars = _audience(
            audiences.create_audience(tx, now, workspace_id=home, name="Regulars", by=by)
        )
        agreed = (Condition("consent", "is", "given"),)
        _audience(
            audiences.create_audience(
                tx, now, workspace_id=home, name="May get mail", by=by, conditions=agreed
            )
        )
        members = [_add(tx, now, each, home, by) for each in script.CONTACTS]
        channels = [NewChannel(**each) for each in script.CHANNELS]
        saved = save_channels(tx, now, channels, workspace_id=home)
        audiences.add_members(
            tx,
            now,
            workspace_id=home,
            audience_id=regulars.id,
            members=[
                *(Member("contact", each.id) for each in members if "regular" in each.tags),
                *(Member("channel", id_, "telegram") for id_ in saved.created),
            ],
        )

    await runtime.operations.run(operation, locks=[contacts_lock(home)])


async def add_replies(runtime: Runtime, home: str, account_id: str) -> None:
    """Let some of them have written back."""

    def operation(tx: Tx, now: datetime) -> None:
        for number, (address, subject, text) in enumerate(script.REPLIES):
            inbound = Inbound(
                workspace_id=home,
                account_id=account_id,
                remote_id=f"<demo-{number}@example.org>",
                kind=InboundKind.REPLY,
                source="imap",
                at=now,
                address=address,
                message_id=f"<demo-{number}@example.org>",
                subject=subject,
                text=text,
            )
            record_inbound(tx, now, inbound)

    await runtime.operations.run(operation)


def _add(tx: Tx, now: datetime, each: script.DemoContact, home: str, by: str) -> Contact:
    form = ContactForm(
        first_name=each.first_name,
        last_name=each.last_name,
        company=each.company,
        country=each.country,
        tags=each.tags,
        consent=each.consent,
        consent_proof="signed at the counter" if each.consent == "given" else None,
        source="the shop",
        fields={"favourite": each.favourite or None},
        addresses=[
            ("email", f"{each.first_name}.{each.last_name}@example.org".lower().replace(" ", ""))
        ],
    )
    made = create_contact(tx, now, form, workspace_id=home, by=by)
    assert isinstance(made, Contact), made
    return made


def _audience(made: object) -> Audience:
    assert isinstance(made, Audience), made
    return made
