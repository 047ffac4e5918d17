"""Cancels queued posts: an account's whole queue, or one post on all its accounts.

Scheduled and draft queue deliveries become canceled, row by row under a condition: what is in a worker's
hands is reported, never touched. A post with nothing live left is a draft again by its roll-up and keeps
its approval. For ten minutes `undo.py` restores the instants that are still free. Clearing twice is clearing once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.core.rollup import DeliveryState as State
from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import Changes, move_posts
from cadenza.queues import store
from cadenza.queues.model import LIVE, NoQueue
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
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
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
        store.lock_lane(tx, workspace_id=workspace_id, account_id=account_id)
    return _clear(
        tx, now, workspace_id, by=by, by_hand=by_hand, scope="post_id = :post_id", post_id=post_id
    )


def _clear(
    tx: Tx, now: datetime, workspace_id: str, *, by: str, by_hand: bool, scope: str, **about: str
) -> Cleared:
    clear_id = tx.new_id()
    queued = "true" if by_hand else f"({_QUEUED})"
    waiting = tx.all(
        f"""
        SELECT id, post_id, account_id, lane_id FROM delivery
        WHERE workspace_id = :workspace_id AND {scope} AND action = 'post' AND {queued}
            AND state IN ('draft', 'scheduled') AND leased_until IS NULL
        """,  # noqa: S608 - put together from constants
        workspace_id=workspace_id,
        **about,
    )
    changes = Changes(reason=Reason.of(Code.CLEARED), clear_id=clear_id)
    ids = dict.fromkeys((row["id"] for row in waiting), changes)
    moved = move_posts(tx, now, workspace_id, ids, to=State.CANCELED)
    gone = [row for row in waiting if row["id"] in moved]
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
    store.rise_all(tx, now, workspace_id, sorted({row["account_id"] for row in gone}))
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="queue.clear",
        subject_id=account_id or post_id or clear_id,
        after={"deliveries": len(gone)},
    )
