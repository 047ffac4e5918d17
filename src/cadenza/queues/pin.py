"""Pins posts whose slot is gone: they keep their instant, hold no slot, and are marked as such.

A pinned post does not move with the queue; `change` with `reflow` takes it in again. So every live row
that has a slot stands on a slot of the present schedule, and full days can be counted.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.deliveries.transition import Changes, move_posts
from cadenza.queues import store
from cadenza.queues.model import Entry, Queue
from cadenza.sql.tx import Tx


def pin(tx: Tx, now: datetime, queue: Queue, pinned: Sequence[Entry], *, why: str) -> None:
    """Let entries and their followers stay where they are without a slot."""
    ids = (id_ for entry in pinned for id_ in (entry.id, *entry.followers))
    changes = dict.fromkeys(ids, Changes(slot_at=None, pinned=why))
    move_posts(tx, now, queue.workspace_id, changes)


def pinned_entries(tx: Tx, queue: Queue, *, since: datetime) -> list[Entry]:
    """Read what is pinned, in order, a post's channels as one."""
    rows = tx.all(
        """
        SELECT id, post_id, due_at, wall_time FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND due_at >= :since AND pinned IS NOT NULL AND slot_at IS NULL
            AND state IN ('draft', 'scheduled') AND leased_until IS NULL
        ORDER BY due_at, id
        """,
        since=since,
        **store.key(queue),
    )
    found: dict[tuple[str, datetime], Entry] = {}
    for row in rows:
        key = (row["post_id"] or row["id"], row["due_at"])
        led = found.get(key)
        found[key] = (
            Entry(row["id"], row["post_id"], row["due_at"], row["wall_time"])
            if led is None
            else Entry(led.id, led.post_id, led.at, led.wall_time, (*led.followers, row["id"]))
        )
    return list(found.values())
