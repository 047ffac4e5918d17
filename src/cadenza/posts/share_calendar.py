"""Addresses by which calendar programs read a workspace's calendar: made, listed, revoked, opened.

A calendar program cannot send a key, so its address carries a token of its own, which opens the calendar and
nothing else. Only its hash is kept. It ends when revoked or when its maker leaves the workspace.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from cadenza.db.audit import record
from cadenza.sql.tx import Row, Tx

MOST = 20  # live ones of a workspace
LOOK = timedelta(minutes=10)  # how exactly `read_at` is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """One address, without its token."""

    id: str
    name: str
    accounts: tuple[str, ...] | None
    member_id: str
    created_at: datetime
    read_at: datetime | None


@dataclass(frozen=True, slots=True)
class TooMany:
    """The workspace has enough of them."""

    message: str = f"a workspace has {MOST} calendar addresses at most: revoke one that is not used"


@dataclass(frozen=True, slots=True)
class NoSuchFeed:
    """There is none of that id."""


def feed_lock(workspace_id: str) -> list[str]:
    """Name what making one decides about: how many there are."""
    return [f"calendar_feed:{workspace_id}"]


def make_feed(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    name: str,
    token_hash: str,
    member_id: str,
    by: str,
    accounts: Sequence[str] | None = None,
) -> Feed | TooMany:
    """Keep a new address."""
    if len(list_feeds(tx, workspace_id=workspace_id)) >= MOST:
        return TooMany()
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO calendar_feed (workspace_id, id, name, token_hash, accounts, member_id, created_at)
        VALUES (:workspace_id, :id, :name, :hash, :accounts, :member_id, :now)
        """,
        workspace_id=workspace_id,
        id=id_,
        name=name,
        hash=token_hash,
        accounts=None if accounts is None else msgspec.json.encode(list(accounts)).decode(),
        member_id=member_id,
        now=now,
    )
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="calendar_feed.make",
        subject_id=id_,
        after={"name": name},
    )
    return Feed(
        id=id_,
        name=name,
        accounts=None if accounts is None else tuple(accounts),
        member_id=member_id,
        created_at=now,
        read_at=None,
    )


def list_feeds(tx: Tx, *, workspace_id: str) -> list[Feed]:
    """Return the live ones, oldest first."""
    rows = tx.all(
        f"{_LIVE} ORDER BY calendar_feed.created_at, calendar_feed.id", workspace_id=workspace_id
    )
    return [_feed(row) for row in rows]


def revoke_feed(tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str) -> Feed | NoSuchFeed:
    """End an address; whoever holds it reads nothing any more."""
    row = tx.one(f"{_LIVE} AND calendar_feed.id = :id", workspace_id=workspace_id, id=id)
    if row is None:
        return NoSuchFeed()
    tx.run(
        """
        UPDATE calendar_feed SET revoked_at = :now WHERE workspace_id = :workspace_id AND id = :id
        """,
        now=now,
        workspace_id=workspace_id,
        id=id,
    )
    record(tx, now, workspace_id=workspace_id, by=by, action="calendar_feed.revoke", subject_id=id)
    return _feed(row)


def open_feed(tx: Tx, *, workspace_id: str, token_hash: str) -> Feed | None:
    """Return the live one that the token belongs to.

    Hashes are looked up, not tokens: how long that takes tells nothing about a token.
    """
    row = tx.one(
        f"{_LIVE} AND calendar_feed.token_hash = :hash", workspace_id=workspace_id, hash=token_hash
    )
    return None if row is None else _feed(row)


def note_read(tx: Tx, now: datetime, *, workspace_id: str, id: str) -> None:
    """Keep when it was read last."""
    tx.run(
        "UPDATE calendar_feed SET read_at = :now WHERE workspace_id = :workspace_id AND id = :id",
        now=now,
        workspace_id=workspace_id,
        id=id,
    )


_LIVE = """
    SELECT calendar_feed.* FROM calendar_feed
    JOIN member ON member.workspace_id = calendar_feed.workspace_id AND member.id = calendar_feed.member_id
    WHERE calendar_feed.workspace_id = :workspace_id AND calendar_feed.revoked_at IS NULL
"""


def _feed(row: Row) -> Feed:
    accounts = row["accounts"]
    return Feed(
        id=row["id"],
        name=row["name"],
        accounts=None if accounts is None else tuple(msgspec.json.decode(accounts, type=list[str])),
        member_id=row["member_id"],
        created_at=row["created_at"],
        read_at=row["read_at"],
    )
