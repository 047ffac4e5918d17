"""Who holds what, by the day: the `Booked` of a schedule, kept in memory.

Instants are filed under their local date, and full dates are chained, so that the
first date with room is found without walking over the full ones. The database
keeps the same books in tables; this one serves forecasts, simulations and tests.
Not safe for two threads at once.
"""

from collections.abc import Container, Iterable
from datetime import date, datetime

from cadenza.core.slots import slots_of
from cadenza.core.weekly import WeeklySchedule
from cadenza.core.zones import as_utc, local_day


class Bookings:
    """Held instants of one schedule; each counts once against its day."""

    def __init__(self, schedule: WeeklySchedule, instants: Iterable[datetime] = ()) -> None:
        self._schedule = schedule
        self._by_day: dict[date, set[datetime]] = {}
        self._full: set[int] = set()  # ordinals
        self._jump: dict[int, int] = {}  # full ordinal -> a later one, shortened as it is used
        for instant in instants:
            self.add(instant)

    def add(self, instant: datetime) -> bool:
        """Hold an instant; say whether it was free."""
        instant = as_utc(instant)
        day = local_day(instant, self._schedule.zone)
        held = self._by_day.setdefault(day, set())
        if instant in held:
            return False
        held.add(instant)
        if self._is_full(day, held):
            self._full.add(day.toordinal())
        return True

    def remove(self, instant: datetime) -> bool:
        """Let an instant go; say whether it was held."""
        instant = as_utc(instant)
        day = local_day(instant, self._schedule.zone)
        held = self._by_day.get(day, set())
        if instant not in held:
            return False
        held.remove(instant)
        if day.toordinal() in self._full and not self._is_full(day, held):
            self._full.remove(day.toordinal())
            self._jump.clear()  # some jumps may lead over the day that has room again
        return True

    def first_open(self, day: date) -> date:
        """Return the first date from `day` on that is not full."""
        ordinal = day.toordinal()
        walked: list[int] = []
        while ordinal in self._full:
            walked.append(ordinal)
            ordinal = self._jump.get(ordinal, ordinal + 1)
        for step in walked:
            self._jump[step] = ordinal
        return date.fromordinal(ordinal) if walked else day

    def is_capped(self, day: date) -> bool:
        """Say whether a date has its number of posts."""
        cap = self._schedule.max_per_day
        return cap is not None and self.count(day) >= cap

    def count(self, day: date) -> int:
        """Return how many are held on that date."""
        return len(self._by_day.get(day, ()))

    def taken(self, day: date) -> Container[datetime]:
        """Return the instants held on that date."""
        return self._by_day.get(day, ())

    def _is_full(self, day: date, held: set[datetime]) -> bool:
        cap = self._schedule.max_per_day
        if cap is not None and len(held) >= cap:
            return True
        # A hand-timed instant holds no slot, so counting alone would not do.
        slots = slots_of(self._schedule, day) if len(held) >= self._fewest(day) else []
        return bool(slots) and all(slot.instant in held for slot in slots)

    def _fewest(self, day: date) -> int:
        """Fewer held than this cannot fill the day, so its slots need no look."""
        times = len(self._schedule.times[day.toordinal() % 7])
        return max(1, times // 2)  # a gap may bring two wall times together
