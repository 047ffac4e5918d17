"""Exports of contacts that are written in the background: everybody, an audience, or a filter's people.

Rows go out in chunks by id, the newest state of each; a run that is cut short begins again. What is written can be
imported again, and cells that a spreadsheet would run are guarded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from cadenza.contacts import audiences, fields, find, store
from cadenza.contacts.audiences import Audience, NoSuchAudience
from cadenza.contacts.filters import Filter, compile_filter, decode_filter, encode_filter
from cadenza.contacts.model import Contact, Field, Invalid
from cadenza.db.audit import record
from cadenza.engine.enqueue_in import enqueue_in
from cadenza.sql.tx import Row, Tx

JOB, QUEUE = "export_contacts", "product"
KEPT = timedelta(days=3)
CHUNK = 2_000
Format: TypeAlias = Literal["csv", "xlsx"]
COLUMNS = (
    *("external_id", "first_name", "last_name", "company", "email", "linkedin", "telegram"),
    *("country", "zone", "language", "consent", "consent_at", "consent_proof", "source"),
    *("source_at", "source_proof", "tags"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactExport:
    """One export, as it stands."""

    workspace_id: str
    id: str
    format: Format
    audience_id: str | None
    filter: Filter | None
    state: str
    reason: str | None
    rows_done: int
    rows_total: int
    bytes: int | None
    asked_by: str
    asked_at: datetime
    finished_at: datetime | None
    expires_at: datetime

    @property
    def file(self) -> str:
        """Where its bytes are stored."""
        return f"exports/{self.id}.{self.format}"

    @property
    def percent(self) -> int:
        """How much of it is done; 100 only when it is ready."""
        if self.state == "ready":
            return 100
        return min(99, 100 * self.rows_done // self.rows_total) if self.rows_total else 0


@dataclass(frozen=True, slots=True)
class NoSuchExport:
    """The workspace has no such export."""

    id: str


def begin_export(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    format_: Format,
    by: str,
    audience_id: str | None = None,
    conditions: Filter | None = None,
) -> ContactExport | NoSuchAudience | Invalid:
    """Ask for an export; it is enqueued with this transaction."""
    total = _count(tx, workspace_id, audience_id, conditions)
    if not isinstance(total, int):
        return total
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO contact_export (workspace_id, id, format, audience_id, filter, state, rows_total, asked_by,
            asked_at, expires_at)
        VALUES (:workspace_id, :id, :format, :audience_id, :filter, 'waiting', :total, :by, :now, :until)
        """,
        workspace_id=workspace_id,
        id=id_,
        format=format_,
        audience_id=audience_id,
        filter=None if conditions is None else encode_filter(conditions),
        total=total,
        by=by,
        now=now,
        until=now + KEPT,
    )
    enqueue_in(tx, now, JOB, {"workspace_id": workspace_id, "export_id": id_}, queue=QUEUE)
    record(tx, now, workspace_id=workspace_id, by=by, action="contact.export", subject_id=id_)
    made = find_export(tx, workspace_id, id_)
    assert isinstance(made, ContactExport), "it was written right now"
    return made


def _count(
    tx: Tx, workspace_id: str, audience_id: str | None, conditions: Filter | None
) -> int | NoSuchAudience | Invalid:
    if audience_id is not None:
        found = audiences.find_audience(tx, workspace_id, audience_id)
        return found.size if isinstance(found, Audience) else found
    compiled = compile_filter(conditions or (), fields.list_fields(tx, workspace_id))
    if isinstance(compiled, Invalid):
        return compiled
    return find.count_contacts(tx, workspace_id=workspace_id, conditions=conditions or ())


def find_export(tx: Tx, workspace_id: str, export_id: str) -> ContactExport | NoSuchExport:
    """Return one of the workspace's exports."""
    row = tx.one(
        "SELECT * FROM contact_export WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=export_id,
    )
    return NoSuchExport(export_id) if row is None else _export(row)


def list_exports(tx: Tx, *, workspace_id: str) -> list[ContactExport]:
    """Return the workspace's exports, newest first."""
    rows = tx.all(
        """
        SELECT * FROM contact_export WHERE workspace_id = :workspace_id
        ORDER BY asked_at DESC, id DESC LIMIT 20
        """,
        workspace_id=workspace_id,
    )
    return [_export(row) for row in rows]


