"""An account that lost its right to send: marked once an incident, and told in the same transaction.

Only an account that could send is marked, so however many calls are refused at once there is one
incident and one outbox row. Work that waits for it is held by the account's gate, not touched here.
"""

from datetime import datetime

from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.notices.model import EventKind
from cadenza.sql.tx import Tx


def require_reconnect(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    message: str,
    issued_at: datetime | None = None,
) -> bool:
    """Mark the account and write the notice; say whether it cannot send.

    `issued_at` tells which tokens were refused: if others have taken their place, nothing is marked.
    """
    key = {"workspace_id": workspace_id, "id": account_id}
    same = "" if issued_at is None else "AND token_issued_at = :issued_at"
    marked = tx.one(
        f"""
        UPDATE account SET state = 'needs_reconnect', state_reason = :message, lost_at = :now, reminders = 0,
            refresh_until = NULL
        WHERE workspace_id = :workspace_id AND id = :id AND state IN ('connected', 'expiring') {same}
        RETURNING provider, handle
        """,  # noqa: S608 - put together from constants
        message=message,
        now=now,
        **({} if issued_at is None else {"issued_at": issued_at}),
        **key,
    )
    if marked is None:
        state = tx.value(
            "SELECT state FROM account WHERE workspace_id = :workspace_id AND id = :id", **key
        )
        return state not in ("connected", "expiring")
    word = OutboxEvent(
        workspace_id=workspace_id,
        id=f"account:{account_id}:{now.isoformat()}:0",
        kind=EventKind.NEEDS_RECONNECT,
        subject_id=account_id,
        body={**marked, "reason": message, "held": _count_waiting(tx, workspace_id, account_id)},
    )
    write_outbox(tx, now, [word])
    return True


def _count_waiting(tx: Tx, workspace_id: str, account_id: str) -> int:
    """Count the posts that wait in the account's lane, due or not."""
    return tx.value(
        """
        SELECT count(*) FROM delivery
        WHERE workspace_id = :workspace_id AND lane_id = :lane_id
            AND state = 'scheduled' AND leased_until IS NULL
        """,
        workspace_id=workspace_id,
        lane_id=f"account:{account_id}",
    )
