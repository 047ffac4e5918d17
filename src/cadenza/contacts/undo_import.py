"""Takes an import back: removes whom it created, restores what it changed, and leaves what people changed since.

While an import writes, it keeps how things were and how it left them: of a contact the revision, of a recipient
channel its address, title and category. What is no longer as the import left it is somebody's work, and stays, also
when it was changed while the import ran. Limit: a restored contact whose old address or key somebody else took stays
as it is.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from cadenza.contacts import audiences, store
from cadenza.contacts.audiences import Member
from cadenza.contacts.fields import list_fields
from cadenza.contacts.imports import Import, NoSuchImport, find_import
from cadenza.contacts.model import Contact
from cadenza.deliveries import recipient_channels
from cadenza.deliveries.recipient_channels import RecipientChannel
from cadenza.sql.tx import Row, Tx

REMOVED, RESTORED = 5_000, 2_000  # in one transaction
ChannelKey = tuple[str, str]  # provider, id


@dataclass(frozen=True, slots=True)
class Touched:
    """A contact of others that an import changes or puts on a list: as it was, and the revision it gets."""

    before: Contact
    revision: int
    listed: bool


def keep_contacts(tx: Tx, touched: Sequence[Touched], *, workspace_id: str, import_id: str) -> None:
    """Keep how contacts were; an import that meets one again keeps how it was at first."""
    if not touched:
        return
    rows = tx.all(
        """
        SELECT u.contact_id, u.revision FROM TABLE(:requested) AS asked (id text)
        JOIN contact_import_undo u ON u.workspace_id = :workspace_id AND u.import_id = :import_id
            AND u.contact_id = asked.id
        """,
        workspace_id=workspace_id,
        import_id=import_id,
        requested=[(each.before.id,) for each in touched],
    )
    left = {row["contact_id"]: row["revision"] for row in rows}
    tx.run(
        """
        INSERT INTO contact_import_undo (workspace_id, import_id, contact_id, before, revision, listed)
        SELECT :workspace_id, :import_id, contact_id, before, revision, listed
        FROM TABLE(:new) AS new (contact_id text, before text, revision bigint, listed boolean) WHERE true
        ON CONFLICT (workspace_id, import_id, contact_id) DO UPDATE SET revision = excluded.revision,
            listed = contact_import_undo.listed OR excluded.listed
        """,
        workspace_id=workspace_id,
        import_id=import_id,
        new=[
            (
                each.before.id,
                msgspec.json.encode(each.before).decode(),
                _as_left(left.get(each.before.id), each),
                each.listed,
            )
            for each in touched
        ],
    )


def _as_left(left: int | None, each: Touched) -> int:
    """Return the revision to compare with: a contact that somebody changed in between is theirs."""
    return each.revision if left in (None, each.before.revision) else left


def keep_channels(
    tx: Tx,
    before: Collection[RecipientChannel],
    keys: Collection[ChannelKey],
    listed: Collection[ChannelKey],
    *,
    workspace_id: str,
    import_id: str,
) -> None:
    """Keep how recipient channels were, and how this chunk left them."""
    was = {(each.provider, each.id): each for each in before}
    rows = {
        (row["provider"], row["channel_id"]): row
        for row in _kept(tx, workspace_id, import_id, keys)
    }
    new: list[tuple[object, ...]] = []
    for now_is in recipient_channels.find_channels(tx, workspace_id, list(keys)):
        key = (now_is.provider, now_is.id)
        old, kept = was.get(key), rows.get(key)
        after = _values(now_is)
        if old is not None and after == _values(old) and key not in listed:
            continue
        if kept is not None and old is not None and _left(kept) != _values(old):
            after = _left(kept)  # somebody changed it in between: it is theirs
        first = (None, None, None) if old is None else _values(old)
        new.append((*key, old is None, key in listed, *first, *after))
    tx.run(
        """
        INSERT INTO channel_import_undo (workspace_id, import_id, provider, channel_id, created, listed,
            old_address, old_title, old_category, new_address, new_title, new_category)
        SELECT :workspace_id, :import_id, provider, channel_id, created, listed, old_address, old_title,
            old_category, new_address, new_title, new_category
        FROM TABLE(:new) AS new (provider text, channel_id text, created boolean, listed boolean,
            old_address text, old_title text, old_category text, new_address text, new_title text,
            new_category text)
        WHERE true
        ON CONFLICT (workspace_id, import_id, provider, channel_id) DO UPDATE SET
            listed = channel_import_undo.listed OR excluded.listed, new_address = excluded.new_address,
            new_title = excluded.new_title, new_category = excluded.new_category
        """,
        workspace_id=workspace_id,
        import_id=import_id,
        new=new,
    )


def _kept(tx: Tx, workspace_id: str, import_id: str, keys: Collection[ChannelKey]) -> list[Row]:
    return tx.all(
        """
        SELECT u.* FROM TABLE(:requested) AS asked (provider text, id text)
        JOIN channel_import_undo u ON u.workspace_id = :workspace_id AND u.import_id = :import_id
            AND u.provider = asked.provider AND u.channel_id = asked.id
        """,
        workspace_id=workspace_id,
        import_id=import_id,
        requested=list(keys),
    )


def _values(channel: RecipientChannel) -> tuple[str, str | None, str | None]:
    return channel.address, channel.title, channel.category


def _left(row: Row) -> tuple[str, str | None, str | None]:
    return row["new_address"], row["new_title"], row["new_category"]


def undo_chunk(tx: Tx, now: datetime, *, workspace_id: str, import_id: str) -> bool:
    """Take back a part of what an import did; say whether there is more."""
    there = find_import(tx, workspace_id, import_id)
    if isinstance(there, NoSuchImport) or there.state != "undoing":
        return False
    if there.kind == "channels":
        return _undo_channels(tx, now, there)
    return _remove_created(tx, there) or _restore_changed(tx, now, there)


def _remove_created(tx: Tx, there: Import) -> bool:
    home = there.workspace_id
    created = tx.all(
        """
        SELECT id, revision, import_revision, EXISTS (
            SELECT 1 FROM contact_note n WHERE n.workspace_id = :workspace_id AND n.contact_id = contact.id
        ) AS noted
        FROM contact WHERE workspace_id = :workspace_id AND import_id = :import_id AND import_id IS NOT NULL
        ORDER BY id LIMIT :limit
        """,
        workspace_id=home,
        import_id=there.id,
        limit=REMOVED,
    )
    if not created:
        return False
    kept = [
        row["id"] for row in created if row["revision"] != row["import_revision"] or row["noted"]
    ]
    gone = [row["id"] for row in created if row["id"] not in set(kept)]
    audiences.leave_all(tx, home, gone)
    store.delete(tx, home, gone)
    tx.run(
        """
        UPDATE contact SET import_id = NULL, import_revision = NULL WHERE workspace_id = :workspace_id
            AND id IN (SELECT id FROM TABLE(:kept) AS kept (id text))
        """,
        workspace_id=home,
        kept=[(id_,) for id_ in kept],
    )
    _count(tx, there, removed=len(gone), kept=len(kept))
    return True


def _restore_changed(tx: Tx, now: datetime, there: Import) -> bool:
    home = there.workspace_id
    rows = tx.all(
        """
        SELECT contact_id, before, revision, listed FROM contact_import_undo
        WHERE workspace_id = :workspace_id AND import_id = :import_id ORDER BY contact_id LIMIT :limit
        """,
        workspace_id=home,
        import_id=there.id,
        limit=RESTORED,
    )
    if not rows:
        return False
    left = {row["contact_id"]: row["revision"] for row in rows}
    decode: Any = msgspec.json.decode
    before = {row["contact_id"]: decode(row["before"], type=Contact) for row in rows}
    current = store.load(tx, home, before)
    back = [
        (now_is, replace(before[id_], revision=now_is.revision, updated_at=now))
        for id_, now_is in current.items()
        if now_is.revision == left[id_]
    ]
    back = _free(tx, home, back)
    store.update(tx, home, back, list_fields(tx, home))
    listed = [Member("contact", row["contact_id"]) for row in rows if row["listed"]]
    _leave_list(tx, now, there, listed)
    tx.run(
        """
        DELETE FROM contact_import_undo WHERE workspace_id = :workspace_id AND import_id = :import_id
            AND contact_id IN (SELECT id FROM TABLE(:requested) AS asked (id text))
        """,
        workspace_id=home,
        import_id=there.id,
        requested=[(id_,) for id_ in before],
    )
    _count(tx, there, restored=len(back), kept=len(current) - len(back))
    return True


def _free(
    tx: Tx, home: str, back: Sequence[tuple[Contact, Contact]]
) -> list[tuple[Contact, Contact]]:
    """Leave out whose old address or key is somebody else's by now."""
    taken = store.holders(
        tx, home, [(a.channel, a.address) for _, was in back for a in was.addresses]
    )
    keys = store.by_external_ids(tx, home, [was.external_id for _, was in back if was.external_id])
    return [
        (now_is, was)
        for now_is, was in back
        if all(taken.get((a.channel, a.address), was.id) == was.id for a in was.addresses)
        and keys.get(was.external_id or "", was.id) == was.id
    ]


