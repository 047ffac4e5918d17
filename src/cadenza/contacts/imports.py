"""Imports as they stand: uploaded, tried, running, done, undone; what was chosen, and how far they are.

Files are read by a background job (`bootstrap/import_contacts.py`) that is enqueued in the transaction that starts
it. The cursor moves in the transaction that writes a chunk, so a run that is cut short goes on without a double.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

import msgspec

from cadenza.contacts.audiences import NoSuchAudience, NotAList, find_audience
from cadenza.contacts.check import check
from cadenza.contacts.columns import Defaults, check_mapping, plain_header, suggest
from cadenza.contacts.fields import list_fields
from cadenza.contacts.model import ContactForm, Invalid
from cadenza.contacts.read_table import Head
from cadenza.db.audit import record
from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.engine.enqueue_in import enqueue_in
from cadenza.sql.tx import Row, Tx

JOB, QUEUE = "import_contacts", "product"
KEPT = timedelta(days=7)
UNDO = timedelta(days=1)
MOST_REPORTED = 50_000
Kind: TypeAlias = Literal["contacts", "channels"]
Existing: TypeAlias = Literal["update", "fill", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a file is imported."""

    existing: Existing = "update"
    audience_id: str | None = None
    provider: str = "telegram"  # of recipient channels whose row names none
    defaults: Defaults = field(default_factory=Defaults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One import, as it stands."""

    workspace_id: str
    id: str
    kind: Kind
    name: str
    format: Literal["csv", "xlsx"]
    bytes: int
    header: tuple[str, ...]
    samples: tuple[tuple[str, ...], ...]
    suggested: Mapping[str, str]
    delimiter: str
    mapping: Mapping[str, str] | None
    options: Options | None
    state: str
    reason: str | None
    read_offset: int
    read_rows: int
    created: int
    updated: int
    unchanged: int
    refused: int
    flagged: int
    reported: int
    removed: int
    restored: int
    kept: int
    asked_by: str
    asked_at: datetime
    finished_at: datetime | None
    undo_until: datetime | None
    expires_at: datetime

    @property
    def file(self) -> str:
        """Where its bytes are stored, as they came."""
        return f"imports/{self.id}.{self.format}"

    @property
    def table(self) -> str:
        """Where the CSV is stored that is read."""
        return f"imports/{self.id}.csv"

    @property
    def percent(self) -> int:
        """How much of it is read; 100 only when it is done."""
        if self.state in ("tried", "done", "undone"):
            return 100
        return min(99, 100 * self.read_offset // self.bytes) if self.bytes else 0


@dataclass(frozen=True, slots=True)
class NoSuchImport:
    """The workspace has no such import."""

    id: str


@dataclass(frozen=True, slots=True)
class NotNow:
    """The import is in another state."""

    state: str


@dataclass(frozen=True, slots=True)
class UndoOver:
    """A day has gone by: it can no longer be undone."""


Refused: TypeAlias = NoSuchImport | NotNow | Invalid | NoSuchAudience | NotAList


def add_import(
    tx: Tx,
    now: datetime,
    head: Head,
    *,
    workspace_id: str,
    id_: str,
    kind: Kind,
    name: str,
    format_: str,
    size: int,
    by: str,
) -> Import:
    """Keep a file that was uploaded, with what its columns seem to be."""
    remembered = tx.all(
        "SELECT header, target FROM contact_mapping WHERE workspace_id = :workspace_id AND kind = :kind",
        workspace_id=workspace_id,
        kind=kind,
    )
    suggested = suggest(
        head.header,
        kind=kind,
        fields=list_fields(tx, workspace_id),
        remembered={row["header"]: row["target"] for row in remembered},
    )
    tx.run(
        """
        INSERT INTO contact_import (workspace_id, id, kind, name, format, bytes, header, samples, suggested,
            delimiter, state, asked_by, asked_at, expires_at)
        VALUES (:workspace_id, :id, :kind, :name, :format, :bytes, :header, :samples, :suggested, :delimiter,
            'uploaded', :by, :now, :until)
        """,
        workspace_id=workspace_id,
        id=id_,
        kind=kind,
        name=name[:200],
        format=format_,
        bytes=size,
        header=_json(head.header),
        samples=_json(head.samples),
        suggested=_json(suggested),
        delimiter=head.delimiter,
        by=by,
        now=now,
        until=now + KEPT,
    )
    return _must_find(tx, workspace_id, id_)


def start_import(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    import_id: str,
    mapping: Mapping[str, str],
    options: Options,
    by: str,
    dry_run: bool = False,
) -> Import | Refused:
    """Begin to try or to import a file in the background; what its columns are is remembered."""
    there = find_import(tx, workspace_id, import_id)
    if isinstance(there, NoSuchImport):
        return there
    if there.state not in ("uploaded", "tried", "failed"):
        return NotNow(there.state)
    if there.state == "failed" and there.read_rows and not dry_run and there.created:
        return NotNow("failed")
    wrong = _check(tx, there, mapping, options)
    if wrong is not None:
        return wrong
    tx.run(
        "DELETE FROM contact_import_row WHERE workspace_id = :workspace_id AND import_id = :id",
        workspace_id=workspace_id,
        id=import_id,
    )
    tx.run(
        """
        UPDATE contact_import SET state = :state, mapping = :mapping, options = :options, reason = NULL,
            read_offset = 0, read_rows = 0, created = 0, updated = 0, unchanged = 0, refused = 0, flagged = 0,
            reported = 0, finished_at = NULL
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        state="trying" if dry_run else "running",
        mapping=_json(mapping),
        options=_json(options),
        workspace_id=workspace_id,
        id=import_id,
    )
    for name, target in mapping.items():
        tx.run(
            """
            INSERT INTO contact_mapping (workspace_id, kind, header, target, used_at)
            VALUES (:workspace_id, :kind, :header, :target, :now)
            ON CONFLICT (workspace_id, kind, header) DO UPDATE SET target = excluded.target,
                used_at = excluded.used_at
            """,
            workspace_id=workspace_id,
            kind=there.kind,
            header=plain_header(name),
            target=target,
            now=now,
        )
    _enqueue(tx, now, there)
    if not dry_run:
        record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="contact_import.start",
            subject_id=import_id,
            after={"name": there.name},
        )
    return _must_find(tx, workspace_id, import_id)


