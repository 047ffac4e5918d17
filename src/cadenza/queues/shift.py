"""Makes room in the queue: each post takes the next slot, until one is left where it was.

The posts come in the order that is wanted; each keeps its instant if that still lies behind the one
before it, else it takes the next slot that is neither skipped nor held by something that does not
move, on a day with room. So a push runs to the first gap and no further. Pure but for the book it asks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from cadenza.core.slots import Slot, upcoming_slots
from cadenza.core.zones import local_day
from cadenza.queues.model import Entry, Queue
from cadenza.queues.occupancy import Occupancy

_AHEAD = 32  # days that the book reads at once while a push goes on


@dataclass(frozen=True, slots=True)
class ShiftedSlots:
    """The slot of each entry that moves, by the order given; `full`: one of them found none."""

    moves: tuple[tuple[Entry, Slot], ...]
    full: bool = False


def shift(
    queue: Queue,
    occupancy: Occupancy,
    wanted: Iterable[Entry],
    *,
    not_before: datetime,
    skipped: frozenset[datetime],
    compact: bool = False,
    through: datetime | None = None,
) -> ShiftedSlots:
    """Lay entries out from `not_before` on; the book must leave them out (`moving_since`).

    `compact` closes gaps as well: nobody keeps an instant for being far enough behind. Up to `through`
    every entry is looked at, though one before it could stay.
    """
    free = _Free(queue, occupancy, not_before=not_before, skipped=skipped)
    moves: list[tuple[Entry, Slot]] = []
    for entry in wanted:
        if not compact and free.may_keep(entry):
            if free.is_quiet(entry.at) and (through is None or entry.at > through):
                break  # from here on nothing is touched
            free.keep(entry.at)
            continue
        slot = free.take()
        if slot is None:
            return ShiftedSlots(tuple(moves), full=True)
        if slot.instant != entry.at:
            moves.append((entry, slot))
    return ShiftedSlots(tuple(moves))


class _Free:
    """Hands out slots in order, and counts what it gave on which day."""

    def __init__(
        self,
        queue: Queue,
        occupancy: Occupancy,
        *,
        not_before: datetime,
        skipped: frozenset[datetime],
    ) -> None:
        self._schedule = queue.schedule
        self._book = occupancy
        self._skipped = skipped
        self._slots: Iterator[Slot] = upcoming_slots(queue.schedule, not_before=not_before)
        self._last = not_before - timedelta(microseconds=1)
        self._given: Counter[date] = Counter()
        self._crowded: set[date] = set()  # days that got somebody who was not there before
        self._looked: set[date] = set()

    def may_keep(self, entry: Entry) -> bool:
        """Say whether an entry may stay at its instant."""
        return entry.at > self._last and entry.at not in self._skipped and self._room(entry.at)

    def is_quiet(self, at: datetime) -> bool:
        """Say whether nobody was moved into that day, so that all behind may stay as it is."""
        return self._schedule.max_per_day is None or self._day(at) not in self._crowded

    def keep(self, at: datetime) -> None:
        """Count an entry that stays."""
        self._given[self._day(at)] += 1
        self._last = at

    def take(self) -> Slot | None:
        """Return the next slot behind the last one, or None within the horizon."""
        for slot in self._slots:
            if slot.instant <= self._last or slot.instant in self._skipped:
                continue
            if self._room(slot.instant) and slot.instant not in self._held(slot.instant):
                day = self._day(slot.instant)
                self._given[day] += 1
                self._crowded.add(day)
                self._last = slot.instant
                return slot
        return None

    def _room(self, at: datetime) -> bool:
        cap, day = self._schedule.max_per_day, self._day(at)
        return cap is None or self._count(day) + self._given[day] < cap

    def _count(self, day: date) -> int:
        self._look(day)
        return self._book.count(day)

    def _held(self, at: datetime) -> frozenset[datetime]:
        self._look(self._day(at))
        return self._book.taken(self._day(at))

    def _look(self, day: date) -> None:
        if day not in self._looked:
            self._book.look(day, _AHEAD)
            self._looked |= {day + timedelta(days=n) for n in range(_AHEAD)}

    def _day(self, at: datetime) -> date:
        return local_day(at, self._schedule.zone)
