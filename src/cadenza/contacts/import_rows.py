"""Writes a chunk of a file's rows: whom each is, what becomes of it, and the cursor, in one transaction.

People are known by their key of another system, else by any of their addresses. A row that fits two contacts is
refused: merge them first. Judging and writing are one code: a dry run leaves out the writing, and remembers the
addresses that it saw in the file. What `undo_import.py` needs to take it back is kept in the same transaction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cadenza.contacts import audiences, store, undo_import
from cadenza.contacts.addresses import read_address
from cadenza.contacts.audiences import Member
from cadenza.contacts.check import Checked, apply, blank
from cadenza.contacts.columns import Row
from cadenza.contacts.fields import list_fields
from cadenza.contacts.imports import MOST_REPORTED, Import, NoSuchImport, Options, find_import
from cadenza.contacts.model import Contact, Field, Invalid
from cadenza.contacts.read_table import Record
from cadenza.contacts.undo_import import Touched
from cadenza.deliveries import recipient_channels
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.deliveries.recipient_channels import NewChannel
from cadenza.sql.tx import Tx

CHUNK = 5_000
LONGEST_VALUE = 100


@dataclass(frozen=True, slots=True)
class Moved:
    """The cursor is not where this run left it: another run goes on, or it was stopped."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where a chunk begins and ends in the file."""

    begin: int
    offset: int
    rows: int


@dataclass(slots=True)
class _Verdict:
    number: int
    verdict: str
    code: str | None = None
    column: str | None = None
    value: str | None = None
    contact_id: str | None = None


@dataclass(slots=True)
class _Chunk:
    """What is known of the people of a chunk, and what becomes of them."""

    workspace_id: str
    import_id: str
    options: Options
    now: datetime
    current: dict[str, Contact]
    owners: dict[tuple[str, str], str]
    keys: dict[str, str]
    before: dict[str, Contact] = field(default_factory=dict[str, Contact])
    new: dict[str, Contact] = field(default_factory=dict[str, Contact])
    listed: dict[str, None] = field(default_factory=dict[str, None])
    verdicts: list[_Verdict] = field(default_factory=list[_Verdict])


def import_chunk(
    tx: Tx,
    now: datetime,
    rows: Sequence[Row],
    step: Step,
    *,
    workspace_id: str,
    import_id: str,
    seen: set[int] | None = None,
) -> Import | Moved:
    """Write one chunk and move the cursor; with `seen`, only judge it."""
    there = _at(tx, workspace_id, import_id, step, "running" if seen is None else "trying")
    if isinstance(there, Moved):
        return there
    assert there.options is not None, "it was started"
    chunk = _look_up(tx, now, rows, there, there.options)
    for row in rows:
        _judge(tx, chunk, row, seen)
    if seen is None:
        _write(tx, chunk, list_fields(tx, workspace_id))
    return _move(tx, there, step, chunk.verdicts, every=seen is not None)


def _look_up(tx: Tx, now: datetime, rows: Sequence[Row], there: Import, options: Options) -> _Chunk:
    said = [row.said for row in rows if row.said is not None]
    requested = [(each.channel, each.address) for one in said for each in one.addresses or ()]
    keys = [one.columns["external_id"] for one in said if one.columns.get("external_id")]
    owners = store.holders(tx, there.workspace_id, requested)
    known = store.by_external_ids(tx, there.workspace_id, keys)
    current = store.load(tx, there.workspace_id, {*owners.values(), *known.values()})
    return _Chunk(there.workspace_id, there.id, options, now, current, owners, known)


def _judge(tx: Tx, chunk: _Chunk, row: Row, seen: set[int] | None) -> None:
    said = row.said
    if said is None:
        assert row.wrong is not None, "a row that says nothing is wrong"
        value = None if row.value is None else row.value[:LONGEST_VALUE]
        wrong = _Verdict(row.number, "refused", row.wrong.code, row.wrong.column or None, value)
        chunk.verdicts.append(wrong)
        return
    addresses = said.addresses or ()
    matches = {chunk.owners.get((each.channel, each.address)) for each in addresses} - {None}
    key: str | None = said.columns.get("external_id")
    by_key = chunk.keys.get(key) if key else None
    if len(matches | ({by_key} - {None})) > 1:
        chunk.verdicts.append(_Verdict(row.number, "refused", "matches_two"))
        return
    flag = next((each.flag for each in addresses if each.flag), None)
    id_ = by_key or next(iter(matches), None)
    if id_ is None:
        again = seen is not None and _was_seen(seen, said)
        id_ = "" if again else _create(tx, chunk, said)
        verdict = _Verdict(row.number, "updated" if again else "created", flag)
        if again:
            verdict.code = "duplicate_row"
            verdict.verdict = "unchanged" if chunk.options.existing == "skip" else "updated"
    else:
        verdict = _change(chunk, row.number, id_, said, flag)
    verdict.contact_id = id_ or None if seen is None else None
    if id_:
        chunk.listed[id_] = None
    chunk.verdicts.append(verdict)


