"""Takes back what silent workers held, by what the store knows of it.

No permit was written: the call was never made, so the delivery goes back freely and counts a crash; from then
on it is claimed alone, until it has been settled, so that only what keeps killing its process is given up.
A permit was written: the call may have happened, so it is `unconfirmed` until evidence or a person
says otherwise; its ledger row keeps its place in every limit.
"""

from datetime import datetime

from cadenza.core.rollup import DeliveryState as State
from cadenza.deliveries import claim
from cadenza.deliveries.announce import DeliveryEvent, announce
from cadenza.deliveries.model import COLUMNS, Delivery
from cadenza.deliveries.reasons import Code, Reason
from cadenza.deliveries.transition import Changes, Move, move
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
    given_up = [each.id for each in expired if _take_back(tx, now, each, crash_limit)]
    claim.free_lane_room(tx, expired)
    return [each.id for each in expired if each.id not in given_up], given_up


def _take_back(tx: Tx, now: datetime, row: Delivery, crash_limit: int) -> bool:
    crashes = row.crashes + 1
    gone = row.state is State.SCHEDULED and crashes >= crash_limit
    if row.state is State.SENDING:
        state, reason = State.UNCONFIRMED, Reason.of(Code.WORKER_SILENT)
    elif gone:
        state, reason = State.FAILED, Reason.of(Code.WORKER_DIED, crashes=crashes)
    else:
        state, reason = State.SCHEDULED, None
    move(tx, now, [Move(row, state, Changes(reason=reason, crashes=crashes))])
    announce(tx, now, [DeliveryEvent.of(row, state, reason)])
    tx.run(
        """
        UPDATE activity SET state = 'unconfirmed', settled_at = :now
        WHERE workspace_id = :workspace_id AND state = 'reserved' AND attempt_id IN (
            SELECT id FROM attempt WHERE workspace_id = :workspace_id AND delivery_id = :id
        )
        """,
        now=now,
        workspace_id=row.workspace_id,
        id=row.id,
    )
    return gone