def _undo_channels(tx: Tx, now: datetime, there: Import) -> bool:
    home = there.workspace_id
    rows = tx.all(
        """
        SELECT * FROM channel_import_undo WHERE workspace_id = :workspace_id AND import_id = :import_id
        ORDER BY provider, channel_id LIMIT :limit
        """,
        workspace_id=home,
        import_id=there.id,
        limit=REMOVED,
    )
    if not rows:
        return False
    kept = {(row["provider"], row["channel_id"]): row for row in rows}
    found = recipient_channels.find_channels(tx, home, list(kept))
    current = {(each.provider, each.id): each for each in found}
    same = [key for key, each in current.items() if _values(each) == _left(kept[key])]
    gone = [
        key
        for key in same
        if kept[key]["created"] and current[key].active and not current[key].error_count
    ]
    back = [key for key in same if not kept[key]["created"]]
    audiences.leave_all_channels(tx, home, gone)
    recipient_channels.delete_channels(tx, workspace_id=home, keys=gone)
    recipient_channels.restore_channels(
        tx,
        now,
        [
            (*key, kept[key]["old_address"], kept[key]["old_title"], kept[key]["old_category"])
            for key in back
        ],
        workspace_id=home,
    )
    listed = [
        Member("channel", id_, provider)
        for (provider, id_), row in kept.items()
        if row["listed"] and not row["created"]
    ]
    _leave_list(tx, now, there, listed)
    tx.run(
        """
        DELETE FROM channel_import_undo WHERE workspace_id = :workspace_id AND import_id = :import_id
            AND (provider, channel_id) IN (
                SELECT provider, id FROM TABLE(:requested) AS asked (provider text, id text)
            )
        """,
        workspace_id=home,
        import_id=there.id,
        requested=list(kept),
    )
    left = len(current) - len(gone) - len(back)
    _count(tx, there, removed=len(gone), restored=len(back), kept=left)
    return True


def _leave_list(tx: Tx, now: datetime, there: Import, listed: Sequence[Member]) -> None:
    audience = None if there.options is None else there.options.audience_id
    if audience is not None and listed:
        audiences.remove_members(
            tx, now, workspace_id=there.workspace_id, audience_id=audience, members=listed
        )


def _count(tx: Tx, there: Import, *, removed: int = 0, restored: int = 0, kept: int = 0) -> None:
    tx.run(
        """
        UPDATE contact_import SET removed = removed + :removed, restored = restored + :restored,
            kept = kept + :kept
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        removed=removed,
        restored=restored,
        kept=kept,
        workspace_id=there.workspace_id,
        id=there.id,
    )