def _create(tx: Tx, chunk: _Chunk, said: Checked) -> str:
    id_ = tx.new_id()
    fresh = blank(chunk.workspace_id, id_, chunk.now, import_id=chunk.import_id)
    chunk.new[id_] = chunk.current[id_] = apply(fresh, said, chunk.now)
    _own(chunk, id_, said)
    return id_


def _change(chunk: _Chunk, number: int, id_: str, said: Checked, flag: str | None) -> _Verdict:
    there = chunk.current[id_]
    ours = there.import_id == chunk.import_id
    code = "duplicate_row" if ours else flag
    policy = chunk.options.existing
    changed = there
    if policy != "skip":
        changed = apply(there, said, chunk.now, add=True, fill=policy == "fill")
    if changed == there:
        return _Verdict(number, "unchanged", code)
    if id_ in chunk.new:
        chunk.new[id_] = changed
    else:
        chunk.before.setdefault(id_, there)
    chunk.current[id_] = changed
    _own(chunk, id_, said)
    return _Verdict(number, "updated", code)


def _own(chunk: _Chunk, id_: str, said: Checked) -> None:
    for each in said.addresses or ():
        chunk.owners[each.channel, each.address] = id_
    if said.columns.get("external_id"):
        chunk.keys[said.columns["external_id"]] = id_


def _was_seen(seen: set[int], said: Checked) -> bool:
    """Say whether a dry run met one of these before in the file; from now on it has."""
    marks = {hash((each.channel, each.address)) for each in said.addresses or ()}
    if said.columns.get("external_id"):
        marks.add(hash(said.columns["external_id"]))
    met = not marks.isdisjoint(seen)
    seen |= marks
    return met


def _write(tx: Tx, chunk: _Chunk, fields: dict[str, Field]) -> None:
    home = chunk.workspace_id
    store.insert(tx, home, list(chunk.new.values()), fields)
    changes = [
        (there, _mark(there, chunk.current[id_], chunk.import_id))
        for id_, there in chunk.before.items()
    ]
    store.update(tx, home, changes, fields)
    audience = chunk.options.audience_id
    fresh: set[str] = set()
    if audience is not None:
        members = [Member("contact", id_) for id_ in chunk.listed]
        inside = audiences.inside_of(tx, home, audience, members)
        fresh = {each.id for each in members if each not in inside}
        audiences.add_members(
            tx, chunk.now, workspace_id=home, audience_id=audience, members=members
        )
    touched = [
        Touched(was, was.revision + (id_ in chunk.before), id_ in fresh)
        for id_ in {**chunk.before, **dict.fromkeys(fresh)}
        if chunk.current[id_].import_id != chunk.import_id
        for was in (chunk.before.get(id_, chunk.current[id_]),)
    ]
    undo_import.keep_contacts(tx, touched, workspace_id=home, import_id=chunk.import_id)


def _mark(there: Contact, changed: Contact, import_id: str) -> Contact:
    """Note the revision at which an import leaves its own contact, unless somebody changed it in between."""
    if there.import_id != import_id or there.import_revision != there.revision:
        return changed
    return replace(changed, import_revision=there.revision + 1)


def import_channels(
    tx: Tx,
    now: datetime,
    records: Sequence[Record],
    step: Step,
    *,
    workspace_id: str,
    import_id: str,
    dry_run: bool = False,
) -> Import | Moved:
    """Write one chunk of recipient channels and move the cursor."""
    there = _at(tx, workspace_id, import_id, step, "trying" if dry_run else "running")
    if isinstance(there, Moved):
        return there
    assert there.options is not None, "it was started"
    assert there.mapping is not None, "it was started"
    places = {
        target: n for n, name in enumerate(there.header) if (target := there.mapping.get(name, ""))
    }
    verdicts: list[_Verdict] = []
    new: list[NewChannel] = []
    for each in records:
        made = _channel(each, places, there.options)
        if isinstance(made, _Verdict):
            verdicts.append(made)
        else:
            new.append(made)
            verdicts.append(_Verdict(each.number, "created", None, None, made.address))
    before = recipient_channels.find_channels(
        tx, workspace_id, [(each.provider, each.address) for each in new]
    )
    known = {(each.provider, each.id) for each in before}
    saved = None
    if not dry_run:
        saved = recipient_channels.save_channels(
            tx, now, new, workspace_id=workspace_id, import_id=import_id
        )
    met: dict[tuple[str, str], None] = {}
    for verdict, each in zip([v for v in verdicts if v.verdict == "created"], new, strict=True):
        key = (each.provider, fold_recipient(each.address))
        if key in known or key in met:
            changed = saved is None or key[1] in saved.updated
            verdict.verdict = "updated" if changed and key not in met else "unchanged"
        verdict.value = None
        met[key] = None
    if not dry_run:
        listed = _list_channels(tx, now, there, list(met))
        undo_import.keep_channels(
            tx, before, list(met), listed, workspace_id=workspace_id, import_id=import_id
        )
    return _move(tx, there, step, verdicts, every=dry_run)


