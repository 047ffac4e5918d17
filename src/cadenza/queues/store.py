"""Reads and keeps a queue's own rows: its schedule, its revision, its skipped instants.

`hold` is how every changing operation begins: it locks the account's lane, so that a claim passes the
lane over while the queue is being changed and nobody else's sending waits; then it reads. The account's
zone is the queue's: there is no second one. On SQLite writers are one at a time anyway.
"""

from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any

import msgspec

from cadenza.core.weekly import WeeklySchedule, read_policies, read_times
from cadenza.core.zones import Zone, get_zone
from cadenza.queues.model import NoQueue, Queue
from cadenza.sql.tx import Row, Tx

_READ = """
    SELECT queue.*, account.zone, account.state AS account_state, lane.id AS lane_id, lane.paused,
        lane.pause_reason, lane.paused_until, lane.parked_until, lane.unresumed_until,
        lane.runnable_at,
        workspace.max_per_day AS home_max
    FROM queue
    JOIN account ON account.workspace_id = queue.workspace_id AND account.id = queue.account_id
    JOIN workspace ON workspace.id = queue.workspace_id
    JOIN lane ON lane.workspace_id = queue.workspace_id AND lane.id = 'account:' || queue.account_id
    WHERE queue.workspace_id = :workspace_id AND queue.account_id = :account_id
"""


def hold(tx: Tx, *, workspace_id: str, account_id: str) -> Queue | NoQueue:
    """Lock the account's lane, then read its queue: nothing of it is claimed until the commit."""
    lock_lane(tx, workspace_id=workspace_id, account_id=account_id)
    return read(tx, workspace_id=workspace_id, account_id=account_id)


def lock_lane(tx: Tx, *, workspace_id: str, account_id: str) -> None:
    """Let no claim look at the account until the commit; on SQLite none could anyway."""
    if tx.dialect == "postgresql":
        tx.value(
            "SELECT id FROM lane WHERE workspace_id = :workspace_id AND id = :lane_id FOR UPDATE",
            workspace_id=workspace_id,
            lane_id=f"account:{account_id}",
        )


def read(tx: Tx, *, workspace_id: str, account_id: str) -> Queue | NoQueue:
    """Read a queue as it is."""
    row = tx.one(_READ, workspace_id=workspace_id, account_id=account_id)
    if row is None:
        return NoQueue(
            account_id,
            "the account has no weekly schedule yet: give it one, or check the account's name",
        )
    return _queue(row)


@lru_cache(maxsize=4096)
def _schedule(zone: Zone, slots: str, blackouts: str, max_per_day: int | None) -> WeeklySchedule:
    """Read a schedule; the same words are the same value, and reading them takes longer than asking."""
    shape: Any = msgspec.json.decode(slots)
    return WeeklySchedule(
        zone,
        read_times(shape),
        max_per_day=max_per_day,
        blackouts=frozenset(date.fromisoformat(day) for day in msgspec.json.decode(blackouts)),
        policies=read_policies(shape),
    )


def _queue(row: Row) -> Queue:
    own = row["max_per_day"]
    cap = own if own is not None else row["home_max"]
    return Queue(
        workspace_id=row["workspace_id"],
        account_id=row["account_id"],
        lane_id=row["lane_id"],
        name=row["name"],
        schedule=_schedule(get_zone(row["zone"]), row["slots"], row["blackouts"], cap),
        own_max_per_day=own,
        enabled=bool(row["enabled"]),
        revision=row["revision"],
        tz_version=row["tz_version"],
        paused=bool(row["paused"]),
        pause_reason=row["pause_reason"],
        paused_until=row["paused_until"],
        paused_at=row["paused_at"],
        paused_by=row["paused_by"],
        parked_until=row["parked_until"],
        unresumed_until=row["unresumed_until"],
        runnable_at=row["runnable_at"],
        account_state=row["account_state"],
    )


def rise(tx: Tx, now: datetime, queue: Queue) -> int:
    """Raise the queue's revision, once for every change; return the new one."""
    return tx.value(
        """
        UPDATE queue SET revision = revision + 1, changed_at = :now
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        RETURNING revision
        """,
        now=now,
        **key(queue),
    )


def rise_all(tx: Tx, now: datetime, workspace_id: str, accounts: Sequence[str]) -> None:
    """Raise the revisions of several queues; accounts without one have none to raise."""
    tx.run(
        """
        UPDATE queue SET revision = revision + 1, changed_at = :now
        WHERE workspace_id = :workspace_id
            AND account_id IN (SELECT id FROM TABLE(:accounts) AS asked (id text))
        """,
        now=now,
        workspace_id=workspace_id,
        accounts=[(account,) for account in accounts],
    )


def skipped(tx: Tx, queue: Queue, *, since: datetime) -> frozenset[datetime]:
    """Read the instants that are excepted, from `since` on."""
    rows = tx.all(
        """
        SELECT slot_at FROM queue_skip
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND slot_at >= :since
        """,
        since=since,
        **key(queue),
    )
    return frozenset(row["slot_at"] for row in rows)


def key(queue: Queue) -> dict[str, str]:
    """Name the queue's row in a statement."""
    return {"workspace_id": queue.workspace_id, "account_id": queue.account_id}
