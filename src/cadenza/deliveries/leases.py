"""Leases: who holds a delivery, by which number, and until when. The only place that writes them, but for moves.

A claim raises the number and hands it out; every later write of the holder is fenced by it. What is given back,
extended or let run out keeps its number; a move by anybody else (`transition.py`) raises it.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import TypeAlias

from cadenza.deliveries.model import COLUMNS
from cadenza.sql.tx import Row, Tx

Fence: TypeAlias = tuple[str, str, int]  # a workspace, a delivery and its lease


def lease_found(name: str) -> str:
    """Write how a claim leases what the table of this name found, until `:until`, for `:worker`."""
    return f"""
        UPDATE delivery SET lease = lease + 1, leased_until = :until, worker = :worker
        FROM {name} WHERE delivery.workspace_id = {name}.workspace_id AND delivery.id = {name}.id
        RETURNING {COLUMNS}
    """  # noqa: S608 - put together from constants


def give_back(tx: Tx, held: Iterable[Fence]) -> set[Fence]:
    """Let go of what was claimed and not permitted; return what still was held so."""
    rows = tx.all(
        """
        UPDATE delivery SET leased_until = NULL, worker = NULL
        FROM TABLE(:held) AS given (workspace_id text, id text, held bigint)
        WHERE delivery.workspace_id = given.workspace_id AND delivery.id = given.id AND lease = held
            AND leased_until IS NOT NULL AND state = 'scheduled'
        RETURNING delivery.workspace_id, delivery.id, lease
        """,
        held=sorted(held),
    )
    return _fences(rows)


def extend(tx: Tx, held: Iterable[Fence], *, until: datetime) -> set[Fence]:
    """Keep what is still held; return it."""
    rows = tx.all(
        """
        UPDATE delivery SET leased_until = :until
        FROM TABLE(:held) AS kept (workspace_id text, id text, held bigint)
        WHERE delivery.workspace_id = kept.workspace_id AND delivery.id = kept.id AND lease = held
            AND leased_until IS NOT NULL
        RETURNING delivery.workspace_id, delivery.id, lease
        """,
        until=until,
        held=sorted(held),
    )
    return _fences(rows)


def end_all(tx: Tx, now: datetime) -> None:
    """Let every lease run out: its holders are of another time. What they were about to call is due now."""
    tx.run(
        """
        UPDATE delivery SET due_at = CASE WHEN due_at > :now AND state = 'scheduled' THEN :now ELSE due_at END,
            leased_until = CASE WHEN leased_until > :now THEN :now ELSE leased_until END
        WHERE leased_until IS NOT NULL
        """,
        now=now,
    )


def _fences(rows: Iterable[Row]) -> set[Fence]:
    return {(row["workspace_id"], row["id"], row["lease"]) for row in rows}
