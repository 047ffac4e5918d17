"""Passes a queue's slot on when the delivery that holds it leaves: to another channel of its post.

One delivery a post and account holds the slot; the others stand at its instant because of it. Whoever
takes one off its instant by itself (sent now, timed by hand, canceled) calls this afterwards with the row
as it was, so that what stays is still the queue's: it moves with it and is cleared with it. Limit: the
caller has written its change; where all of a post's channels left, nobody is found and the slot is free.
"""

from collections.abc import Sequence

from cadenza.deliveries.model import Delivery
from cadenza.sql.tx import Tx


def hand_over_slots(tx: Tx, left: Sequence[Delivery]) -> None:
    """Let one that stays at the instant hold the slot, for each of these that held one."""
    gone = {
        (each.workspace_id, each.account_id, each.post_id, each.slot_at)
        for each in left
        if each.slot_at is not None and each.post_id is not None
    }
    if not gone:
        return
    tx.run(
        """
        UPDATE delivery SET slot_at = due_at
        WHERE (workspace_id, id) IN (
            SELECT stays.workspace_id, min(stays.id)
            FROM TABLE(:gone)
                AS gone (workspace_id text, account_id text, post_id text, was_at timestamptz)
            JOIN delivery AS stays ON stays.workspace_id = gone.workspace_id
                AND stays.post_id = gone.post_id AND stays.account_id = gone.account_id
                AND stays.due_at = gone.was_at
            WHERE stays.action = 'post' AND stays.slot_at IS NULL AND stays.pinned IS NULL
                AND stays.state IN ('draft', 'scheduled')
                AND NOT EXISTS (
                    SELECT 1 FROM delivery AS holder
                    WHERE holder.workspace_id = gone.workspace_id
                        AND holder.account_id = gone.account_id AND holder.slot_at = gone.was_at
                        AND holder.state IN ('draft', 'scheduled', 'sending', 'unconfirmed')
                )
            GROUP BY stays.workspace_id, gone.account_id, gone.post_id, gone.was_at
        )
        """,
        gone=sorted(gone),
    )
