"""Whom a workspace must not write to: addresses, domains and handles, on one channel or on all.

The delivery pipeline's gate reads these rows in the transaction of each permit. A suppression waits for permits that
are being given and holds up the next ones until it is committed, so after its commit there is none for that person.
Rows are never changed: each reason has its own, and a removal is written into the audit log with who and why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from cadenza.contacts.addresses import EMAIL, is_host, read_address
from cadenza.contacts.model import Invalid
from cadenza.db.audit import Entry, record_all
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_value

ALL = "all"
MOST_ROWS = 1_000  # of one request
_LONGEST = 320  # bytes: a cursor holds one


class SuppressionKind(StrEnum):
    """What is suppressed."""

    ADDRESS = "address"
    DOMAIN = "domain"
    HANDLE = "handle"


class SuppressionReason(StrEnum):
    """Why nobody may write there."""

    UNSUBSCRIBE = "unsubscribe"
    COMPLAINT = "complaint"
    HARD_BOUNCE = "hard_bounce"
    MANUAL = "manual"
    ERASURE = "erasure"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSuppression:
    """One that is read and folded: `read_suppression` makes it."""

    kind: SuppressionKind
    value: str
    channel: str = ALL
    reason: SuppressionReason = SuppressionReason.MANUAL
    note: str = ""


class Suppression(Struct, frozen=True):
    """A row of `suppression`."""

    kind: SuppressionKind
    value: str
    channel: str
    reason: SuppressionReason
    note: str
    created_by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Those that are new, in the order given; the others were there."""

    added: tuple[NewSuppression, ...]
    there_already: int


Place = tuple[datetime, str, str, str, str]  # where a page ended


def read_suppression(
    kind: SuppressionKind,
    text: str,
    *,
    channel: str = ALL,
    reason: SuppressionReason = SuppressionReason.MANUAL,
    note: str = "",
) -> NewSuppression | Invalid:
    """Read what is to be suppressed into the one spelling that the pipeline compares with."""
    value: str | Invalid
    if kind is SuppressionKind.ADDRESS:
        value = _address(EMAIL, text) if channel in (ALL, EMAIL) else _not_mail(channel)
    elif kind is SuppressionKind.DOMAIN:
        value = _domain(text) if channel in (ALL, EMAIL) else _not_mail(channel)
    elif channel == EMAIL:
        value = Invalid("kind", "not_a_handle", "mail goes to an address or a domain")
    else:
        value = _address("handle" if channel == ALL else channel, text)
    if isinstance(value, Invalid):
        return value
    if kind is SuppressionKind.HANDLE:
        value = value.removeprefix("@")
    if not value or len(value.encode()) > _LONGEST:
        return Invalid("value", "bad_value", f"1 to {_LONGEST} bytes")
    return NewSuppression(kind=kind, value=value, channel=channel, reason=reason, note=note)


def _address(channel: str, text: str) -> str | Invalid:
    found = read_address(channel, text)
    if isinstance(found, Invalid):
        column = "channel" if found.column == "channel" else "value"
        return Invalid(column, found.code, found.message)
    return found.address


def _domain(text: str) -> str | Invalid:
    domain = text.strip().removeprefix("@").casefold().rstrip(".")
    if not is_host(domain):
        return Invalid("value", "bad_domain", "a domain such as example.org")
    return domain


def _not_mail(channel: str) -> Invalid:
    return Invalid("channel", "not_mail", f"{channel} has handles: suppress a handle there")


def suppress(
    tx: Tx, now: datetime, new: Sequence[NewSuppression], *, workspace_id: str, by: str
) -> Suppressed:
    """Add up to 1,000 suppressions; from the commit on no permit is given against them."""
    requested = {(each.kind, each.value, each.channel, each.reason): each for each in new}
    if not requested:
        return Suppressed((), 0)
    exclude_permits(tx, workspace_id)
    rows = tx.all(
        """
        INSERT INTO suppression (workspace_id, kind, value, channel, reason, note, created_by, created_at)
        SELECT :workspace_id, kind, value, channel, reason, note, :by, :now
        FROM TABLE(:new) AS new (kind text, value text, channel text, reason text, note text)
        WHERE true
        ON CONFLICT (workspace_id, kind, value, channel, reason) DO NOTHING
        RETURNING kind, value, channel, reason
        """,
        workspace_id=workspace_id,
        by=by,
        now=now,
        new=[
            (each.kind.value, each.value, each.channel, each.reason.value, each.note)
            for _, each in sorted(requested.items(), key=lambda item: item[0])
        ],
    )
    written = {(row["kind"], row["value"], row["channel"], row["reason"]) for row in rows}
    added = tuple(each for key, each in requested.items() if key in written)
    record_all(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="suppression.add",
        entries=[Entry(each.value, after=_told(each)) for each in added],
    )
    return Suppressed(added, len(requested) - len(added))


