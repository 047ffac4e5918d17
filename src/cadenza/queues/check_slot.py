"""Is this very slot free? Of the schedule, to come, neither skipped nor held, on a day with room.

The same questions as for the next free slot, asked of one instant that a person pointed at; the answer
says which of them it failed.
"""

from dataclasses import dataclass
from datetime import datetime

from cadenza.core.slots import LEAD, Slot, slot_at
from cadenza.core.zones import local_day
from cadenza.queues import store
from cadenza.queues.model import NoRoom, Queue
from cadenza.queues.occupancy import Occupancy
from cadenza.sql.tx import Tx


@dataclass(frozen=True, slots=True)
class Named:
    """A slot that a person chose, by its instant."""

    at: datetime


def check_slot(
    tx: Tx, now: datetime, queue: Queue, at: datetime, *, leaving: frozenset[str] = frozenset()
) -> Slot | NoRoom:
    """Return the slot at that instant if it is free once `leaving` have left theirs, else why not."""
    slot = slot_at(queue.schedule, at)
    if slot is None:
        return NoRoom(
            queue.account_id, "the schedule has no slot then: choose one, or a time by hand"
        )
    if at < now + LEAD:
        return NoRoom(queue.account_id, "that slot is over: choose a later one")
    if at in store.skipped(tx, queue, since=at):
        return NoRoom(queue.account_id, "that slot is skipped: offer it again first")
    day = Occupancy(tx, queue, leaving=leaving).seen(local_day(at, queue.schedule.zone))
    if at in day.taken:
        return NoRoom(queue.account_id, "another post holds that slot by now")
    most = queue.schedule.max_per_day
    if most is not None and day.posts >= most:
        return NoRoom(
            queue.account_id, f"that day has its {most} posts already: choose another day"
        )
    return slot
