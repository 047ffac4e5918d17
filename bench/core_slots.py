"""How long does the queue's arithmetic take? Lookups beside 10 and 10,000 held slots,
and a million slots laid out across changes of clocks.
"""

import time as clock
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from itertools import islice

from cadenza.core.bookings import Bookings
from cadenza.core.slots import FreeSlot, next_free_slot, upcoming_slots
from cadenza.core.weekly import WeeklySchedule
from cadenza.core.zones import get_zone

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)


def schedule_of(per_day: int, zone: str = "America/New_York") -> WeeklySchedule:
    times = tuple(time(m // 60, m % 60) for m in range(0, 1440, 1440 // per_day))[:per_day]
    return WeeklySchedule(get_zone(zone), (times,) * 7)


def best_of(rounds: int, work: Callable[[], object]) -> float:
    """Return the seconds of the fastest round: the one least disturbed by neighbours."""
    fastest = float("inf")
    for _ in range(rounds):
        began = clock.perf_counter()
        work()
        fastest = min(fastest, clock.perf_counter() - began)
    return fastest


def lookup_seconds(held: int, *, per_day: int = 30) -> float:
    """Return the mean seconds of a lookup, over a start at every half hour of a day."""
    schedule = schedule_of(per_day)
    total = 0.0
    for half_hour in range(48):
        now = NOW + timedelta(minutes=30 * half_hour)
        instants = (slot.instant for slot in upcoming_slots(schedule, not_before=now))
        booked = Bookings(schedule, islice(instants, held))

        def look(booked: Bookings = booked, now: datetime = now) -> None:
            assert isinstance(next_free_slot(schedule, booked, not_before=now), FreeSlot)

        total += best_of(200, look)
    return total / 48


def expand_seconds(slots: int, *, per_day: int = 5) -> float:
    schedule = schedule_of(per_day)
    until = NOW + timedelta(days=slots // per_day + 2)
    made = 0

    def expand() -> None:
        nonlocal made
        made = sum(1 for _ in upcoming_slots(schedule, not_before=NOW, until=until))

    seconds = best_of(3, expand)
    assert made >= slots
    return seconds


def main() -> None:
    few, many = lookup_seconds(10), lookup_seconds(10_000)
    print(f"next free slot,     10 held: {few * 1e6:8.1f} µs")
    print(f"next free slot, 10,000 held: {many * 1e6:8.1f} µs  ({many / few:.2f} x)")
    print(f"1,000,000 slots laid out:    {expand_seconds(1_000_000):8.2f} s")


if __name__ == "__main__":
    main()
