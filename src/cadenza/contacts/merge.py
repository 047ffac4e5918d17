"""Merges contacts that are one person: shown first, then done, by the same code.

The kept contact wins; the others fill its gaps and add their addresses, tags, notes and lists. Consent is the one
exception: a refusal of any of them is the person's. The old ids lead to the kept contact from then on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cadenza.contacts import audiences, fields, store
from cadenza.contacts.model import Consent, Contact, Invalid, NoSuchContact
from cadenza.db.audit import record
from cadenza.sql.tx import Tx

MOST = 20
_FILLED = ("external_id", "first_name", "last_name", "company", "country", "language", "source")


@dataclass(frozen=True, slots=True)
class Dropped:
    """A value of another contact that the kept one does not take over."""

    contact_id: str
    field: str
    kept: str
    dropped: str


@dataclass(frozen=True, slots=True)
class Merge:
    """What the merged contact is, and what is lost by it."""

    contact: Contact
    dropped: tuple[Dropped, ...]
    merged: tuple[str, ...]


def merge_contacts(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    keep_id: str,
    other_ids: Sequence[str],
    by: str,
    preview: bool = False,
) -> Merge | NoSuchContact | Invalid:
    """Merge others into one; `preview` says what would be, and changes nothing."""
    others = [id_ for id_ in dict.fromkeys(other_ids) if id_ != keep_id]
    if not others or len(others) > MOST:
        return Invalid("others", "bad_count", f"name 1 to {MOST} other contacts")
    there = store.load(tx, workspace_id, [keep_id, *others])
    for id_ in (keep_id, *others):
        if id_ not in there:
            return NoSuchContact(id_)
    kept = there[keep_id]
    merged, dropped = kept, list[Dropped]()
    for id_ in others:
        merged = _join(merged, there[id_], dropped)
    plan = Merge(replace(merged, updated_at=now), tuple(dropped), tuple(others))
    return plan if preview else _write(tx, now, kept, plan, by=by)


def _join(kept: Contact, other: Contact, dropped: list[Dropped]) -> Contact:
    changes: dict[str, object] = {}
    for name in _FILLED:
        mine, theirs = getattr(kept, name), getattr(other, name)
        if not mine and theirs:
            changes[name] = theirs
        elif theirs and mine != theirs:
            dropped.append(Dropped(other.id, name, str(mine), str(theirs)))
    if changes.get("source"):
        changes |= {"source_at": other.source_at, "source_proof": other.source_proof}
    if other.zone and (kept.zone is None or (kept.zone_guessed and not other.zone_guessed)):
        changes |= {"zone": other.zone, "zone_guessed": other.zone_guessed}
    if _weight(other) > _weight(kept):
        changes["consent"] = other.consent
        changes |= {"consent_at": other.consent_at, "consent_proof": other.consent_proof}
    for key, value in other.fields.items():
        if key in kept.fields and kept.fields[key] != value:
            dropped.append(Dropped(other.id, f"fields.{key}", str(kept.fields[key]), str(value)))
    return replace(
        kept,
        **changes,
        fields={**other.fields, **kept.fields},
        addresses=(*kept.addresses, *other.addresses),
        tags=tuple(sorted({*kept.tags, *other.tags})),
    )


def _weight(contact: Contact) -> int:
    return (Consent.UNKNOWN, Consent.GIVEN, Consent.REFUSED).index(contact.consent)


def _write(tx: Tx, now: datetime, kept: Contact, plan: Merge, *, by: str) -> Merge:
    home, id_ = kept.workspace_id, kept.id
    requested = [(each,) for each in plan.merged]
    for sql in (
        """
        UPDATE contact_note SET contact_id = :kept WHERE workspace_id = :workspace_id
            AND contact_id IN (SELECT id FROM TABLE(:requested) AS asked (id text))
        """,
        """
        UPDATE contact_merge SET contact_id = :kept WHERE workspace_id = :workspace_id
            AND contact_id IN (SELECT id FROM TABLE(:requested) AS asked (id text))
        """,
    ):
        tx.run(sql, workspace_id=home, kept=id_, requested=requested)
    audiences.hand_over(tx, now, workspace_id=home, others=plan.merged, kept=id_)
    store.delete(tx, home, plan.merged)
    (saved,) = store.update(tx, home, [(kept, plan.contact)], fields.list_fields(tx, home))
    tx.run(
        """
        INSERT INTO contact_merge (workspace_id, merged_id, contact_id, merged_by, merged_at)
        SELECT :workspace_id, id, :kept, :by, :now FROM TABLE(:requested) AS asked (id text)
        """,
        workspace_id=home,
        kept=id_,
        by=by,
        now=now,
        requested=requested,
    )
    record(
        tx,
        now,
        workspace_id=home,
        by=by,
        action="contact.merge",
        subject_id=id_,
        after={"merged": list(plan.merged)},
    )
    return replace(plan, contact=saved)