def _check(
    tx: Tx, there: Import, mapping: Mapping[str, str], options: Options
) -> Invalid | NoSuchAudience | NotAList | None:
    fields = list_fields(tx, there.workspace_id)
    wrong = check_mapping(mapping, there.header, kind=there.kind, fields=fields)
    if wrong is not None:
        return wrong
    said = options.defaults
    checked = check(
        ContactForm(
            tags=said.tags,
            source=said.source,
            source_proof=said.source_proof,
            consent=said.consent,
            consent_proof=said.consent_proof,
        ),
        fields,
    )
    if isinstance(checked, list):
        return checked[0]
    if options.audience_id is not None:
        audience = find_audience(tx, there.workspace_id, options.audience_id)
        if isinstance(audience, NoSuchAudience):
            return audience
        if audience.kind != "list":
            return NotAList()
    return None


def cancel_import(
    tx: Tx, now: datetime, *, workspace_id: str, import_id: str, by: str
) -> Import | NoSuchImport | NotNow:
    """Stop an import; what it wrote stays, and can be undone."""
    there = find_import(tx, workspace_id, import_id)
    if isinstance(there, NoSuchImport):
        return there
    if there.state not in ("uploaded", "trying", "tried", "running"):
        return NotNow(there.state)
    state = "canceled" if there.state == "running" else "uploaded"
    _end(tx, now, there, state, undo=there.state == "running")
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="contact_import.cancel",
        subject_id=import_id,
    )
    return _must_find(tx, workspace_id, import_id)


