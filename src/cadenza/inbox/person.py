"""Erases one person everywhere, or tells everything that is stored about them.

Gone are the contact, what they wrote and what was written to them, with refusals, exchanges and what was told to
programs; the ledger and the suppression list keep a salted hash. Packages above hear of it in the same transaction.
Limits: files of imports and exports hold what they held until they expire, and so do backups.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.contacts.addresses import EMAIL
from cadenza.contacts.erase import erase_contact, find_salt
from cadenza.contacts.find import find_contact
from cadenza.contacts.model import Contact, NoSuchContact
from cadenza.contacts.save import list_notes
from cadenza.db.audit import record
from cadenza.db.erase_text import erase_text
from cadenza.deliveries.erase_recipient import erase_recipient, find_deliveries
from cadenza.deliveries.erased_hash import erased_hash
from cadenza.inbox.model import Conversation, InboundEvent
from cadenza.notices.erase_subject import erase_subject
from cadenza.sql.tx import Tx
from cadenza.sql.values import columns, read_values

LONGEST_LIST = 10_000


class ErasedPerson(Struct, frozen=True):
    """Whom packages above have to forget, in the same transaction."""

    workspace_id: str
    contact_id: str
    addresses: tuple[tuple[str, str], ...]  # channel, folded address
    delivery_ids: tuple[str, ...]


class BeingSent(Struct, frozen=True):
    """A message to them is on its way in this moment: try again."""


class Erased(Struct, frozen=True):
    """What was erased."""

    contact_id: str
    addresses: int
    deliveries: int
    inbound: int


ErasureListener = Callable[[Tx, datetime, ErasedPerson], None]
ON_ERASE: list[ErasureListener] = []


def register_erasure(listener: ErasureListener) -> None:
    """Call this listener when a person is erased; repeating it changes nothing."""
    if listener not in ON_ERASE:
        ON_ERASE.append(listener)


def erase_person(
    tx: Tx, now: datetime, *, workspace_id: str, contact_id: str, by: str, new_salt: str
) -> Erased | NoSuchContact | BeingSent:
    """Erase a contact everywhere; run it under the workspace's lock of contacts."""
    contact = find_contact(tx, workspace_id, contact_id)
    if isinstance(contact, NoSuchContact):
        return contact
    salt = find_salt(tx, now, workspace_id, new=new_salt)
    spellings = [text for each in contact.addresses for text in (each.address, each.written)]
    deliveries = erase_recipient(
        tx, now, workspace_id=workspace_id, recipients=spellings, salt=salt
    )
    if deliveries is None:
        return BeingSent()
    inbound = _erase_inbound(tx, contact, salt)
    erase_contact(tx, now, contact, salt=salt, by=by)
    words = {each: erased_hash(salt, each) for each in spellings}
    for name in (f"{contact.first_name} {contact.last_name}".strip(), contact.external_id or ""):
        if len(name) > 3:
            words[name] = "erased"
    erase_text(
        tx, workspace_id=workspace_id, words=words, subjects=[contact.id, *deliveries, *inbound]
    )
    for each in spellings:
        erase_subject(tx, workspace_id=workspace_id, subject=each, instead=words[each])
    gone = ErasedPerson(
        workspace_id,
        contact.id,
        tuple((each.channel, each.address) for each in contact.addresses),
        tuple(deliveries),
    )
    for listener in ON_ERASE:
        listener(tx, now, gone)
    record(tx, now, workspace_id=workspace_id, by=by, action="contact.erase", subject_id=contact.id)
    return Erased(contact.id, len(contact.addresses), len(deliveries), len(inbound))


