"""A person looked at a suspended account and says that it may send again; its lanes are looked at at once."""

from dataclasses import dataclass
from datetime import datetime

from cadenza.db.audit import record
from cadenza.deliveries import lanes
from cadenza.deliveries.resume_plan import GATES
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Lifted:
    """It may send again."""


@dataclass(frozen=True, slots=True)
class NotSuspended:
    """There is nothing to lift: the account is in another state, or not there."""

    message: str


def lift_suspension(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, by: str
) -> Lifted | NotSuspended:
    """Let a suspended account send again."""
    changed = tx.one(
        """
        UPDATE account SET state = 'connected', state_reason = NULL, blocked_at = NULL, faults = 0,
            health_since_at = :now
        WHERE workspace_id = :workspace_id AND id = :id AND state = 'suspended'
        RETURNING id
        """,
        now=now,
        workspace_id=workspace_id,
        id=account_id,
    )
    if changed is None:
        return NotSuspended("the account is not suspended")
    lanes.unpark(tx, accounts=[(workspace_id, account_id)], by=GATES)
    lanes.release_due(tx, now, workspace_id=workspace_id, account_id=account_id)
    record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="account.lift_suspension",
        subject_id=account_id,
    )
    return Lifted()
