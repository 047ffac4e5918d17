"""Which slot does the next post take, and why none before it?

A weekly schedule is laid over the calendar of its zone, day by day, and leaves as
UTC instants in order. What is already held comes from the caller by the day, so a
lookup touches the days it looks at and never the whole queue. A promise made here
holds only until the caller's transaction writes it: the unique key decides.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, Protocol

from cadenza.core.weekly import WeeklySchedule
from cadenza.core.zones import Mark, as_utc, day_bounds, local_day, resolve, steady_offset

HORIZON = timedelta(days=366)  # a week that offers nothing for a year offers nothing
LEAD = timedelta(minutes=1)  # the queue offers slots from now + LEAD
DETAILS = 8  # how many single refusals an answer spells out; the rest is counted


class Slot(NamedTuple):
    """One instant of a schedule, with the wall time that it stands for.

    `day` and `wall_time` are as the schedule says; in a gap the clock shows another
    time at `instant`, and `mark` says so. (A tuple, as years are expanded by the million.)
    """

    instant: datetime
    day: date
    wall_time: time
    mark: Mark


class Booked(Protocol):
    """What is held already, asked by the local date."""

    def first_open(self, day: date) -> date:
        """Return the first date from `day` on that is not known to be full.

        May always answer `day`; must never pass over a date that has room.
        """
        ...

    def is_capped(self, day: date) -> bool:
        """Say of a date that is known to be full whether it has its number of posts; else all slots are held."""
        ...

    def count(self, day: date) -> int:
        """Return how many deliveries count against `max_per_day` on that date."""
        ...

    def taken(self, day: date) -> Container[datetime]:
        """Return the instants (UTC) that are held on that date."""
        ...


class Reason(StrEnum):
    """Why an earlier slot was not given."""

    PAST = "in the past"
    TAKEN = "taken"
    SKIPPED = "skipped"
    DAY_FULL = "day full"
    BLACKOUT = "black-out date"


class Refusal(NamedTuple):
    """One slot passed over, or, with no instant, every slot of `day` up to `last_day`."""

    reason: Reason
    day: date
    instant: datetime | None = None
    last_day: date | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """What was passed over: counted by reason, and the first few by name.

    Slots of a full or blacked-out date are counted as one day, not one by one.
    """

    past: int
    taken: int
    skipped: int
    full_days: int
    blackout_days: int
    first: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class FreeSlot:
    """The earliest slot that is free, and why none before it was."""

    slot: Slot
    passed: Passed


@dataclass(frozen=True, slots=True)
class NoFreeSlot:
    """Nothing is free up to `searched_until`; `no_times` when the week is empty."""

    no_times: bool
    searched_until: datetime
    passed: Passed


def slots_of(schedule: WeeklySchedule, day: date) -> list[Slot]:
    """Return the slots that happen within a day's bounds, by instant, each once.

    Slots of the day before that a gap pushed over midnight belong here; two wall
    times that a gap brings together are one slot, under the name that exists.
    """
    ordinal = day.toordinal()
    offset = steady_offset(ordinal, schedule.zone)
    quiet_eve = steady_offset(ordinal - 1, schedule.zone) is not None
    if offset is not None and quiet_eve:
        if day in schedule.blackouts:
            return []
        midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) - offset
        none = Mark.NONE
        return [Slot(midnight + wall, day, at, none) for wall, at in schedule.walls[ordinal % 7]]
    return list(_slots_around_a_change(schedule, day))


def upcoming_slots(
    schedule: WeeklySchedule, *, not_before: datetime, until: datetime | None = None
) -> Iterator[Slot]:
    """Yield slots from `not_before` up to `until` (default: HORIZON), both included."""
    not_before = as_utc(not_before)
    until = not_before + HORIZON if until is None else as_utc(until)
    if schedule.is_empty:
        return
    first = local_day(not_before, schedule.zone).toordinal() - 1  # repeated midnights overlap
    last = local_day(until, schedule.zone).toordinal() + 1
    for ordinal in range(first, last + 1):
        slots = slots_of(schedule, date.fromordinal(ordinal))
        if first + 2 < ordinal < last - 1:
            yield from slots
        else:
            yield from (slot for slot in slots if not_before <= slot.instant <= until)


def slot_at(schedule: WeeklySchedule, instant: datetime) -> Slot | None:
    """Return the schedule's slot at exactly that instant, if it has one."""
    return next(upcoming_slots(schedule, not_before=instant, until=instant), None)


