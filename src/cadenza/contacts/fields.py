"""The workspace's own fields: text, number, date or one of some choices.

A key is what templates and files name it by, and stays. A field that people have values of keeps its kind; taken
away, it takes its values along.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from cadenza.contacts.model import MOST_FIELDS, Contact, Field, FieldKind, Invalid, fold
from cadenza.db.audit import record
from cadenza.sql.tx import Row, Tx

_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
RESERVED = frozenset(
    {
        *Contact.__dataclass_fields__,
        *("name", "email", "linkedin", "telegram", "tag", "channel", "domain", "search", "created"),
        *("unsubscribe_url", "audience", "contact", "sender", "today", "date", "weekday"),
    }
)
MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class FieldSaved:
    """The field as it is kept."""

    field: Field


@dataclass(frozen=True, slots=True)
class NoSuchField:
    """The workspace has no such field."""

    key: str


def list_fields(tx: Tx, workspace_id: str) -> dict[str, Field]:
    """Return the workspace's fields by key, oldest first."""
    rows = tx.all(
        "SELECT * FROM contact_field WHERE workspace_id = :workspace_id ORDER BY created_at, key",
        workspace_id=workspace_id,
    )
    return {row["key"]: _field(row) for row in rows}


def save_field(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    key: str,
    label: str,
    kind: FieldKind,
    choices: Sequence[str] = (),
    by: str,
) -> FieldSaved | Invalid:
    """Make a field, or change its label and choices."""
    known = list_fields(tx, workspace_id)
    chosen = tuple(dict.fromkeys(" ".join(each.split()) for each in choices if each.strip()))
    wrong = _wrong(known, key, kind, chosen)
    if wrong is not None:
        return wrong
    saved = Field(key, label, kind, chosen)
    if known.get(key) == saved:
        return FieldSaved(saved)
    tx.run(
        """
        INSERT INTO contact_field (workspace_id, key, label, kind, choices, created_at)
        VALUES (:workspace_id, :key, :label, :kind, :choices, :now)
        ON CONFLICT (workspace_id, key) DO UPDATE SET label = excluded.label, choices = excluded.choices
        """,
        workspace_id=workspace_id,
        key=key,
        label=label,
        kind=kind,
        choices=msgspec.json.encode(chosen).decode(),
        now=now,
    )
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="contact_field.save",
        subject_id=key,
        after={"label": label, "kind": kind},
    )
    return FieldSaved(saved)


def _wrong(
    known: dict[str, Field], key: str, kind: FieldKind, choices: tuple[str, ...]
) -> Invalid | None:
    if not _KEY.fullmatch(key):
        return Invalid("key", "bad_key", "small letters, digits and _, beginning with a letter")
    if key in RESERVED:
        return Invalid("key", "reserved", f"every contact has {key!r} already: choose another key")
    if key in known and known[key].kind != kind:
        return Invalid("kind", "kind_stays", "a field keeps its kind: make another one")
    if key not in known and len(known) >= MOST_FIELDS:
        return Invalid("key", "too_many", f"a workspace has at most {MOST_FIELDS} fields")
    if (kind == "choice") != bool(choices):
        return Invalid("choices", "choices", "a choice needs choices, and nothing else has them")
    if len(choices) > MOST_CHOICES or len({fold(each) for each in choices}) != len(choices):
        return Invalid("choices", "choices", f"at most {MOST_CHOICES}, each another word")
    return None


def delete_field(
    tx: Tx, now: datetime, *, workspace_id: str, key: str, by: str
) -> Field | NoSuchField:
    """Remove a field; what contacts hold in it is no longer shown, and not filtered by."""
    found = list_fields(tx, workspace_id).get(key)
    if found is None:
        return NoSuchField(key)
    about: dict[str, Any] = {"workspace_id": workspace_id, "key": key}
    tx.run("DELETE FROM contact_value WHERE workspace_id = :workspace_id AND field = :key", **about)
    tx.run("DELETE FROM contact_field WHERE workspace_id = :workspace_id AND key = :key", **about)
    record(tx, now, workspace_id=workspace_id, by=by, action="contact_field.delete", subject_id=key)
    return found


def _field(row: Row) -> Field:
    choices = tuple(msgspec.json.decode(row["choices"], type=list[str]))
    return Field(row["key"], row["label"], row["kind"], choices)
