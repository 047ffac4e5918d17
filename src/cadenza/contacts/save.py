"""Makes, changes and deletes contacts, and writes notes about them: what a person does one at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cadenza.contacts import audiences, fields, store
from cadenza.contacts.check import Checked, apply, blank, check
from cadenza.contacts.find import find_contact
from cadenza.contacts.model import (
    AddressTaken,
    Contact,
    ContactForm,
    ExternalIdTaken,
    Field,
    Invalid,
    NoSuchContact,
    Stale,
)
from cadenza.db.audit import record
from cadenza.sql.tx import Tx

Refused = list[Invalid] | AddressTaken | ExternalIdTaken
LONGEST_NOTE = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What somebody wrote about a contact."""

    id: str
    text: str
    written_by: str
    created_at: datetime


def create_contact(
    tx: Tx, now: datetime, form: ContactForm, *, workspace_id: str, by: str
) -> Contact | Refused:
    """Keep a person who is new; needs a name, a company or an address."""
    known = fields.list_fields(tx, workspace_id)
    said = check(form, known)
    if not isinstance(said, Checked):
        return said
    contact = apply(blank(workspace_id, tx.new_id(), now), said, now)
    if not (contact.addresses or contact.first_name or contact.last_name or contact.company):
        return [Invalid("addresses", "empty", "give a name, a company or an address")]
    taken = _taken(tx, contact)
    if taken is not None:
        return taken
    store.insert(tx, workspace_id, [contact], known)
    _record(tx, now, contact.id, workspace_id=workspace_id, by=by, action="contact.create")
    return contact


def change_contact(
    tx: Tx,
    now: datetime,
    form: ContactForm,
    *,
    workspace_id: str,
    contact_id: str,
    by: str,
    revision: int | None = None,
) -> Contact | Refused | NoSuchContact | Stale:
    """Change what is said of a person; addresses and tags, if said, are all that there are."""
    there = find_contact(tx, workspace_id, contact_id)
    if isinstance(there, NoSuchContact):
        return there
    if revision is not None and revision != there.revision:
        return Stale(there.revision)
    known = fields.list_fields(tx, workspace_id)
    said = check(form, known)
    if not isinstance(said, Checked):
        return said
    contact = apply(there, said, now)
    if contact == there:
        return there
    taken = _taken(tx, contact)
    if taken is not None:
        return taken
    (saved,) = store.update(tx, workspace_id, [(there, contact)], known)
    changed = sorted(name for name in _SHOWN if getattr(there, name) != getattr(saved, name))
    _record(
        tx,
        now,
        saved.id,
        workspace_id=workspace_id,
        by=by,
        action="contact.change",
        after={"changed": changed},
    )
    return saved


def delete_contact(
    tx: Tx, now: datetime, *, workspace_id: str, contact_id: str, by: str
) -> Contact | NoSuchContact:
    """Delete a person: addresses, tags, fields and notes with them; lists lose them too."""
    there = find_contact(tx, workspace_id, contact_id)
    if isinstance(there, NoSuchContact):
        return there
    audiences.leave_all(tx, workspace_id, [there.id])
    store.delete(tx, workspace_id, [there.id])
    _record(tx, now, there.id, workspace_id=workspace_id, by=by, action="contact.delete")
    return there


def add_note(
    tx: Tx, now: datetime, *, workspace_id: str, contact_id: str, text: str, by: str
) -> Note | NoSuchContact:
    """Write a note about a person."""
    there = find_contact(tx, workspace_id, contact_id)
    if isinstance(there, NoSuchContact):
        return there
    note = Note(id=tx.new_id(), text=text.strip()[:LONGEST_NOTE], written_by=by, created_at=now)
    tx.run(
        """
        INSERT INTO contact_note (workspace_id, id, contact_id, text, written_by, created_at)
        VALUES (:workspace_id, :id, :contact_id, :text, :by, :now)
        """,
        workspace_id=workspace_id,
        id=note.id,
        contact_id=there.id,
        text=note.text,
        by=by,
        now=now,
    )
    return note


def list_notes(tx: Tx, *, workspace_id: str, contact_id: str) -> list[Note]:
    """Return the notes about a person, newest first."""
    rows = tx.all(
        """
        SELECT id, text, written_by, created_at FROM contact_note
        WHERE workspace_id = :workspace_id AND contact_id = :contact_id ORDER BY id DESC LIMIT 200
        """,
        workspace_id=workspace_id,
        contact_id=contact_id,
    )
    return [Note(**row) for row in rows]


_SHOWN = tuple(
    name for name in Contact.__dataclass_fields__ if name not in ("revision", "updated_at")
)


def _taken(tx: Tx, contact: Contact) -> AddressTaken | ExternalIdTaken | None:
    """Say who else has an address or the key of this person."""
    requested = [(each.channel, each.address) for each in contact.addresses]
    for (channel, address), holder in store.holders(tx, contact.workspace_id, requested).items():
        if holder != contact.id:
            return AddressTaken(channel, address, holder)
    if contact.external_id is not None:
        there = store.by_external_ids(tx, contact.workspace_id, [contact.external_id])
        holder = there.get(contact.external_id, contact.id)
        if holder != contact.id:
            return ExternalIdTaken(holder)
    return None


def _record(tx: Tx, now: datetime, subject_id: str, **more: Any) -> None:
    record(tx, now, subject_id=subject_id, **more)


def tag_contacts(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    contact_ids: Sequence[str],
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    by: str,
) -> int | list[Invalid]:
    """Add and remove tags of up to 5,000 people; return how many changed."""
    checked = [check(ContactForm(tags=tags), _NO_FIELDS) for tags in (add, remove)]
    for each in checked:
        if not isinstance(each, Checked):
            return each
    plus, minus = (set(each.tags or ()) for each in checked if isinstance(each, Checked))
    changes: list[tuple[Contact, Contact]] = []
    for there in store.load(tx, workspace_id, contact_ids).values():
        tags = tuple(sorted({*there.tags, *plus} - minus))
        if tags != there.tags:
            changes.append((there, replace(there, tags=tags, updated_at=now)))
    store.update(tx, workspace_id, changes, fields.list_fields(tx, workspace_id))
    if changes:
        _record(
            tx,
            now,
            workspace_id,
            workspace_id=workspace_id,
            by=by,
            action="contact.tag",
            after={"contacts": len(changes), "add": sorted(plus), "remove": sorted(minus)},
        )
    return len(changes)


_NO_FIELDS: Mapping[str, Field] = {}