def export_person(tx: Tx, *, workspace_id: str, contact_id: str) -> dict[str, Any] | NoSuchContact:
    """Tell everything that is stored about one person."""
    contact = find_contact(tx, workspace_id, contact_id)
    if isinstance(contact, NoSuchContact):
        return contact
    spellings = [text for each in contact.addresses for text in (each.address, each.written)]
    deliveries = find_deliveries(tx, workspace_id, spellings)
    audiences = tx.all(
        """
        SELECT a.name, m.added_at, (SELECT min(gone.created_at) FROM contact_address c
            JOIN audience_unsubscribe gone ON gone.workspace_id = c.workspace_id AND gone.channel = c.channel
                AND gone.address = c.address AND gone.audience_id = a.id
            WHERE c.workspace_id = a.workspace_id AND c.contact_id = m.member_id) AS unsubscribed_at
        FROM audience_member m
        JOIN audience a ON a.workspace_id = m.workspace_id AND a.id = m.audience_id
        WHERE m.workspace_id = :workspace_id AND m.kind = 'contact' AND m.member_id = :contact_id
        """,
        workspace_id=workspace_id,
        contact_id=contact.id,
    )
    suppressed = tx.all(
        """
        SELECT kind, value, channel, reason, note, created_at FROM suppression
        WHERE workspace_id = :workspace_id
            AND value IN (SELECT text FROM TABLE(:values) AS asked (text text))
        """,
        workspace_id=workspace_id,
        values=[(text,) for each in contact.addresses for text in (each.address, each.address.removeprefix("@"))],
    )  # fmt: skip
    signups = tx.all(
        """
        SELECT f.name AS form, s.address, s.answers, s.consent_text, s.state, s.asked_at, s.confirmed_at
        FROM TABLE(:addresses) AS asked (address text)
        JOIN signup s ON s.workspace_id = :workspace_id AND s.address = asked.address
        JOIN signup_form f ON f.workspace_id = s.workspace_id AND f.id = s.form_id
        ORDER BY s.asked_at, s.id
        """,
        workspace_id=workspace_id,
        addresses=[(each.address,) for each in contact.addresses if each.channel == EMAIL],
    )
    return {
        "contact": msgspec.to_builtins(contact),
        "notes": [msgspec.to_builtins(each) for each in list_notes(tx, workspace_id=workspace_id, contact_id=contact.id)],
        "audiences": audiences,
        "suppressions": suppressed,
        "signups": signups,
        "sent": [
            {
                "id": each.id,
                "account_id": each.account_id,
                "channel": each.channel.value,
                "state": each.state.value,
                "recipient": each.recipient,
                "due_at": each.due_at,
                "sent_at": each.sent_at,
                "content": msgspec.json.decode(each.content),
            }
            for each in deliveries[:LONGEST_LIST]
        ],
        "received": [_told(each) for each in _events(tx, contact)[:LONGEST_LIST]],
        "conversations": [
            {"channel": c.channel, "address": c.address, "state": c.state, "label": c.label}
            for c in _conversations(tx, contact)
        ],
    }  # fmt: skip


def _told(event: InboundEvent) -> dict[str, Any]:
    return {
        "kind": event.kind.value,
        "channel": event.channel,
        "address": event.address,
        "subject": event.subject,
        "text": event.text,
        "diagnostic": event.diagnostic,
        "happened_at": event.happened_at,
    }


def _about(contact: Contact) -> dict[str, Any]:
    return {
        "workspace_id": contact.workspace_id,
        "contact_id": contact.id,
        "addresses": [(each.channel, each.address) for each in contact.addresses],
    }


def _events(tx: Tx, contact: Contact) -> list[InboundEvent]:
    rows = tx.all(
        f"""
        SELECT {columns(InboundEvent, "inbound_event")} FROM inbound_event
        WHERE workspace_id = :workspace_id AND (contact_id = :contact_id OR (channel, address) IN (
            SELECT channel, address FROM TABLE(:addresses) AS asked (channel text, address text)))
        ORDER BY happened_at, id
        """,  # noqa: S608 - put together from constants
        **_about(contact),
    )
    return read_values(InboundEvent, rows)


def _conversations(tx: Tx, contact: Contact) -> list[Conversation]:
    rows = tx.all(
        f"""
        SELECT {columns(Conversation, "conversation")} FROM conversation
        WHERE workspace_id = :workspace_id AND (contact_id = :contact_id OR (channel, address) IN (
            SELECT channel, address FROM TABLE(:addresses) AS asked (channel text, address text)))
        ORDER BY id
        """,  # noqa: S608 - put together from constants
        **_about(contact),
    )
    return read_values(Conversation, rows)


def _erase_inbound(tx: Tx, contact: Contact, salt: str) -> list[str]:
    """Empty what came from them; that something came stays, for the account's counts."""
    home = contact.workspace_id
    events, threads = _events(tx, contact), _conversations(tx, contact)
    tx.run(
        """
        UPDATE inbound_event SET remote_id = new.remote, address = new.hash, contact_id = NULL,
            conversation_id = NULL, answers_to = '[]', message_id = NULL, subject = '', text = '', diagnostic = ''
        FROM TABLE(:new) AS new (id text, remote text, hash text)
        WHERE inbound_event.workspace_id = :workspace_id AND inbound_event.id = new.id
        """,
        new=[(e.id, f"erased:{e.id}", erased_hash(salt, e.address or "")) for e in events],
        workspace_id=home,
    )
    about = {"workspace_id": home, "ids": [(each.id,) for each in threads]}
    tx.run(
        """
        UPDATE inbound_event SET conversation_id = NULL WHERE workspace_id = :workspace_id
            AND conversation_id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        **about,
    )
    tx.run(
        """
        DELETE FROM conversation_reply WHERE workspace_id = :workspace_id
            AND conversation_id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        **about,
    )
    tx.run(
        """
        DELETE FROM conversation WHERE workspace_id = :workspace_id
            AND id IN (SELECT id FROM TABLE(:ids) AS asked (id text))
        """,
        **about,
    )
    return [each.id for each in events]
