"""Cancels what an account that goes away had still to send, with the reason, in batches.

Conditional row by row: what is in a worker's hands is reported, not touched; the account's gate cancels it
before its call, and whatever else a batch did not reach. What was sent or is unconfirmed stays as it is.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import lanes
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import end_waiting
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

BATCH = 500


@dataclass(frozen=True, slots=True)
class Canceled:
    """How many were canceled now, are in a worker's hands, and wait for the next batch."""

    now: int
    in_hand: int
    left: int


def cancel_account(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, reason: str
) -> Canceled:
    """Cancel one batch of an account's drafts and scheduled deliveries."""
    key = {"workspace_id": workspace_id, "account_id": account_id}
    skip_locked = "FOR UPDATE SKIP LOCKED" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND state IN ('draft', 'scheduled') AND leased_until IS NULL
        ORDER BY due_at LIMIT :batch {skip_locked}
        """,  # noqa: S608 - put together from constants
        batch=BATCH,
        **key,
    )
    canceled = end_waiting(
        tx,
        now,
        read_values(Delivery, rows),
        State.CANCELED,
        Reason.of(Code.CANCELED, message=reason),
    )
    lanes.refresh(tx, [each.delivery.lane_key for each in canceled])
    rest = tx.one(
        """
        SELECT count(CASE WHEN leased_until IS NOT NULL THEN 1 END) AS in_hand,
            count(CASE WHEN leased_until IS NULL THEN 1 END) AS remaining
        FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND state IN ('draft', 'scheduled', 'sending')
        """,
        **key,
    )
    assert rest is not None
    return Canceled(len(canceled), rest["in_hand"], rest["remaining"])
