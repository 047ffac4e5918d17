"""Pauses an account's queue: nothing of it is claimed from the commit on; adding and reordering still work.

What was claimed and not yet permitted is stale by the lane's epoch, so nothing slips out behind a pause
but a call that is under way. A pause may end by itself (`until`): `resume.ended` finds those.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.db import audit
from cadenza.deliveries import lanes
from cadenza.queues import store
from cadenza.queues.model import NoQueue
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Paused:
    """It rests; `under_way` calls cannot be called back, `inside` posts come due before its end."""

    reason: str
    until: datetime | None
    under_way: int
    inside: int | None
    revision: int
    fresh: bool = True  # false: it was paused before, reason and end are new


@dataclass(frozen=True, slots=True)
class PauseOver:
    """Its end is not in the future: the pause would be over before it began."""

    until: datetime
    message: str = "the end of the pause has passed already: give a later one, or none"


def pause(
    tx: Tx,
    now: datetime,
    *,
    workspace_id: str,
    account_id: str,
    reason: str,
    by: str,
    until: datetime | None = None,
) -> Paused | NoQueue | PauseOver:
    """Let nothing of the account go out; pausing again gives it another reason and end."""
    if until is not None and until <= now:
        return PauseOver(until)
    queue = store.hold(tx, workspace_id=workspace_id, account_id=account_id)
    if isinstance(queue, NoQueue):
        return queue
    fresh = lanes.pause(
        tx, workspace_id=workspace_id, scope=queue.lane_id, reason=reason, until=until
    )
    tx.run(
        """
        UPDATE queue SET paused_at = coalesce(paused_at, :now), paused_by = :by
        WHERE workspace_id = :workspace_id AND account_id = :account_id
        """,
        now=now,
        by=by,
        **store.key(queue),
    )
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="queue.pause",
        subject_id=account_id,
        after={"reason": reason, "until": None if until is None else until.isoformat()},
    )
    counts = tx.one(
        """
        SELECT count(CASE WHEN state = 'sending' THEN 1 END) AS under_way,
            count(CASE WHEN state = 'scheduled' AND due_at <= :until THEN 1 END) AS inside
        FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND action = 'post'
            AND state IN ('scheduled', 'sending') AND due_at <= :until
        """,
        until=until or now,
        **store.key(queue),
    )
    assert counts is not None
    return Paused(
        reason,
        until,
        counts["under_way"],
        None if until is None else counts["inside"],
        store.rise(tx, now, queue),
        fresh=fresh,
    )
