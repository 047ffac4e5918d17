"""Lets an account go: its tokens are wiped, it can never send, its row stays for the history.

The account's scheduled deliveries are canceled by `deliveries/cancel_account.py`, which the caller runs
in the same transaction. Limit: the network is not told; whoever wants the grant gone revokes it there.
"""

from datetime import datetime

from cadenza.sql.tx import Tx


def disconnect(tx: Tx, now: datetime, *, workspace_id: str, account_id: str, reason: str) -> bool:
    """Wipe and disable; say whether the account was there and not yet disabled."""
    changed = tx.run(
        """
        UPDATE account SET state = 'disabled', state_reason = :reason, sealed = NULL, token_expires_at = NULL,
            token_issued_at = NULL, token_refreshed_at = NULL, refresh_until = NULL, refresh_after_at = NULL,
            refresh_lease = refresh_lease + 1, lost_at = NULL, reminders = 0
        WHERE workspace_id = :workspace_id AND id = :id AND state <> 'disabled'
        """,
        reason=reason,
        workspace_id=workspace_id,
        id=account_id,
    )
    return changed == 1