def next_contacts(
    tx: Tx, there: ContactExport, after: str
) -> tuple[list[Contact], str | None] | NoSuchAudience | Invalid:
    """Return the next people to write, and what to go on after; None at the end."""
    if there.audience_id is not None:
        walked = audiences.walk_members(
            tx,
            workspace_id=there.workspace_id,
            audience_id=there.audience_id,
            after=after,
            limit=CHUNK,
        )
        if not isinstance(walked, tuple):
            return walked
        ids, then = [each.id for each in walked[0] if each.kind == "contact"], walked[1]
    else:
        found = find.walk_ids(
            tx,
            workspace_id=there.workspace_id,
            conditions=there.filter or (),
            after=after,
            limit=CHUNK,
        )
        if isinstance(found, Invalid):
            return found
        ids, then = found, found[-1] if len(found) == CHUNK else None
    people = store.load(tx, there.workspace_id, ids)
    return [people[id_] for id_ in ids if id_ in people], then


def export_header(known: Mapping[str, Field]) -> list[str]:
    """Name the columns."""
    return [*COLUMNS, "other_addresses", *known]


def export_cells(contact: Contact, known: Mapping[str, Field]) -> list[object]:
    """Write a person under those columns."""
    own: dict[str, list[str]] = {}
    for each in contact.addresses:
        own.setdefault(each.channel, []).append(each.written)
    special: dict[str, object] = {
        "email": "; ".join(own.pop("email", ())),
        "linkedin": "; ".join(own.pop("linkedin", ())),
        "telegram": "; ".join(own.pop("telegram", ())),
        "tags": "; ".join(contact.tags),
        "consent": contact.consent.value,
    }
    cells = [special[name] if name in special else getattr(contact, name) for name in COLUMNS]
    others = "; ".join(f"{channel}:{one}" for channel, all_ in own.items() for one in all_)
    return [*cells, others, *(contact.fields.get(key) for key in known)]


def tell_progress(tx: Tx, _now: datetime, there: ContactExport, *, done: int) -> None:
    """Write how far it is."""
    tx.run(
        """
        UPDATE contact_export SET state = 'running', rows_done = :done
        WHERE workspace_id = :workspace_id AND id = :id AND state <> 'ready'
        """,
        done=done,
        workspace_id=there.workspace_id,
        id=there.id,
    )


def finish_export(tx: Tx, now: datetime, there: ContactExport, *, rows: int, bytes_: int) -> None:
    """Say that it can be downloaded."""
    tx.run(
        """
        UPDATE contact_export SET state = 'ready', rows_done = :rows, rows_total = :rows, bytes = :bytes,
            finished_at = :now, expires_at = :until
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        rows=rows,
        bytes=bytes_,
        now=now,
        until=now + KEPT,
        workspace_id=there.workspace_id,
        id=there.id,
    )


def fail_export(tx: Tx, now: datetime, there: ContactExport, *, reason: str) -> None:
    """Say that it did not work."""
    tx.run(
        """
        UPDATE contact_export SET state = 'failed', reason = :reason, finished_at = :now
        WHERE workspace_id = :workspace_id AND id = :id AND state <> 'ready'
        """,
        reason=reason,
        now=now,
        workspace_id=there.workspace_id,
        id=there.id,
    )


def list_expired(tx: Tx, now: datetime) -> list[ContactExport]:
    """Return exports whose files go, in all workspaces."""
    rows = tx.all(
        "SELECT * FROM contact_export WHERE expires_at <= :now ORDER BY expires_at LIMIT 100",
        now=now,
    )
    return [_export(row) for row in rows]


def forget_export(tx: Tx, _now: datetime, there: ContactExport) -> None:
    """Remove an export whose file is gone."""
    tx.run(
        "DELETE FROM contact_export WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=there.workspace_id,
        id=there.id,
    )


def _export(row: Row) -> ContactExport:
    text = row["filter"]
    return ContactExport(**{**row, "filter": None if text is None else decode_filter(text)})