def next_free_slot(
    schedule: WeeklySchedule,
    booked: Booked,
    *,
    not_before: datetime,
    skipped: Container[datetime] = (),
    horizon: timedelta = HORIZON,
) -> FreeSlot | NoFreeSlot:
    """Return the first slot from `not_before` on that is neither held nor excepted.

    The work is bounded by the days it has to look at, a year at most; days that
    `booked` knows to be full are jumped over.
    """
    not_before = as_utc(not_before)
    until = not_before + horizon
    tally = _Tally()
    if schedule.is_empty:
        return NoFreeSlot(no_times=True, searched_until=until, passed=tally.passed())
    day = local_day(not_before, schedule.zone)
    last_day = local_day(until, schedule.zone)
    while day <= last_day:
        open_day = booked.first_open(day)
        if open_day > day:
            beyond = min(open_day, last_day + _DAY)
            _pass_over(schedule, booked, day, beyond, not_before=not_before, tally=tally)
            day = open_day
            continue
        slot = _free_on(schedule, booked, day, not_before=not_before, skipped=skipped, tally=tally)
        if slot is not None and slot.instant <= until:
            return FreeSlot(slot, tally.passed())
        day += _DAY
    return NoFreeSlot(no_times=False, searched_until=until, passed=tally.passed())


def _pass_over(
    schedule: WeeklySchedule,
    booked: Booked,
    first: date,
    beyond: date,
    *,
    not_before: datetime,
    tally: "_Tally",
) -> None:
    """Count full dates: those with their number of posts as days, the others by their slots."""
    day = first
    while day < beyond:
        end = day + _DAY
        if booked.is_capped(day):
            while end < beyond and booked.is_capped(end):
                end += _DAY
            tally.note_days(Reason.DAY_FULL, day, end)
        else:
            for slot in slots_of(schedule, day):
                tally.note_slot(slot, Reason.PAST if slot.instant < not_before else Reason.TAKEN)
        day = end


def _free_on(
    schedule: WeeklySchedule,
    booked: Booked,
    day: date,
    *,
    not_before: datetime,
    skipped: Container[datetime],
    tally: "_Tally",
) -> Slot | None:
    if day in schedule.blackouts:
        if schedule.times[day.toordinal() % 7]:
            tally.note_days(Reason.BLACKOUT, day, day + _DAY)
        return None
    slots = slots_of(schedule, day)
    if not slots:
        return None
    if schedule.max_per_day is not None and booked.count(day) >= schedule.max_per_day:
        tally.note_days(Reason.DAY_FULL, day, day + _DAY)
        return None
    taken = booked.taken(day)
    for slot in slots:
        if slot.instant < not_before:
            tally.note_slot(slot, Reason.PAST)
        elif slot.instant in taken:
            tally.note_slot(slot, Reason.TAKEN)
        elif slot.instant in skipped:
            tally.note_slot(slot, Reason.SKIPPED)
        else:
            return slot
    return None


@lru_cache(maxsize=256)
def _slots_around_a_change(schedule: WeeklySchedule, day: date) -> tuple[Slot, ...]:
    """The slow and exact way, for days beside a change of clocks; a long queue asks for them at every add."""
    start, end = day_bounds(day, schedule.zone)
    by_instant: dict[datetime, Slot] = {}
    for nominal in (day - _DAY, day):
        if nominal in schedule.blackouts or day in schedule.blackouts:
            continue
        for slot in _nominal_slots(schedule, nominal):
            held = by_instant.get(slot.instant)
            if start <= slot.instant < end and (held is None or held.mark is Mark.GAP):
                by_instant[slot.instant] = slot
    return tuple(by_instant[instant] for instant in sorted(by_instant))


def _nominal_slots(schedule: WeeklySchedule, day: date) -> Iterator[Slot]:
    weekday = day.toordinal() % 7
    for wall_time in schedule.times[weekday]:
        gap, fold = schedule.policy(weekday, wall_time)
        resolved = resolve(day, wall_time, schedule.zone, gap=gap, fold=fold)
        for instant in resolved.instants:
            yield Slot(instant, day, wall_time, resolved.mark)


_DAY = timedelta(days=1)


class _Tally:
    """Counts refusals while a search goes on; spells out the first few."""

    __slots__ = ("blackout_days", "first", "full_days", "past", "skipped", "taken")

    def __init__(self) -> None:
        self.past = self.taken = self.skipped = self.full_days = self.blackout_days = 0
        self.first: list[Refusal] = []

    def note_slot(self, slot: Slot, reason: Reason) -> None:
        self.past += reason is Reason.PAST
        self.taken += reason is Reason.TAKEN
        self.skipped += reason is Reason.SKIPPED
        if len(self.first) < DETAILS:
            self.first.append(Refusal(reason, slot.day, slot.instant))

    def note_days(self, reason: Reason, first: date, beyond: date) -> None:
        if reason is Reason.BLACKOUT:
            self.blackout_days += (beyond - first).days
        else:
            self.full_days += (beyond - first).days
        if len(self.first) < DETAILS:
            self.first.append(Refusal(reason, first, last_day=beyond - _DAY))

    def passed(self) -> Passed:
        return Passed(
            past=self.past,
            taken=self.taken,
            skipped=self.skipped,
            full_days=self.full_days,
            blackout_days=self.blackout_days,
            first=tuple(self.first),
        )
