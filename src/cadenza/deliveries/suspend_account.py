"""Stops an account that would only do itself harm by going on, and tells people; once an incident.

Two things do that: many recipients in a row that cannot be reached, and a network that blocks the account a
second time without a success between. What waits is held by the account's gate until a person lifts it.
"""

from datetime import datetime
from typing import Any

from cadenza.db.write_outbox import OutboxEvent, write_outbox
from cadenza.notices.model import EventKind
from cadenza.sql.tx import Tx


def suspend_account(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, reason: str
) -> bool:
    """Suspend an account that can send; say whether it could."""
    found = tx.one(
        """
        UPDATE account SET state = 'suspended', state_reason = :reason
        WHERE workspace_id = :workspace_id AND id = :account_id AND state IN ('connected', 'expiring')
        RETURNING provider, handle
        """,
        reason=reason,
        workspace_id=workspace_id,
        account_id=account_id,
    )
    if found is None:
        return False
    word = OutboxEvent(
        workspace_id=workspace_id,
        id=f"account:{account_id}:{now.isoformat()}:suspended",
        kind=EventKind.SUSPENDED,
        subject_id=account_id,
        body={**found, "reason": reason},
    )
    write_outbox(tx, now, [word])
    return True


def note_block(tx: Tx, now: datetime, *, workspace_id: str, account_id: str, message: str) -> None:
    """Remember that a network blocked the account; suspend it if it did so before and nothing went out since."""
    account: dict[str, Any] = {"workspace_id": workspace_id, "account_id": account_id}
    before = tx.value(
        "SELECT blocked_at FROM account WHERE workspace_id = :workspace_id AND id = :account_id",
        **account,
    )
    tx.run(
        """
        UPDATE account SET blocked_at = :now
        WHERE workspace_id = :workspace_id AND id = :account_id
        """,
        now=now,
        **account,
    )
    if before is None:
        _tell_limited(tx, now, message=message, **account)
        return
    well = tx.one(
        """
        SELECT id FROM activity WHERE workspace_id = :workspace_id AND account_id = :account_id
            AND state = 'success' AND reserved_at > :before LIMIT 1
        """,
        before=before,
        **account,
    )
    if well is None:
        suspend_account(tx, now, reason=f"the network blocked it again: {message}", **account)
    else:
        _tell_limited(tx, now, message=message, **account)


def _tell_limited(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, message: str
) -> None:
    found = tx.one(
        "SELECT provider, handle FROM account WHERE workspace_id = :workspace_id AND id = :account_id",
        workspace_id=workspace_id,
        account_id=account_id,
    )
    event = OutboxEvent(
        workspace_id=workspace_id,
        id=f"account:{account_id}:{now.isoformat()}:limited",
        kind=EventKind.LIMITED,
        subject_id=account_id,
        body={**(found or {}), "reason": message},
    )
    write_outbox(tx, now, [event])