def _list_channels(
    tx: Tx, now: datetime, there: Import, keys: Sequence[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Put channels on the chosen list; return those that were not on it."""
    audience = None if there.options is None else there.options.audience_id
    if audience is None:
        return set()
    home = there.workspace_id
    members = [Member("channel", id_, provider) for provider, id_ in keys]
    inside = audiences.inside_of(tx, home, audience, members)
    audiences.add_members(tx, now, workspace_id=home, audience_id=audience, members=members)
    return {(each.provider, each.id) for each in members if each not in inside}


def _channel(record: Record, places: dict[str, int], options: Options) -> NewChannel | _Verdict:
    if record.wrong is not None:
        return _Verdict(record.number, "refused", record.wrong)

    def cell(name: str) -> str | None:
        place = places.get(name)
        found = "" if place is None or place >= len(record.cells) else record.cells[place]
        return found or None

    address = cell("address")
    provider = (cell("provider") or options.provider).casefold()
    if address is None:
        return _Verdict(record.number, "refused", "no_key")
    made = check_channel(provider, address)
    if made is None:
        return _Verdict(record.number, "refused", "bad_address", None, address[:LONGEST_VALUE])
    title, category = cell("title"), cell("category")
    return NewChannel(
        provider=provider,
        address=made,
        title=title and title[:200],
        category=category and " ".join(category.split())[:100],
    )


_CHANNELS = {
    "telegram_person": "telegram",
    **dict.fromkeys(("smtp", "google_mail", "microsoft_mail"), "email"),
}


def check_channel(provider: str, address: str) -> str | None:
    """Return a channel's address as it is written to; None: it is none."""
    channel = _CHANNELS.get(provider, provider)
    read = read_address(channel, address)
    return None if isinstance(read, Invalid) else read.written


def _at(tx: Tx, workspace_id: str, import_id: str, step: Step, state: str) -> Import | Moved:
    there = find_import(tx, workspace_id, import_id)
    if isinstance(there, NoSuchImport) or there.state != state or there.read_offset != step.begin:
        return Moved()
    return there


def _move(
    tx: Tx, there: Import, step: Step, verdicts: Sequence[_Verdict], *, every: bool
) -> Import:
    """Report rows that are worth a word, count all, and move the cursor."""
    told = [each for each in verdicts if every or each.code or each.verdict != "created"]
    told = told[: max(0, MOST_REPORTED - there.reported)]
    if told:
        tx.run(
            """
            INSERT INTO contact_import_row (workspace_id, import_id, row_number, verdict, code, column_name,
                value, contact_id)
            SELECT :workspace_id, :import_id, row_number, verdict, code, column_name, value, contact_id
            FROM TABLE(:new) AS new (row_number bigint, verdict text, code text, column_name text, value text,
                contact_id text)
            """,
            workspace_id=there.workspace_id,
            import_id=there.id,
            new=[
                (each.number, each.verdict, each.code, each.column, each.value, each.contact_id)
                for each in told
            ],
        )
    counts = {
        word: sum(each.verdict == word for each in verdicts)
        for word in ("created", "updated", "unchanged", "refused")
    }
    flagged = sum(each.code in ("role", "disposable") for each in verdicts)
    tx.run(
        """
        UPDATE contact_import SET read_offset = :offset, read_rows = :rows, created = created + :created,
            updated = updated + :updated, unchanged = unchanged + :unchanged, refused = refused + :refused,
            flagged = flagged + :flagged, reported = reported + :reported
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        offset=step.offset,
        rows=step.rows,
        flagged=flagged,
        reported=len(told),
        workspace_id=there.workspace_id,
        id=there.id,
        **counts,
    )
    return replace(there, read_offset=step.offset, read_rows=step.rows)