def undo_import(
    tx: Tx, now: datetime, *, workspace_id: str, import_id: str, by: str
) -> Import | NoSuchImport | NotNow | UndoOver:
    """Begin to take an import back in the background."""
    there = find_import(tx, workspace_id, import_id)
    if isinstance(there, NoSuchImport):
        return there
    if there.state not in ("done", "canceled", "failed") or there.undo_until is None:
        return NotNow(there.state)
    if there.undo_until <= now:
        return UndoOver()
    tx.run(
        """
        UPDATE contact_import SET state = 'undoing', read_offset = 0
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        workspace_id=workspace_id,
        id=import_id,
    )
    _enqueue(tx, now, there)
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="contact_import.undo",
        subject_id=import_id,
    )
    return _must_find(tx, workspace_id, import_id)


def find_import(tx: Tx, workspace_id: str, import_id: str) -> Import | NoSuchImport:
    """Return one import."""
    row = tx.one(
        "SELECT * FROM contact_import WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=import_id,
    )
    return NoSuchImport(import_id) if row is None else _import(row)


def list_imports(tx: Tx, *, workspace_id: str, limit: int = 50) -> list[Import]:
    """Return the workspace's imports, newest first."""
    rows = tx.all(
        """
        SELECT * FROM contact_import WHERE workspace_id = :workspace_id
        ORDER BY asked_at DESC, id DESC LIMIT :limit
        """,
        workspace_id=workspace_id,
        limit=limit,
    )
    return [_import(row) for row in rows]


def list_rows(
    tx: Tx, *, workspace_id: str, import_id: str, after: int = 0, limit: int = 100
) -> list[Row]:
    """Return what became of rows, behind a row."""
    return tx.all(
        """
        SELECT row_number, verdict, code, column_name, value, contact_id FROM contact_import_row
        WHERE workspace_id = :workspace_id AND import_id = :import_id AND row_number > :after
        ORDER BY row_number LIMIT :limit
        """,
        workspace_id=workspace_id,
        import_id=import_id,
        after=after,
        limit=limit,
    )


def set_table(
    tx: Tx, _now: datetime, *, workspace_id: str, import_id: str, size: int, delimiter: str
) -> None:
    """Say how large the CSV is that is read, once a spreadsheet became one."""
    tx.run(
        """
        UPDATE contact_import SET bytes = :size, delimiter = :delimiter
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        size=size,
        delimiter=delimiter,
        workspace_id=workspace_id,
        id=import_id,
    )


def restart_trial(tx: Tx, _now: datetime, *, workspace_id: str, import_id: str) -> None:
    """Begin a dry run at the first row: it changed nothing."""
    about = {"workspace_id": workspace_id, "id": import_id}
    tx.run(
        "DELETE FROM contact_import_row WHERE workspace_id = :workspace_id AND import_id = :id",
        **about,
    )
    tx.run(
        """
        UPDATE contact_import SET read_offset = 0, read_rows = 0, created = 0, updated = 0, unchanged = 0,
            refused = 0, flagged = 0, reported = 0
        WHERE workspace_id = :workspace_id AND id = :id AND state = 'trying'
        """,
        **about,
    )


def finish_import(tx: Tx, now: datetime, there: Import, *, state: str) -> None:
    """Say that it is over; programs are told of imports that are done."""
    _end(tx, now, there, state, undo=state == "done")
    if state != "done":
        return
    ended = _must_find(tx, there.workspace_id, there.id)
    event = OutboxEvent(
        workspace_id=there.workspace_id,
        id=f"import:{there.id}:done",
        kind="import.done",
        subject_id=there.id,
        body={
            "name": ended.name,
            "kind": ended.kind,
            "rows": ended.read_rows,
            "created": ended.created,
            "updated": ended.updated,
            "unchanged": ended.unchanged,
            "refused": ended.refused,
        },
    )
    write_outbox(tx, now, [event])


def fail_import(tx: Tx, now: datetime, there: Import, *, reason: str) -> None:
    """Say why it cannot go on."""
    _end(tx, now, there, "failed", undo=there.created + there.updated > 0, reason=reason)


def list_expired(tx: Tx, now: datetime) -> list[Import]:
    """Return imports whose files and reports go, in all workspaces."""
    rows = tx.all(
        "SELECT * FROM contact_import WHERE expires_at <= :now ORDER BY expires_at LIMIT 100",
        now=now,
    )
    return [_import(row) for row in rows]


def forget_import(tx: Tx, _now: datetime, there: Import) -> None:
    """Remove an import whose file is gone; what it imported stays."""
    about = {"workspace_id": there.workspace_id, "id": there.id}
    for sql in (
        "DELETE FROM contact_import_row WHERE workspace_id = :workspace_id AND import_id = :id",
        "DELETE FROM contact_import_undo WHERE workspace_id = :workspace_id AND import_id = :id",
        "DELETE FROM channel_import_undo WHERE workspace_id = :workspace_id AND import_id = :id",
        "DELETE FROM contact_import WHERE workspace_id = :workspace_id AND id = :id",
    ):
        tx.run(sql, **about)


def _end(
    tx: Tx, now: datetime, there: Import, state: str, *, undo: bool, reason: str | None = None
) -> None:
    tx.run(
        """
        UPDATE contact_import SET state = :state, reason = :reason, finished_at = :now, undo_until = :until
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        state=state,
        reason=reason,
        now=now,
        until=now + UNDO if undo else None,
        workspace_id=there.workspace_id,
        id=there.id,
    )


def _enqueue(tx: Tx, now: datetime, there: Import) -> None:
    payload = {"workspace_id": there.workspace_id, "import_id": there.id}
    enqueue_in(tx, now, JOB, payload, queue=QUEUE)


def _must_find(tx: Tx, workspace_id: str, id_: str) -> Import:
    found = find_import(tx, workspace_id, id_)
    assert isinstance(found, Import), "it was written right now"
    return found


def _import(row: Row) -> Import:
    decode: Any = msgspec.json.decode
    return Import(
        **{
            **row,
            "header": tuple(decode(row["header"])),
            "samples": tuple(map(tuple, decode(row["samples"]))),
            "suggested": decode(row["suggested"]),
            "mapping": None if row["mapping"] is None else decode(row["mapping"]),
            "options": None
            if row["options"] is None
            else msgspec.json.decode(row["options"], type=Options),
        }
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
