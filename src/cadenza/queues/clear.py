"""Takes queued posts off the road: an account's whole queue, or one post on all its accounts.

Scheduled and draft queue deliveries become canceled, row by row under a condition: what is in a worker's
hands is reported, never touched. A post with nothing live left is a draft again by its roll-up and keeps
its approval. For ten minutes `undo` restores the instants that are still free. Clearing twice is clearing once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.slots import slot_at
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.queues import keep
from cadenza.queues.model import LIVE, NoQueue, Queue
from cadenza.sql.tx import Row, Tx

UNDO = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Cleared:
    """These are canceled, these are on their way already, and these posts are drafts again."""

    clear_id: str | None  # for `undo`; None: there was nothing to clear
    canceled: tuple[str, ...]
    on_their_way: tuple[str, ...]
    drafts: tuple[str, ...]
    undo_until: datetime | None


@dataclass(frozen=True, slots=True)
class Undone:
    """These are back at their instants; these are not, and why."""

    restored: tuple[str, ...]
    lost: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TooLate:
    """There is nothing to undo, or its ten minutes are over: nothing was changed."""

    says: str


def clear(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    by: str,
    by_hand: bool = False,
) -> Cleared | NoQueue:
    """Clear an account's queue; with `by_hand` also what a person timed."""
    queue = keep.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    return _clear(
        tx,
        now,
        workspace_id,
        by=by,
        by_hand=by_hand,
        scope="account_id = :account_id",
        account_id=account_id,
    )


def accounts_of(tx: Tx, now: datetime, *, workspace_id: str, post_id: str) -> list[str]:
    """Name the accounts whose locks `clear_post` wants."""
    rows = tx.all(
        f"""
        SELECT DISTINCT account_id FROM delivery
        WHERE workspace_id = :workspace_id AND post_id = :post_id AND state IN {LIVE}
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        post_id=post_id,
    )
    return sorted(row["account_id"] for row in rows)


def clear_post(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    post_id: str,
    by: str,
    by_hand: bool = False,
) -> Cleared:
    """Clear one post on all its accounts."""
    for account_id in accounts_of(tx, now, workspace_id=workspace_id, post_id=post_id):
        keep.lock_lane(tx, workspace_id=workspace_id, account_id=account_id)
    return _clear(
        tx, now, workspace_id, by=by, by_hand=by_hand, scope="post_id = :post_id", post_id=post_id
    )


def _clear(
    tx: Tx, now: datetime, workspace_id: str, *, by: str, by_hand: bool, scope: str, **about: str
) -> Cleared:
    clear_id = tx.new_id()
    queued = "true" if by_hand else f"({_QUEUED})"
    gone = tx.all(
        f"""
        UPDATE delivery SET state = 'canceled', reason = 'cleared from the queue', lease = lease + 1,
            clear_id = :clear_id
        WHERE workspace_id = :workspace_id AND {scope} AND action = 'post' AND {queued}
            AND state IN ('draft', 'scheduled') AND leased_until IS NULL
        RETURNING id, post_id, account_id, lane_id
        """,  # noqa: S608 - put together from constants
        clear_id=clear_id,
        workspace_id=workspace_id,
        **about,
    )
    busy = tx.all(
        f"""
        SELECT id FROM delivery
        WHERE workspace_id = :workspace_id AND {scope} AND action = 'post'
            AND state IN {LIVE} AND (leased_until IS NOT NULL OR state IN ('sending', 'unconfirmed'))
        ORDER BY due_at, id
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        **about,
    )
    on_their_way = tuple(row["id"] for row in busy)
    if not gone:
        return Cleared(None, (), on_their_way, (), None)
    lanes.refresh(tx, [(workspace_id, row["lane_id"]) for row in gone])
    _write(tx, now, workspace_id, clear_id, gone, by=by, **about)
    return Cleared(
        clear_id,
        tuple(sorted(row["id"] for row in gone)),
        on_their_way,
        _drafts_again(tx, workspace_id, gone),
        now + UNDO,
    )


# What holds a slot, or follows the one of its post that does.
_QUEUED = f"""
    slot_at IS NOT NULL OR pinned IS NOT NULL OR (post_id IS NOT NULL AND EXISTS (
        SELECT 1 FROM delivery AS leader
        WHERE leader.workspace_id = delivery.workspace_id AND leader.post_id = delivery.post_id
            AND leader.account_id = delivery.account_id AND leader.slot_at = delivery.due_at
            AND leader.state IN {LIVE}
    ))
"""  # noqa: S608 - put together from constants


