"""Recipient channels as rows of their own: chats and channels that broadcasts go to, with their health.

A channel is a provider and an address (a username or a chat id) in its one spelling. What sending does to its
health is written by `recipient_health.py`; here people add, name, list, re-activate and remove them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.db.audit import record
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.sql.tx import Row, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientChannel:
    """A chat or channel, and how sending to it went."""

    provider: str
    id: str
    address: str
    title: str | None
    category: str | None
    active: bool
    error_count: int
    last_error: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChannel:
    """A channel to keep; None leaves what is known."""

    provider: str
    address: str
    title: str | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class ChannelsSaved:
    """How many are new, changed, and as they were."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    unchanged: int


@dataclass(frozen=True, slots=True)
class NoSuchChannel:
    """The workspace has no such recipient channel."""

    id: str


def list_channels(
    tx: Tx,
    *,
    workspace_id: str,
    provider: str | None = None,
    category: str | None = None,
    active: bool | None = None,
    after: tuple[str, str] | None = None,
    limit: int = 50,
) -> list[RecipientChannel]:
    """Return channels by provider and address, behind `after`."""
    tests = ""
    if provider is not None:
        tests += " AND provider = :provider"
    if category is not None:
        tests += " AND category = :category"
    if active is not None:
        tests += " AND active" if active else " AND NOT active"
    if after is not None:
        tests += " AND (provider, id) > (:after_provider, :after_id)"
    rows = tx.all(
        f"""
        SELECT * FROM recipient_channel WHERE workspace_id = :workspace_id{tests}
        ORDER BY provider, id LIMIT :limit
        """,  # noqa: S608 - our own words
        workspace_id=workspace_id,
        limit=limit,
        **{} if provider is None else {"provider": provider},
        **{} if category is None else {"category": category},
        **{} if after is None else {"after_provider": after[0], "after_id": after[1]},
    )
    return [_channel(row) for row in rows]


def find_channel(
    tx: Tx, *, workspace_id: str, provider: str, id_: str
) -> RecipientChannel | NoSuchChannel:
    """Return one channel."""
    found = find_channels(tx, workspace_id, [(provider, id_)])
    return found[0] if found else NoSuchChannel(id_)


def find_channels(
    tx: Tx, workspace_id: str, keys: Sequence[tuple[str, str]]
) -> list[RecipientChannel]:
    """Return those of these channels that are there."""
    rows = tx.all(
        """
        SELECT r.* FROM TABLE(:requested) AS asked (provider text, id text)
        JOIN recipient_channel r ON r.workspace_id = :workspace_id
            AND r.provider = asked.provider AND r.id = asked.id
        """,
        requested=sorted({(provider, fold_recipient(id_)) for provider, id_ in keys}),
        workspace_id=workspace_id,
    )
    return [_channel(row) for row in rows]


def save_channels(
    tx: Tx,
    now: datetime,
    new: Sequence[NewChannel],
    *,
    workspace_id: str,
    import_id: str | None = None,
) -> ChannelsSaved:
    """Keep channels, up to 5,000; those that are known get what is said of them, and keep their health."""
    requested = {(each.provider, fold_recipient(each.address)): each for each in new}
    there = {
        (each.provider, each.id): each for each in find_channels(tx, workspace_id, list(requested))
    }
    created = [key for key in requested if key not in there]
    updated = [
        key for key, each in requested.items() if key in there and _differs(there[key], each)
    ]
    tx.run(
        """
        INSERT INTO recipient_channel (workspace_id, provider, id, written, title, category, import_id,
            created_at, changed_at)
        SELECT :workspace_id, provider, id, written, title, category, import_id, :now, :now
        FROM TABLE(:new) AS new (provider text, id text, written text, title text, category text, import_id text)
        WHERE true
        ON CONFLICT (workspace_id, provider, id) DO UPDATE SET changed_at = excluded.changed_at,
            written = excluded.written, title = coalesce(excluded.title, recipient_channel.title),
            category = coalesce(excluded.category, recipient_channel.category)
        """,
        workspace_id=workspace_id,
        now=now,
        new=[
            (
                *key,
                requested[key].address.strip(),
                requested[key].title,
                requested[key].category,
                import_id if key not in there else None,
            )
            for key in (*created, *updated)
        ],
    )
    unchanged = len(new) - len(created) - len(updated)
    return ChannelsSaved(
        tuple(id_ for _, id_ in created), tuple(id_ for _, id_ in updated), unchanged
    )


def reactivate_channel(
    tx: Tx, now: datetime, *, workspace_id: str, provider: str, id_: str, by: str
) -> RecipientChannel | NoSuchChannel:
    """Let a channel be sent to again: its count begins at zero."""
    key = {"workspace_id": workspace_id, "provider": provider, "id": fold_recipient(id_)}
    changed = tx.run(
        """
        UPDATE recipient_channel SET active = true, error_count = 0, reason = NULL, changed_at = :now
        WHERE workspace_id = :workspace_id AND provider = :provider AND id = :id
        """,
        now=now,
        **key,
    )
    if not changed:
        return NoSuchChannel(id_)
    record(
        tx, now, workspace_id=workspace_id, by=by, action="channel.reactivate", subject_id=key["id"]
    )
    return find_channel(tx, workspace_id=workspace_id, provider=provider, id_=id_)


def delete_channels(tx: Tx, *, workspace_id: str, keys: Sequence[tuple[str, str]]) -> int:
    """Remove channels; what was sent to them stays in the ledger."""
    return tx.run(
        """
        DELETE FROM recipient_channel WHERE (workspace_id, provider, id) IN (
            SELECT :workspace_id, provider, id FROM TABLE(:requested) AS asked (provider text, id text)
        )
        """,
        requested=list(keys),
        workspace_id=workspace_id,
    )


def restore_channels(
    tx: Tx,
    now: datetime,
    old: Sequence[tuple[str, str, str | None, str | None, str | None]],
    *,
    workspace_id: str,
) -> None:
    """Give channels back their address, title and category; their health stays."""
    tx.run(
        """
        UPDATE recipient_channel SET written = old.written, title = old.title, category = old.category,
            changed_at = :now
        FROM TABLE(:old) AS old (provider text, id text, written text, title text, category text)
        WHERE recipient_channel.workspace_id = :workspace_id
            AND recipient_channel.provider = old.provider AND recipient_channel.id = old.id
        """,
        workspace_id=workspace_id,
        now=now,
        old=list(old),
    )


def _differs(there: RecipientChannel, new: NewChannel) -> bool:
    return (
        there.address != new.address.strip()
        or new.title not in (None, there.title)
        or new.category not in (None, there.category)
    )


def _channel(row: Row) -> RecipientChannel:
    return RecipientChannel(
        provider=row["provider"],
        id=row["id"],
        address=row["written"] or row["id"],
        title=row["title"],
        category=row["category"],
        active=bool(row["active"]),
        error_count=row["error_count"],
        last_error=row["reason"],
        created_at=row["created_at"],
        updated_at=row["changed_at"],
    )
