"""Gives waiting deliveries other times, and brings back canceled ones with a new time, for planners.

Fenced by what was read, as in `transition.py`: what moved on meanwhile, or is in a worker's hands, is left alone. Run
under the locks of their accounts.
"""

from collections.abc import Sequence
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes, planners
from cadenza.deliveries.model import Delivery, NewDelivery, account_scope
from cadenza.deliveries.planners import Transition
from cadenza.sql.tx import Tx


def move_due(
    tx: Tx, moves: Sequence[tuple[Delivery, datetime]], *, reason: str | None = None
) -> set[str]:
    """Move deliveries that wait and that nobody has claimed; return the ids of those that moved."""
    rows = tx.all(
        """
        UPDATE delivery SET due_at = asked.later_at, reason = coalesce(:reason, reason)
        FROM TABLE(:moves) AS asked (workspace_id text, id text, held bigint, later_at timestamptz)
        WHERE delivery.workspace_id = asked.workspace_id AND delivery.id = asked.id
            AND lease = asked.held AND state = 'scheduled' AND leased_until IS NULL
        RETURNING delivery.id
        """,
        reason=reason,
        moves=sorted((*each.key, each.lease, at) for each, at in moves),
    )
    lanes.refresh(tx, [each.lane_key for each, _ in moves])
    return {row["id"] for row in rows}


def restore(tx: Tx, now: datetime, moves: Sequence[tuple[Delivery, NewDelivery]]) -> set[str]:
    """Bring canceled deliveries back as a planner makes them now; return the ids of those that are back."""
    rows = tx.all(
        """
        UPDATE delivery SET state = 'scheduled', due_at = asked.later_at, reason = NULL, ended_at = NULL,
            lane_id = asked.lane, account_id = asked.account, content = asked.words,
            template_version_id = asked.version, recipient = asked.address, revision = revision + 1,
            attempts = 0, failures = 0, crashes = 0, prepared = NULL
        FROM TABLE(:moves) AS asked (
            workspace_id text, id text, held bigint, later_at timestamptz, lane text, account text, words text,
            version text, address text
        )
        WHERE delivery.workspace_id = asked.workspace_id AND delivery.id = asked.id
            AND lease = asked.held AND state = 'canceled' AND approved
        RETURNING delivery.id
        """,
        moves=sorted(
            (
                *each.key,
                each.lease,
                new.due_at,
                new.lane_id or account_scope(new.account_id),
                new.account_id,
                new.content,
                new.template_version_id,
                new.recipient,
            )
            for each, new in moves
        ),
    )
    back = {row["id"] for row in rows}
    planners.count(
        tx, now, [Transition(each, State.SCHEDULED) for each, _ in moves if each.id in back]
    )
    lanes.refresh(
        tx,
        [(each.workspace_id, new.lane_id or account_scope(new.account_id)) for each, new in moves],
    )
    return back