def remove_suppression(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    new: NewSuppression,
    by: str,
    why: str,
    reason: SuppressionReason | None = None,
) -> int:
    """Remove what suppresses this kind, value and channel, for one reason or all; return how many rows."""
    rows = tx.all(
        """
        DELETE FROM suppression
        WHERE workspace_id = :workspace_id AND kind = :kind AND value = :value AND channel = :channel
            AND (:reason = '' OR reason = :reason)
        RETURNING kind, value, channel, reason, note, created_by, created_at
        """,
        workspace_id=workspace_id,
        kind=new.kind.value,
        value=new.value,
        channel=new.channel,
        reason="" if reason is None else reason.value,
    )
    gone = [read_value(Suppression, row) for row in rows]
    record_all(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="suppression.remove",
        entries=[
            Entry(
                each.value,
                before={**_told(each), "since": each.created_at.isoformat()},
                after={"why": why},
            )
            for each in gone
        ],
    )
    return len(gone)


def find_suppression(tx: Tx, *, workspace_id: str, new: NewSuppression) -> Suppression:
    """Return the row that says this; it is there since `suppress`."""
    row = tx.one(
        """
        SELECT kind, value, channel, reason, note, created_by, created_at FROM suppression
        WHERE workspace_id = :workspace_id AND kind = :kind AND value = :value AND channel = :channel
            AND reason = :reason
        """,
        workspace_id=workspace_id,
        kind=new.kind.value,
        value=new.value,
        channel=new.channel,
        reason=new.reason.value,
    )
    assert row is not None, "it was written in this transaction or before"
    return read_value(Suppression, row)


def list_suppressions(
    tx: Tx,
    *,
    workspace_id: str,
    kind: SuppressionKind | None = None,
    channel: str | None = None,
    reason: SuppressionReason | None = None,
    starts: str = "",
    after: Place | None = None,
    limit: int = 50,
) -> list[Suppression]:
    """List them, newest first; `starts`: how their values begin."""
    conditions: list[str] = []
    params: dict[str, Any] = {"workspace_id": workspace_id, "limit": limit}
    for column, wanted in (("kind", kind), ("channel", channel), ("reason", reason)):
        if wanted is not None:
            conditions.append(f"{column} = :{column}")
            params[column] = str(wanted)
    if starts:
        conditions.append("substr(value, 1, :length) = :starts")
        folded = starts.strip().casefold()
        params |= {"starts": folded, "length": len(folded)}
    if after is not None:
        conditions.append(
            "(created_at, kind, value, channel, reason) < (:at, :at_kind, :at_value, :at_channel, :at_reason)"
        )
        names = ("at", "at_kind", "at_value", "at_channel", "at_reason")
        params |= dict(zip(names, after, strict=True))
    rows = tx.all(
        f"""
        SELECT kind, value, channel, reason, note, created_by, created_at FROM suppression
        WHERE workspace_id = :workspace_id {"".join(f" AND {each}" for each in conditions)}
        ORDER BY created_at DESC, kind DESC, value DESC, channel DESC, reason DESC LIMIT :limit
        """,  # noqa: S608 - put together from constants
        **params,
    )
    return [read_value(Suppression, row) for row in rows]


def place_of(each: Suppression) -> tuple[datetime, str]:
    """Return where a page ends after this one, as cursors hold it."""
    key = [each.kind, each.value, each.channel, each.reason]
    return each.created_at, msgspec.json.encode(key).decode()


def read_place(at: datetime, key: str) -> Place | None:
    """Read where a page ended; None: no such place was ever given out."""
    try:
        kind, value, channel, reason = msgspec.json.decode(key, type=tuple[str, str, str, str])
    except msgspec.DecodeError:
        return None
    return at, kind, value, channel, reason


def exclude_permits(tx: Tx, workspace_id: str) -> None:
    """Let no permit of the workspace be between its reading and its commit; on SQLite none can be.

    A permit holds its workspace's row FOR SHARE before it reads suppressions.
    """
    if tx.dialect == "postgresql":
        tx.run("SELECT id FROM workspace WHERE id = :id FOR NO KEY UPDATE", id=workspace_id)


def _told(each: NewSuppression | Suppression) -> dict[str, str]:
    return {"kind": each.kind, "channel": each.channel, "reason": each.reason}
