"""An account that was lost, and that the network says is signed in again: its credentials are good as they are.

Only for networks where people sign in elsewhere (Unipile). Others bring new credentials: `connect.py`.
"""

from datetime import datetime

from cadenza.sql.tx import Tx


def recover(tx: Tx, now: datetime, *, workspace_id: str, account_id: str) -> bool:
    """Mark a lost account as connected; say whether it was lost."""
    return (
        tx.run(
            """
            UPDATE account SET state = 'connected', state_reason = NULL, lost_at = NULL, reminders = 0,
                refresh_until = NULL, refresh_after_at = NULL, token_refreshed_at = NULL, token_issued_at = :now
            WHERE workspace_id = :workspace_id AND id = :id AND state = 'needs_reconnect' AND sealed IS NOT NULL
            """,
            now=now,
            workspace_id=workspace_id,
            id=account_id,
        )
        > 0
    )