def undo(tx: Tx, now: datetime, *, workspace_id: str, clear_id: str, by: str) -> Undone | TooLate:
    """Put back what was cleared, where its instant is still free and still to come."""
    cleared = tx.one(
        "SELECT * FROM queue_clear WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=workspace_id,
        id=clear_id,
    )
    if cleared is None or cleared["undone_at"] is not None:
        return TooLate("there is nothing to undo" if cleared is None else "it was undone already")
    if now > cleared["cleared_at"] + UNDO:
        return TooLate("ten minutes are over: add the posts to the queue again")
    rows = tx.all(
        """
        SELECT id, account_id, lane_id, post_id, channel, due_at, slot_at FROM delivery
        WHERE workspace_id = :workspace_id AND clear_id = :id AND state = 'canceled'
        ORDER BY due_at, id
        """,
        workspace_id=workspace_id,
        id=clear_id,
    )
    accounts = sorted({row["account_id"] for row in rows})
    for account_id in accounts:
        keep.lock_lane(tx, workspace_id=workspace_id, account_id=account_id)
    lost = {row["id"]: why for row in rows if (why := _why_not(tx, now, workspace_id, row))}
    back = [row for row in rows if row["id"] not in lost]
    tx.run(
        """
        UPDATE delivery SET state = CASE WHEN approved THEN 'scheduled' ELSE 'draft' END,
            reason = NULL, clear_id = NULL, slot_at = back.slot_at,
            pinned = CASE WHEN back.is_gone THEN 'slot removed' ELSE pinned END
        FROM TABLE(:back) AS back (id text, slot_at timestamptz, is_gone boolean)
        WHERE delivery.workspace_id = :workspace_id AND delivery.id = back.id AND state = 'canceled'
        """,
        back=_on_slots(tx, workspace_id, back),
        workspace_id=workspace_id,
    )
    lanes.refresh(tx, [(workspace_id, row["lane_id"]) for row in back])
    tx.run(
        "UPDATE queue_clear SET undone_at = :now WHERE workspace_id = :workspace_id AND id = :id",
        now=now,
        workspace_id=workspace_id,
        id=clear_id,
    )
    _rise(tx, now, workspace_id, accounts)
    _audit(tx, now, workspace_id, "queue.undo", clear_id, len(back), by=by)
    return Undone(tuple(row["id"] for row in back), tuple(lost.items()))


def undo_accounts(tx: Tx, now: datetime, *, workspace_id: str, clear_id: str) -> list[str]:
    """Name the accounts whose locks `undo` wants."""
    rows = tx.all(
        """
        SELECT DISTINCT account_id FROM delivery
        WHERE workspace_id = :workspace_id AND clear_id = :id
        """,
        workspace_id=workspace_id,
        id=clear_id,
    )
    return sorted(row["account_id"] for row in rows)


def _on_slots(
    tx: Tx, workspace_id: str, rows: Sequence[Row]
) -> list[tuple[str, datetime | None, bool]]:
    """Say of each which slot it holds again; where the schedule has none there any more it is pinned."""
    found: list[tuple[str, datetime | None, bool]] = []
    queues: dict[str, Queue | NoQueue] = {}
    for row in rows:
        account_id, at = row["account_id"], row["slot_at"]
        if account_id not in queues:
            queues[account_id] = keep.read(tx, workspace_id=workspace_id, account_id=account_id)
        queue = queues[account_id]
        stands = isinstance(queue, Queue) and at and slot_at(queue.schedule, at) is not None
        found.append((row["id"], at if stands else None, at is not None and not stands))
    return found


def _why_not(tx: Tx, now: datetime, workspace_id: str, row: Row) -> str | None:
    if row["due_at"] <= now:
        return "its time has passed"
    taken = tx.one(
        f"""
        SELECT max(CASE WHEN slot_at = :at THEN 1 ELSE 0 END) AS slot,
            max(CASE WHEN post_id = :post_id AND channel = :channel THEN 1 ELSE 0 END) AS again
        FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND state IN {LIVE}
            AND (slot_at = :at OR due_at = :at OR post_id = :post_id)
        """,  # noqa: S608 - put together from constants
        at=row["slot_at"] or row["due_at"],
        post_id=row["post_id"],
        channel=row["channel"],
        account_id=row["account_id"],
        workspace_id=workspace_id,
    )
    assert taken is not None
    if taken["again"]:
        return "it was added again meanwhile"
    return "its slot was taken meanwhile" if taken["slot"] and row["slot_at"] else None


def _drafts_again(tx: Tx, workspace_id: str, gone: Sequence[Row]) -> tuple[str, ...]:
    """Name the posts of which nothing is live, or was sent, any more."""
    posts = sorted({row["post_id"] for row in gone if row["post_id"] is not None})
    rows = tx.all(
        """
        SELECT asked.post_id FROM TABLE(:posts) AS asked (post_id text)
        WHERE NOT EXISTS (
            SELECT 1 FROM delivery
            WHERE delivery.workspace_id = :workspace_id AND delivery.post_id = asked.post_id
                AND state NOT IN ('canceled', 'skipped')
        )
        """,
        posts=[(post,) for post in posts],
        workspace_id=workspace_id,
    )
    return tuple(sorted(row["post_id"] for row in rows))


def _write(
    tx: Tx,
    now: datetime,
    workspace_id: str,
    clear_id: str,
    gone: Sequence[Row],
    *,
    by: str,
    account_id: str | None = None,
    post_id: str | None = None,
) -> None:
    tx.run(
        """
        INSERT INTO queue_clear (workspace_id, id, account_id, post_id, cleared_by, cleared_at)
        VALUES (:workspace_id, :id, :account_id, :post_id, :by, :now)
        """,
        workspace_id=workspace_id,
        id=clear_id,
        account_id=account_id,
        post_id=post_id,
        by=by,
        now=now,
    )
    _rise(tx, now, workspace_id, sorted({row["account_id"] for row in gone}))
    _audit(
        tx, now, workspace_id, "queue.clear", account_id or post_id or clear_id, len(gone), by=by
    )


def _rise(tx: Tx, now: datetime, workspace_id: str, accounts: Sequence[str]) -> None:
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


def _audit(
    tx: Tx, now: datetime, workspace_id: str, action: str, about: str, count: int, *, by: str
) -> None:
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action=action,
        subject_id=about,
        after={"deliveries": count},
    )
