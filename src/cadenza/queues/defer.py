"""A day that is over its number of posts when one is about to be sent: the fact, and the moving on.

`over_cap` is what a gate asks: how many posts of the local date come before this one, and the cap.
`defer_over_cap` gives the delivery (and the post's other channels with it) the next free slot, with the
reason on the row and in the audit log: never dropped, never silent. Publish-now passes the cap.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.core.slots import NoFreeSlot
from cadenza.core.zones import day_bounds, local_day
from cadenza.db import audit
from cadenza.deliveries.gates import HURRY
from cadenza.deliveries.read_day import DayRequest, read_days
from cadenza.queues import store
from cadenza.queues.assign_slots import assign_slots, to_slot
from cadenza.queues.model import Entry, Moved, NoQueue, NoRoom, Queue
from cadenza.queues.occupancy import first_free
from cadenza.sql.tx import Row, Tx


@dataclass(frozen=True, slots=True)
class OverCap:
    """The day has its posts: `before` of them come before this one, and `cap` may go."""

    before: int
    cap: int

    @property
    def message(self) -> str:
        """Say it in one sentence."""
        return f"the day has its {self.cap} posts ({self.before} before this one)"


@dataclass(frozen=True, slots=True)
class NotDeferred:
    """It is not there, not waiting, or not over the cap (any more): nothing was changed."""

    message: str


def over_cap(tx: Tx, now: datetime, *, workspace_id: str, id: str) -> OverCap | None:
    """Ask whether a delivery is over its account's posts a day at `now`; None: it may go."""
    row = _row(tx, workspace_id, id)
    if row is None or row["action"] != "post" or row["priority"] <= HURRY:
        return None
    queue = store.read(tx, workspace_id=workspace_id, account_id=row["account_id"])
    if isinstance(queue, NoQueue) or queue.schedule.max_per_day is None:
        return None
    requested = DayRequest(
        workspace_id=workspace_id,
        id=id,
        account_id=row["account_id"],
        post_id=row["post_id"],
        due_at=row["due_at"],
        zone=queue.schedule.zone.name,
        cap=queue.schedule.max_per_day,
    )
    day = read_days(tx, now, [requested])[workspace_id, id]
    return OverCap(day.before, day.cap) if day.full else None


def defer_over_cap(
    tx: Tx, now: datetime, *, workspace_id: str, id: str, by: str = "system"
) -> Moved | NotDeferred | NoRoom | NoQueue:
    """Move a waiting delivery that is over the cap to the next free slot behind this day."""
    row = _row(tx, workspace_id, id)
    if row is None:
        return NotDeferred("there is no such delivery")
    queue = store.hold(tx, workspace_id=workspace_id, account_id=row["account_id"])
    if isinstance(queue, NoQueue):
        return queue
    row = _row(tx, workspace_id, id)  # as it is now that the lane is held
    if row is None or row["state"] != "scheduled" or row["leased_until"] is not None:
        return NotDeferred("it is on its way, or does not wait any more")
    over = over_cap(tx, now, workspace_id=workspace_id, id=id)
    if over is None:
        return NotDeferred("its day has room")
    tomorrow = day_bounds(local_day(now, queue.schedule.zone), queue.schedule.zone)[1]
    found = first_free(tx, now, queue, not_before=tomorrow)
    if isinstance(found, NoFreeSlot):
        return NoRoom(queue.account_id, "no slot is free within a year", found.passed)
    at = found.slot.instant
    entry = Entry(id, row["post_id"], row["due_at"], None, _with_it(tx, queue, row))
    assign_slots(
        tx,
        now,
        queue,
        [to_slot(entry, found.slot)],
        by=by,
        why=None,
        reason=f"moved to the next free slot: {over.message}",
    )
    audit.record(
        tx,
        now,
        workspace_id=workspace_id,
        by=by,
        action="queue.defer",
        subject_id=row["post_id"] or id,
        before={"at": row["due_at"].isoformat()},
        after={"at": at.isoformat(), "why": over.message},
    )
    store.rise(tx, now, queue)
    return Moved(id, row["post_id"], row["due_at"], at)


def _row(tx: Tx, workspace_id: str, id_: str) -> Row | None:
    return tx.one(
        """
        SELECT workspace_id, id, account_id, post_id, action, priority, due_at, state, leased_until FROM delivery
        WHERE workspace_id = :workspace_id AND id = :id
        """,
        workspace_id=workspace_id,
        id=id_,
    )


def _with_it(tx: Tx, queue: Queue, row: Row) -> tuple[str, ...]:
    """Name the post's other channels that go out with this one."""
    if row["post_id"] is None:
        return ()
    rows = tx.all(
        """
        SELECT id FROM delivery
        WHERE workspace_id = :workspace_id AND account_id = :account_id AND post_id = :post_id
            AND id <> :id AND due_at = :at AND state = 'scheduled' AND leased_until IS NULL
        """,
        post_id=row["post_id"],
        id=row["id"],
        at=row["due_at"],
        **store.key(queue),
    )
    return tuple(sorted(each["id"] for each in rows))
