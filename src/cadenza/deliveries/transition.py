"""Ends deliveries that wait: cancels, misses or skips them, in one statement a batch.

A move is fenced by what was read: it is written where the state and the lease are still the same, and the fence
rises with it, so that a worker that holds the delivery writes nothing any more. What moved on meanwhile is left
alone. The answer names what moved, from where to where.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import planners
from cadenza.deliveries.model import TRANSITIONS, Delivery
from cadenza.deliveries.planners import Transition
from cadenza.sql.tx import Tx


def end_waiting(
    tx: Tx, now: datetime, waiting: Sequence[Delivery], state: State, reason: str
) -> list[Transition]:
    """End deliveries that this transaction has read, for a reason; return those that still were so.

    The caller says again when their lanes may be looked at (`lanes.refresh`, `settle_lanes`).
    """
    for each in waiting:
        assert (each.state, state) in TRANSITIONS, f"{each.state} does not become {state}"
    if not waiting:
        return []
    rows = tx.all(
        """
        UPDATE delivery SET state = :state, reason = :reason, ended_at = :now, lease = lease + 1,
            leased_until = NULL, worker = NULL, slot_at = CASE WHEN :state = 'skipped' THEN NULL ELSE slot_at END
        FROM TABLE(:waiting) AS asked (workspace_id text, id text, held bigint, was text)
        WHERE delivery.workspace_id = asked.workspace_id AND delivery.id = asked.id
            AND lease = asked.held AND state = asked.was
        RETURNING delivery.workspace_id, delivery.id
        """,
        state=state.value,
        reason=reason,
        now=now,
        waiting=sorted((*each.key, each.lease, each.state.value) for each in waiting),
    )
    moved = {(row["workspace_id"], row["id"]) for row in rows}
    ended = [Transition(each, state) for each in waiting if each.key in moved]
    planners.count(tx, now, ended)
    return ended
