"""The SQL of contacts: people with their addresses, tags and values, read and written many at a time.

Everybody who writes holds `contacts_lock`, so what was looked up stays as it was. What did not change of a person
is not written again. Limit: one call takes as many people as one transaction may hold, 5,000.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cadenza.contacts.model import (
    Address,
    Consent,
    Contact,
    Field,
    decode_fields,
    encode_fields,
    filter_key,
    fold,
)
from cadenza.sql.tx import Row, Tx

Fields = Mapping[str, Field]
_COLUMNS = (
    "id text, external_id text, first_name text, last_name text, company text, first_key text, "
    "last_key text, company_key text, country text, zone text, zone_guessed boolean, language text, "
    "consent text, consent_at timestamptz, consent_proof text, source text, source_at timestamptz, "
    "source_proof text, fields text, import_id text, revision bigint, created_at timestamptz, "
    "updated_at timestamptz, import_revision bigint"
)
_NAMES = tuple(column.split()[0] for column in _COLUMNS.split(", "))
_INSERT = (
    f"INSERT INTO contact (workspace_id, {', '.join(_NAMES)}) "  # noqa: S608 - our own names
    f"SELECT :workspace_id, {', '.join(_NAMES)} FROM TABLE(:new) AS new ({_COLUMNS})"
)
_UPDATE = (
    f"UPDATE contact SET {', '.join(f'{name} = new.{name}' for name in _NAMES[1:])} "  # noqa: S608 - our own names
    f"FROM TABLE(:new) AS new ({_COLUMNS}) "
    "WHERE contact.workspace_id = :workspace_id AND contact.id = new.id"
)


def load(tx: Tx, workspace_id: str, ids: Iterable[str]) -> dict[str, Contact]:
    """Return these people, whole; who is not there is left out."""
    requested = [(id_,) for id_ in sorted(set(ids))]
    if not requested:
        return {}
    rows = tx.all(
        """
        SELECT contact.* FROM TABLE(:requested) AS asked (id text)
        JOIN contact ON contact.workspace_id = :workspace_id AND contact.id = asked.id
        """,
        requested=requested,
        workspace_id=workspace_id,
    )
    return {each.id: each for each in complete(tx, workspace_id, rows)}


def complete(tx: Tx, workspace_id: str, rows: Sequence[Row]) -> list[Contact]:
    """Make rows of `contact` people, with their addresses and tags."""
    requested = [(row["id"],) for row in rows]
    if not requested:
        return []
    addresses: dict[str, list[Address]] = {}
    for row in tx.all(
        """
        SELECT a.contact_id, a.channel, a.address, a.written, a.domain, a.flag, a.position
        FROM TABLE(:requested) AS asked (id text)
        JOIN contact_address a ON a.workspace_id = :workspace_id AND a.contact_id = asked.id
        ORDER BY a.contact_id, a.position, a.channel, a.address
        """,
        requested=requested,
        workspace_id=workspace_id,
    ):
        found = Address(row["channel"], row["address"], row["written"], row["domain"], row["flag"])
        addresses.setdefault(row["contact_id"], []).append(found)
    tags: dict[str, list[str]] = {}
    for row in tx.all(
        """
        SELECT t.contact_id, t.tag FROM TABLE(:requested) AS asked (id text)
        JOIN contact_tag t ON t.workspace_id = :workspace_id AND t.contact_id = asked.id
        """,
        requested=requested,
        workspace_id=workspace_id,
    ):
        tags.setdefault(row["contact_id"], []).append(row["tag"])
    return [
        _contact(row, addresses.get(row["id"], ()), sorted(tags.get(row["id"], ()))) for row in rows
    ]


def _contact(row: Row, addresses: Sequence[Address], tags: Sequence[str]) -> Contact:
    return Contact(
        workspace_id=row["workspace_id"],
        id=row["id"],
        external_id=row["external_id"],
        first_name=row["first_name"],
        last_name=row["last_name"],
        company=row["company"],
        country=row["country"],
        zone=row["zone"],
        zone_guessed=bool(row["zone_guessed"]),
        language=row["language"],
        consent=Consent(row["consent"]),
        consent_at=row["consent_at"],
        consent_proof=row["consent_proof"],
        source=row["source"],
        source_at=row["source_at"],
        source_proof=row["source_proof"],
        fields=decode_fields(row["fields"]),
        import_id=row["import_id"],
        import_revision=row["import_revision"],
        revision=row["revision"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        addresses=tuple(addresses),
        tags=tuple(tags),
    )


def holders(
    tx: Tx, workspace_id: str, addresses: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """Return whose these addresses (channel, folded) are."""
    requested = sorted(set(addresses))
    if not requested:
        return {}
    rows = tx.all(
        """
        SELECT a.channel, a.address, a.contact_id
        FROM TABLE(:requested) AS asked (channel text, address text)
        JOIN contact_address a ON a.workspace_id = :workspace_id
            AND a.channel = asked.channel AND a.address = asked.address
        """,
        requested=requested,
        workspace_id=workspace_id,
    )
    return {(row["channel"], row["address"]): row["contact_id"] for row in rows}


def by_external_ids(tx: Tx, workspace_id: str, keys: Iterable[str]) -> dict[str, str]:
    """Return who has these keys of the other system."""
    requested = [(key,) for key in sorted(set(keys))]
    if not requested:
        return {}
    rows = tx.all(
        """
        SELECT c.external_id, c.id FROM TABLE(:requested) AS asked (external_id text)
        JOIN contact c ON c.workspace_id = :workspace_id AND c.external_id = asked.external_id
        WHERE c.external_id IS NOT NULL
        """,
        requested=requested,
        workspace_id=workspace_id,
    )
    return {row["external_id"]: row["id"] for row in rows}


def insert(tx: Tx, workspace_id: str, new: Sequence[Contact], fields: Fields) -> None:
    """Write people who are new."""
    if not new:
        return
    tx.run(_INSERT, new=[_row(each) for each in new], workspace_id=workspace_id)
    _insert_addresses(tx, workspace_id, new)
    _insert_tags(tx, workspace_id, [(tag, each.id) for each in new for tag in each.tags])
    _insert_values(tx, workspace_id, new, fields)


def update(
    tx: Tx, workspace_id: str, changes: Sequence[tuple[Contact, Contact]], fields: Fields
) -> list[Contact]:
    """Write people who changed, each with how it was; return them with their new revisions."""
    after = [replace(new, revision=old.revision + 1) for old, new in changes]
    if not after:
        return []
    tx.run(_UPDATE, new=[_row(each) for each in after], workspace_id=workspace_id)
    before = [old for old, _ in changes]
    moved = [new for old, new in zip(before, after, strict=True) if old.addresses != new.addresses]
    _forget(tx, workspace_id, "contact_address", [each.id for each in moved])
    _insert_addresses(tx, workspace_id, moved)
    pairs = list(zip(before, after, strict=True))
    _forget(tx, workspace_id, "contact_tag", [new.id for old, new in pairs if old.tags != new.tags])
    _insert_tags(
        tx,
        workspace_id,
        [(tag, new.id) for old, new in pairs if old.tags != new.tags for tag in new.tags],
    )
    valued = [new for old, new in pairs if old.fields != new.fields]
    _forget(tx, workspace_id, "contact_value", [each.id for each in valued])
    _insert_values(tx, workspace_id, valued, fields)
    return after


def delete(tx: Tx, workspace_id: str, ids: Sequence[str]) -> int:
    """Remove people and everything that is theirs here; audiences are told by `audiences.leave_all`."""
    for table in ("contact_address", "contact_tag", "contact_value", "contact_note"):
        _forget(tx, workspace_id, table, ids)
    _forget(tx, workspace_id, "contact_merge", ids)
    _forget(tx, workspace_id, "contact_import_undo", ids)
    return tx.run(
        """
        DELETE FROM contact WHERE workspace_id = :workspace_id
            AND id IN (SELECT id FROM TABLE(:requested) AS asked (id text))
        """,
        requested=[(id_,) for id_ in ids],
        workspace_id=workspace_id,
    )


def _forget(tx: Tx, workspace_id: str, table: str, ids: Sequence[str]) -> None:
    if ids:
        tx.run(_FORGET[table], requested=[(id_,) for id_ in ids], workspace_id=workspace_id)


_FORGET = {
    table: (
        f"DELETE FROM {table} WHERE workspace_id = :workspace_id "  # noqa: S608 - our own names
        "AND contact_id IN (SELECT id FROM TABLE(:requested) AS asked (id text))"
    )
    for table in (
        *("contact_address", "contact_tag", "contact_value", "contact_note"),
        *("contact_merge", "contact_import_undo"),
    )
}


def _row(each: Contact) -> tuple[object, ...]:
    return (
        *(each.id, each.external_id, each.first_name, each.last_name, each.company),
        *(fold(each.first_name), fold(each.last_name), fold(each.company)),
        *(each.country, each.zone, each.zone_guessed, each.language, each.consent.value),
        *(each.consent_at, each.consent_proof, each.source, each.source_at, each.source_proof),
        *(encode_fields(each.fields), each.import_id, each.revision),
        *(each.created_at, each.updated_at, each.import_revision),
    )


def _insert_addresses(tx: Tx, workspace_id: str, people: Sequence[Contact]) -> None:
    rows = [
        (
            a.channel,
            a.address,
            a.written,
            each.id,
            n,
            a.domain,
            a.flag,
            each.import_id,
            each.updated_at,
        )
        for each in people
        for n, a in enumerate(each.addresses)
    ]
    if rows:
        tx.run(
            """
            INSERT INTO contact_address (workspace_id, channel, address, written, contact_id, position, domain,
                flag, import_id, created_at)
            SELECT :workspace_id, channel, address, written, contact_id, position, domain, flag, import_id,
                created_at
            FROM TABLE(:new) AS new (channel text, address text, written text, contact_id text,
                position integer, domain text, flag text, import_id text, created_at timestamptz)
            """,
            new=rows,
            workspace_id=workspace_id,
        )


def _insert_tags(tx: Tx, workspace_id: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        tx.run(
            """
            INSERT INTO contact_tag (workspace_id, tag, contact_id)
            SELECT :workspace_id, tag, contact_id FROM TABLE(:new) AS new (tag text, contact_id text)
            """,
            new=rows,
            workspace_id=workspace_id,
        )


def _insert_values(tx: Tx, workspace_id: str, people: Sequence[Contact], fields: Fields) -> None:
    rows = [
        (key, each.id, *filter_key(fields[key], value))
        for each in people
        for key, value in each.fields.items()
        if key in fields
    ]
    if rows:
        tx.run(
            """
            INSERT INTO contact_value (workspace_id, field, contact_id, text_value, number_value)
            SELECT :workspace_id, field, contact_id, text_value, number_value
            FROM TABLE(:new) AS new (field text, contact_id text, text_value text, number_value float8)
            """,
            new=rows,
            workspace_id=workspace_id,
        )
