"""Takes back what silent workers held, by what the store knows of it.

No permit was written: the call was never made, so the delivery goes back freely and counts a crash; from the
second on it is claimed alone, until it has been settled, so that only what keeps killing its process is given up.
A permit was written: the call may have happened, so it is `unconfirmed` until evidence or a person
says otherwise; its ledger row keeps its place in every limit.
"""

from collections.abc import Sequence
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
    moves = [_take_back(each, crash_limit) for each in expired]
    move(tx, now, moves)
    announce(
        tx,
        now,
        [DeliveryEvent.of(each.delivery, each.to, each.changes.get("reason")) for each in moves],
    )
    _keep_reserved(tx, now, expired)
    claim.free_lane_room(tx, expired)
    given_up = [each.delivery.id for each in moves if each.to is State.FAILED]
    return [each.id for each in expired if each.id not in given_up], given_up


def _take_back(row: Delivery, crash_limit: int) -> Move:
    crashes = row.crashes + 1
    if row.state is State.SENDING:
        state, reason = State.UNCONFIRMED, Reason.of(Code.WORKER_SILENT)
    elif crashes >= crash_limit:
        state, reason = State.FAILED, Reason.of(Code.WORKER_DIED, crashes=crashes)
    else:
        state, reason = State.SCHEDULED, None
    return Move(row, state, Changes(reason=reason, crashes=crashes))


def _keep_reserved(tx: Tx, now: datetime, expired: Sequence[Delivery]) -> None:
    """Let what may have been sent keep its place in every limit."""
    tx.run(
        """
        UPDATE activity SET state = 'unconfirmed', settled_at = :now
        FROM TABLE(:taken) AS taken (workspace_id text, id text)
        JOIN attempt ON attempt.workspace_id = taken.workspace_id AND attempt.delivery_id = taken.id
        WHERE activity.workspace_id = taken.workspace_id AND activity.attempt_id = attempt.id
            AND activity.state = 'reserved'
        """,
        now=now,
        taken=sorted(each.key for each in expired),
    )
