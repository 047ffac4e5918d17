"""Seals everything that is sealed with the newest key, in batches, so that an old key can be dropped.

`PLACES` names every column that holds something sealed: accounts, webhooks, second factors, letters on
their way, people who are expected back from a network, mailboxes and sources of the inbox. Each change is conditional on the text that was
read: whoever wrote meanwhile wins, and sealed with a key of the file anyway. What no key at hand opens is
left as it is, counted, and never in the way of the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from cadenza.accounts.open import (
    connecting_row,
    import_row,
    inbound_row,
    mailbox_row,
    row_name,
)
from cadenza.accounts.seal import CannotOpen, Keyring
from cadenza.notices.preferences import webhook_row, webhook_url_row
from cadenza.people.change_password import email_row
from cadenza.people.second_factor import row_name as factor_row
from cadenza.sql.transactions import Operation, Operations
from cadenza.sql.tx import Row, Tx

BATCH = 200


def _whole(text: str) -> str:
    return text


def _instead(_text: str, sealed: str) -> str:
    return sealed


def _of_email(text: str) -> str | None:
    return msgspec.json.decode(text, type=dict[str, Any]).get("sealed")


def _into_email(text: str, sealed: str) -> str:
    said = msgspec.json.decode(text, type=dict[str, Any])
    return msgspec.json.encode({**said, "sealed": sealed}).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedColumn:
    """A column that holds sealed texts, and how one is found in it."""

    table: str
    keys: tuple[str, ...]
    column: str
    row: Callable[[Row], str]  # the name that it was sealed for
    only: str = "true"
    find: Callable[[str], str | None] = _whole
    put: Callable[[str, str], str] = _instead


PLACES: tuple[SealedColumn, ...] = (
    SealedColumn(
        table="account",
        keys=("workspace_id", "id"),
        column="sealed",
        row=lambda row: row_name(row["workspace_id"], row["id"]),
    ),
    SealedColumn(
        table="webhook",
        keys=("workspace_id", "id"),
        column="sealed",
        row=lambda row: webhook_row(row["workspace_id"], row["id"]),
    ),
    SealedColumn(
        table="webhook",
        keys=("workspace_id", "id"),
        column="sealed_url",
        row=lambda row: webhook_url_row(row["workspace_id"], row["id"]),
    ),
    SealedColumn(
        table="person",
        keys=("id",),
        column="totp_sealed",
        row=lambda row: factor_row(row["id"]),
    ),
    SealedColumn(
        table="outbox",
        keys=("workspace_id", "id"),
        column="body",
        row=lambda row: email_row(row["id"]),
        only="kind LIKE 'person.%'",
        find=_of_email,
        put=_into_email,
    ),
    SealedColumn(
        table="connecting",
        keys=("workspace_id", "state_hash"),
        column="sealed",
        row=lambda row: connecting_row(row["workspace_id"], row["state_hash"]),
    ),
    SealedColumn(
        table="mailbox",
        keys=("workspace_id", "account_id"),
        column="sealed",
        row=lambda row: mailbox_row(row["workspace_id"], row["account_id"]),
    ),
    SealedColumn(
        table="mailbox_import_row",
        keys=("workspace_id", "import_id", "number"),
        column="sealed",
        row=lambda row: import_row(row["workspace_id"], row["import_id"], row["number"]),
    ),
    SealedColumn(
        table="inbound_source",
        keys=("workspace_id", "id"),
        column="sealed",
        row=lambda row: inbound_row(row["workspace_id"], row["id"]),
    ),
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction did: how many were sealed again, what no key opens, where to go on."""

    sealed: int
    lost: tuple[str, ...]
    after: tuple[str, ...] | None  # None: that was the last


@dataclass(slots=True)
class Rotated:
    """How many of each table were sealed again, and the rows that no key at hand opens."""

    sealed: dict[str, int] = field(default_factory=dict[str, int])
    lost: list[str] = field(default_factory=list[str])

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.sealed.values())


def rotate_batch(
    tx: Tx,
    now: datetime,
    *,
    ring: Keyring,
    place: SealedColumn,
    after: Sequence[str] | None = None,
    limit: int = BATCH,
) -> Batch:
    """Look at up to `limit` rows of a place behind `after`; seal again what an older key sealed."""
    rows = _read(tx, place, after, limit)
    changes: list[Mapping[str, Any]] = []
    lost: list[str] = []
    for row in rows:
        sealed = place.find(row[place.column])
        if sealed is None or not ring.needs_resealing(sealed):
            continue
        name = place.row(row)
        try:
            resealed = ring.seal(ring.open(sealed, row=name), row=name)
        except CannotOpen:
            lost.append(name)
            continue
        text = place.put(row[place.column], resealed)
        changes.append({**row, "before": row[place.column], "becomes": text})
    same = " AND ".join(f"{key} = :{key}" for key in place.keys)
    done = tx.run_each(
        f"UPDATE {place.table} SET {place.column} = :becomes WHERE {same} AND {place.column} = :before",  # noqa: S608 - of `PLACES`
        [{name: each[name] for name in (*place.keys, "before", "becomes")} for each in changes],
    )
    last = tuple(rows[-1][key] for key in place.keys) if len(rows) == limit else None
    return Batch(done, tuple(lost), last)


def _read(tx: Tx, place: SealedColumn, after: Sequence[str] | None, limit: int) -> list[Row]:
    keys = ", ".join(place.keys)
    behind = ", ".join(f":after_{key}" for key in place.keys)
    onward = f"AND ({keys}) > ({behind})" if after is not None else ""
    return tx.all(
        f"""
        SELECT {keys}, {place.column} FROM {place.table}
        WHERE {place.column} IS NOT NULL AND {place.only} {onward}
        ORDER BY {keys} LIMIT :limit
        """,  # noqa: S608 - of `PLACES`
        limit=limit,
        **{f"after_{key}": value for key, value in zip(place.keys, after or (), strict=False)},
    )


async def rotate_all(operations: Operations, ring: Keyring, *, limit: int = BATCH) -> Rotated:
    """Seal everything again, a batch a transaction."""
    rotated = Rotated()
    for place in PLACES:
        after: tuple[str, ...] | None = None
        while True:
            batch = await operations.run(_from(ring, place, after, limit))
            rotated.sealed[place.table] = rotated.sealed.get(place.table, 0) + batch.sealed
            rotated.lost += batch.lost
            if (after := batch.after) is None:
                break
    return rotated


def _from(
    ring: Keyring, place: SealedColumn, after: tuple[str, ...] | None, limit: int
) -> Operation[Batch]:
    return lambda tx, now: rotate_batch(tx, now, ring=ring, place=place, after=after, limit=limit)
