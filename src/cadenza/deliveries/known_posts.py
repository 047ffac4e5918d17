"""Which posts of an account are known to be other deliveries'? They are never taken for one that is looked for.

Two deliveries may say the same at the same time; when one reply is lost, the other's post must not pass for it.
Limit: what the ledger no longer holds, or never knew (a person's own post), is not here.
"""

from datetime import timedelta

from cadenza.deliveries.reconcile import UnconfirmedAttempt
from cadenza.sql.tx import Tx

BEFORE = timedelta(hours=2)  # the attempt: as far back as an adapter looks
MOST = 1000


def known_posts(tx: Tx, unconfirmed: UnconfirmedAttempt) -> frozenset[str]:
    """Return the remote ids that other deliveries of the account have, from about the attempt's time on."""
    delivery = unconfirmed.ticket.delivery
    rows = tx.all(
        """
        SELECT attempt.remote_id FROM activity
        JOIN attempt ON attempt.workspace_id = activity.workspace_id AND attempt.id = activity.attempt_id
        WHERE activity.workspace_id = :workspace_id AND activity.account_id = :account_id
            AND activity.action = :action AND activity.reserved_at >= :since
            AND attempt.delivery_id <> :id AND attempt.remote_id IS NOT NULL
        ORDER BY activity.reserved_at LIMIT :most
        """,
        workspace_id=unconfirmed.ticket.workspace_id,
        account_id=delivery.account_id,
        action=delivery.action.value,
        since=unconfirmed.attempt.began_at - BEFORE,
        id=unconfirmed.ticket.id,
        most=MOST,
    )
    return frozenset(each["remote_id"] for each in rows)
