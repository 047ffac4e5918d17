"""Takes back what silent workers held, by what the store knows of it.

No permit was written: the call was never made, so the delivery goes back freely and counts a crash; from the
second on it is claimed alone, until it has been settled, so that only what keeps killing its process is given up.
A permit was written: the call may have happened, so it is `unconfirmed` until evidence or a person
says otherwise; its ledger row keeps its place in every limit.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import claim, planners
from cadenza.deliveries.announce import DeliveryEvent, announce
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.planners import Transition
from cadenza.sql.tx import Tx
from cadenza.sql.values import read_values

BATCH = 200


def rescue(tx: Tx, now: datetime, *, crash_limit: int) -> tuple[list[str], list[str]]:
    """Return the ids that wait again or are unconfirmed, and those that were given up."""
    skip_locked = "FOR UPDATE SKIP LOCKED" if tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {COLUMNS} FROM delivery
        WHERE leased_until IS NOT NULL AND leased_until <= :now
        ORDER BY leased_until LIMIT {BATCH} {skip_locked}
        """,  # noqa: S608 - put together from constants
        now=now,
    )
    expired = read_values(Delivery, rows)
    ends = [_take_back(each, crash_limit) for each in expired]
    _write(tx, now, ends)
    claim.free_lane_room(tx, expired)
    given_up = [end.delivery.id for end in ends if end.state is State.FAILED]
    return [each.id for each in expired if each.id not in given_up], given_up


class _TakenBack(NamedTuple):
    delivery: Delivery
    state: State
    reason: str | None


def _take_back(row: Delivery, crash_limit: int) -> _TakenBack:
    crashes = row.crashes + 1
    if row.state is State.SENDING:
        reason = "its worker fell silent while the call may have been under way"
        return _TakenBack(row, State.UNCONFIRMED, reason)
    if crashes >= crash_limit:
        return _TakenBack(row, State.FAILED, f"its worker process died {crashes} times with it")
    return _TakenBack(row, State.SCHEDULED, None)


def _write(tx: Tx, now: datetime, ends: Sequence[_TakenBack]) -> None:
    """Move what was taken back; what may have been sent keeps its place in every limit."""
    if not ends:
        return
    tx.run(
        """
        UPDATE delivery SET state = new.becomes, reason = new.why, crashes = crashes + 1, lease = lease + 1,
            leased_until = NULL, worker = NULL, failed_at = CASE WHEN new.becomes = 'failed' THEN :now ELSE failed_at END
        FROM TABLE(:new) AS new (workspace_id text, id text, held bigint, becomes text, why text)
        WHERE delivery.workspace_id = new.workspace_id AND delivery.id = new.id AND lease = new.held
        """,
        now=now,
        new=[(*end.delivery.key, end.delivery.lease, end.state.value, end.reason) for end in ends],
    )
    announce(tx, now, [DeliveryEvent.of(*end) for end in ends])
    planners.count(tx, now, [Transition(end.delivery, end.state) for end in ends])
    tx.run(
        """
        UPDATE activity SET state = 'unconfirmed', settled_at = :now
        FROM TABLE(:taken) AS taken (workspace_id text, id text)
        JOIN attempt ON attempt.workspace_id = taken.workspace_id AND attempt.delivery_id = taken.id
        WHERE activity.workspace_id = taken.workspace_id AND activity.attempt_id = attempt.id
            AND activity.state = 'reserved'
        """,
        now=now,
        taken=sorted(end.delivery.key for end in ends),
    )
