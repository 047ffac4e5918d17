"""Says again what the clock shows at the instants of an account's posts, once its zone is another one.

No instant changes here: what stands on a slot takes that slot's words, everything else what the new clock
shows then. A post that a person timed in a zone of their own keeps their words. Limit: what is on its way
or over keeps the words that it had.
"""

from datetime import datetime

from cadenza.core.slots import slot_at
from cadenza.deliveries.transition import Changes, move_posts
from cadenza.queues import store
from cadenza.queues.model import Queue, clock_text, wall_text
from cadenza.sql.tx import Row, Tx


def rewrite_wall_times(tx: Tx, now: datetime, queue: Queue, *, was: str) -> int:
    """Write wall time and zone of coming posts whose zone was the account's; return how many changed."""
    rows = tx.all(
        """
        SELECT id, due_at, slot_at, wall_time, zone FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND due_at >= :now AND state IN ('draft', 'scheduled')
            AND (zone = :was OR slot_at IS NOT NULL OR pinned IS NOT NULL)
        """,
        now=now,
        was=was,
        **store.key(queue),
    )
    zone = queue.schedule.zone.name
    changes = {
        row["id"]: Changes(wall_time=wall, zone=zone)
        for row in rows
        for wall in [_words(queue, row)]
        if (wall, zone) != (row["wall_time"], row["zone"])
    }
    return len(move_posts(tx, now, queue.workspace_id, changes))


def _words(queue: Queue, row: Row) -> str:
    at = row["slot_at"] or row["due_at"]
    slot = slot_at(queue.schedule, at)
    return clock_text(at, queue.schedule) if slot is None else wall_text(slot)
