"""Gives budgets back what a call did not use, and counts gaps from the end of a call.

Counters are derived: what is given back here is what `limits audit` would find in the ledger.
"""

from datetime import datetime, timedelta

from cadenza.core.budgets import Period, period_key
from cadenza.core.zones import get_zone
from cadenza.deliveries import lanes
from cadenza.deliveries.model import Ticket
from cadenza.sql.tx import Tx


def refund(tx: Tx, ticket: Ticket, attempt_id: str) -> None:
    """Give one back to every counted budget that the attempt took from, in the period it took it in."""
    row = tx.one(
        """
        SELECT activity.account_id, activity.action, activity.mode, activity.reserved_at, account.zone
        FROM activity JOIN account
            ON account.workspace_id = activity.workspace_id AND account.id = activity.account_id
        WHERE activity.workspace_id = :workspace_id AND activity.attempt_id = :id
        """,
        workspace_id=ticket.workspace_id,
        id=attempt_id,
    )
    if row is None:
        return
    zone = get_zone(row["zone"])
    for period in Period:
        tx.run(
            """
            UPDATE bucket SET taken = taken - 1
            WHERE workspace_id = :workspace_id AND account_id = :account_id AND action IN (:action, '*')
                AND mode = :mode AND kind = :kind AND period = :period AND taken > 0
            """,
            workspace_id=ticket.workspace_id,
            account_id=row["account_id"],
            action=row["action"],
            mode=row["mode"],
            kind=period.value,
            period=period_key(period, row["reserved_at"], zone),
        )
    # A lane that was sent to rest because this budget was full may go on with what came back.
    lanes.unpark(tx, workspace_id=ticket.workspace_id, account_id=row["account_id"], by="budgets")


def rearm_gaps(tx: Tx, ticket: Ticket, attempt_id: str, *, ended: datetime) -> None:
    """Count the minimum gap from the end of the call, as receivers see it.

    Only while the gap is this attempt's own: late evidence does not shorten what a newer call armed.
    """
    deadline: datetime = tx.value(
        "SELECT deadline_at FROM attempt WHERE workspace_id = :workspace_id AND id = :id",
        workspace_id=ticket.workspace_id,
        id=attempt_id,
    )
    for rule in tx.all(
        """
        SELECT action, amount FROM budget
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action IN (:action, '*') AND kind = 'gap'
        """,
        workspace_id=ticket.workspace_id,
        account_id=ticket.row["account_id"],
        action=ticket.row["action"],
    ):
        tx.run(
            """
            UPDATE bucket SET free_at = :free_at
            WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = :action
                AND mode = :mode AND kind = 'gap' AND period = ''
                AND (free_at IS NULL OR free_at <= :armed)
            """,
            workspace_id=ticket.workspace_id,
            account_id=ticket.row["account_id"],
            action=rule["action"],
            mode=ticket.row["mode"],
            free_at=ended + timedelta(seconds=rule["amount"]),
            armed=deadline + timedelta(seconds=rule["amount"]),
        )
