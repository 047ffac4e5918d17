"""Records what an account sent elsewhere, by hand or by another program, so that it counts against its limits.

Each call is a row of the ledger like those of the pipeline, with the time it was made and the time it was recorded.
Counters of the periods that run are written again from the ledger, and the gap begins with the last call. Taking a
record back leaves its rows, without counting them. Run under `set_limit.locks_of` of the account.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.db import audit
from cadenza.deliveries import set_limit
from cadenza.deliveries.model import Action, account_scope
from cadenza.deliveries.read_recipients import fold_recipient
from cadenza.sql.tx import Tx

MOST = 1_000  # calls in one record
BACK = timedelta(days=366)


@dataclass(frozen=True, slots=True)
class ExternalRecorded:
    """So many calls count now; `id` takes them back."""

    id: str
    count: int


@dataclass(frozen=True, slots=True)
class NotRecorded:
    """It makes no sense as it is: nothing was changed."""

    field: str
    message: str


def record_external(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    action: Action,
    count: int,
    by: str,
    at: datetime | None = None,
    recipient: str | None = None,
) -> ExternalRecorded | NotRecorded:
    """Count calls that were made at an instant, now if none is given."""
    at = now if at is None else at
    if not 1 <= count <= MOST:
        return NotRecorded("count", f"Record 1 to {MOST} calls at once.")
    if not now - BACK < at <= now:
        return NotRecorded("at", "Give a time within the last year.")
    id_ = tx.new_id()
    tx.run(
        """
        INSERT INTO activity (
            workspace_id, id, account_id, action, mode, recipient, state, counts, reserved_at, settled_at
        ) SELECT :workspace_id, id, :account_id, :action, 'live', :recipient, 'external', true, :at, :now
        FROM TABLE(:new) AS new (id text) WHERE true
        """,
        new=_rows(id_, count),
        workspace_id=workspace_id,
        account_id=account_id,
        action=action.value,
        recipient=None if recipient is None else fold_recipient(recipient),
        at=at,
        now=now,
    )
    _begin_gap(tx, workspace_id, account_id, action, at)
    set_limit.recount(tx, now, workspace_id=workspace_id, account_id=account_id)
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="limit.external",
        subject_id=account_id,
        after={"id": id_, "action": action.value, "count": count, "at": at.isoformat()},
    )
    return ExternalRecorded(id_, count)


def take_back_external(
    tx: Tx, now: datetime, *, workspace_id: str, account_id: str, external_id: str, by: str
) -> int:
    """Let recorded calls count no more; return how many."""
    changed = tx.run(
        """
        UPDATE activity SET state = 'refunded', counts = false FROM TABLE(:ids) AS asked (id text)
        WHERE activity.workspace_id = :workspace_id AND activity.id = asked.id
            AND account_id = :account_id AND state = 'external'
        """,
        ids=_rows(external_id, MOST),
        workspace_id=workspace_id,
        account_id=account_id,
    )
    if changed:
        set_limit.recount(tx, now, workspace_id=workspace_id, account_id=account_id)
        audit.record(
            tx,
            now,
            workspace_id=workspace_id,
            by=by,
            action="limit.external_undo",
            subject_id=account_id,
            before={"id": external_id, "count": changed},
        )
    return changed


def _rows(id_: str, count: int) -> list[tuple[str]]:
    return [(f"{id_}-{number}",) for number in range(count)]


def _begin_gap(tx: Tx, workspace_id: str, account_id: str, action: Action, at: datetime) -> None:
    """Let the next call keep its distance from this one too."""
    for rule in set_limit.list_limits(tx, workspace_id, account_scope(account_id)):
        if rule["kind"] != "gap" or rule["action"] not in (action, "*"):
            continue
        tx.run(
            """
            INSERT INTO bucket (workspace_id, scope, action, mode, kind, period, taken, free_at)
            VALUES (:workspace_id, :scope, :action, 'live', 'gap', '', 0, :free_at)
            ON CONFLICT (workspace_id, scope, action, mode, kind, period) DO UPDATE SET free_at =
                CASE WHEN bucket.free_at > excluded.free_at THEN bucket.free_at ELSE excluded.free_at END
            """,
            workspace_id=workspace_id,
            scope=account_scope(account_id),
            action=rule["action"],
            free_at=at + timedelta(seconds=rule["amount"]),
        )
