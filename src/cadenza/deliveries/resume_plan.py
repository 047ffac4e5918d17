"""After a reconnect the account sends again; what came due meanwhile waits until a person says what becomes of it.

`reopen` ends what held the account's lanes, and marks how far what came due reaches: up to there deliveries
wait for the resume choice (`queues/resume.py`), later ones go as usual. Whoever gives a held delivery another
time, or sends it now, frees it. `find_stuck` names accounts that can send and whose lanes nobody has opened.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.deliveries import lanes
from cadenza.sql.tx import Tx

SPACING = timedelta(minutes=5)
GATES = (lanes.RECONNECT, "account")  # who parks lanes for want of a connected account
CAN_SEND = ("connected", "expiring")


@dataclass(frozen=True, slots=True)
class HeldDeliveries:
    """Deliveries that wait for a resume choice, oldest first; none: there is nothing to choose."""

    held: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotConnected:
    """The account cannot send: nothing was changed."""

    state: str


def reopen(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str
) -> HeldDeliveries | NotConnected:
    """Let an account that was connected again send, but for what came due while it could not."""
    key = {"workspace_id": workspace_id, "account_id": account_id}
    state: str | None = tx.value(
        "SELECT state FROM account WHERE workspace_id = :workspace_id AND id = :account_id", **key
    )
    if state not in CAN_SEND:
        return NotConnected(state or "unknown")
    lanes.hold_due(tx, now, **key)
    lanes.unpark(tx, accounts=[(workspace_id, account_id)], by=GATES)
    held = _held(tx, now, workspace_id, account_id)
    if not held:
        lanes.release_due(tx, now, **key)
    return HeldDeliveries(held)


def count_held(tx: Tx, *, workspace_id: str) -> dict[str, int]:
    """Count by account what waits for a resume choice."""
    rows = tx.all(
        """
        SELECT lane.account_id, count(*) AS held FROM lane JOIN delivery
            ON delivery.workspace_id = lane.workspace_id AND delivery.lane_id = lane.id
        WHERE lane.workspace_id = :workspace_id AND unresumed_until IS NOT NULL
            AND lane.account_id IS NOT NULL
            AND state = 'scheduled' AND leased_until IS NULL AND due_at < unresumed_until
        GROUP BY lane.account_id
        """,
        workspace_id=workspace_id,
    )
    return {row["account_id"]: row["held"] for row in rows}


def find_stuck(tx: Tx, now: datetime) -> list[tuple[str, str]]:
    """Name the accounts (workspace, account) that can send and whose lanes still wait for a connection."""
    rows = tx.all(
        """
        SELECT DISTINCT lane.workspace_id, lane.account_id FROM lane JOIN account
            ON account.workspace_id = lane.workspace_id AND account.id = lane.account_id
        WHERE parked_by = 'reconnect' AND parked_until > :now AND account.state IN ('connected', 'expiring')
        ORDER BY lane.workspace_id, lane.account_id
        """,
        now=now,
    )
    return [(row["workspace_id"], row["account_id"]) for row in rows]


def _held(tx: Tx, now: datetime, workspace_id: str, account_id: str) -> tuple[str, ...]:
    rows = tx.all(
        """
        SELECT delivery.id FROM delivery JOIN lane
            ON lane.workspace_id = delivery.workspace_id AND lane.id = delivery.lane_id
        WHERE delivery.workspace_id = :workspace_id AND delivery.account_id = :account_id
            AND state = 'scheduled' AND leased_until IS NULL AND (
                due_at < lane.unresumed_until OR (was_due_at <= :now AND due_at > :far_off)
            )
        ORDER BY coalesce(was_due_at, due_at), priority, delivery.id
        """,
        workspace_id=workspace_id,
        account_id=account_id,
        now=now,
        far_off=now + lanes.A_YEAR,  # put off, in a lane of others, until the account is connected
    )
    return tuple(row["id"] for row in rows)
