"""When a rule occurs: dates from its anchor, then wall times, then instants. Pure.

The k-th period (week, day, month) is computed from the anchor and never from the one before, so a
rule for the 31st that met a February is back on the 31st in March. An occurrence is named by the
date and time that the rule says (`day`, `slot`), not by the instant that they come to: a new tz
database moves it, and makes no second one. Work is bounded by the window asked for.
"""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from cadenza.core.weekly import Weekday
from cadenza.core.zones import Fold, Gap, Mark, Zone, as_utc, local, local_day, resolve
from cadenza.drafts.pattern import Daily, Interval, Monthly, NthWeekday, Pattern, ShortMonth, Weekly

_DAY = timedelta(days=1)
_AGAIN = "/2"  # the same wall time again, after the clocks went back


@dataclass(frozen=True, slots=True)
class Timing:
    """All that decides when a rule occurs. `starts` is a wall time in `zone`; `ends` a date, included."""

    pattern: Pattern
    zone: Zone
    starts: datetime
    ends: date | None = None
    gap: Gap = Gap.SHIFT
    fold: Fold = Fold.FIRST


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a rule says, and the instant it came to."""

    day: date
    slot: str  # HH:MM; "/2" behind it in the second pass of a repeated hour
    instant: datetime
    mark: Mark

    @property
    def key(self) -> tuple[str, str]:
        """The natural key within its rule."""
        return self.day.isoformat(), self.slot

    @property
    def wall_time(self) -> str:
        """The date and time that the rule says, as deliveries keep it."""
        return f"{self.day.isoformat()}T{self.slot.removesuffix(_AGAIN)}"


def occurrences(timing: Timing, *, after: datetime, until: datetime) -> list[Occurrence]:
    """Return what occurs with `after < instant <= until`, by instant, each instant once."""
    after, until = as_utc(after), as_utc(until)
    if until <= after:
        return []
    if isinstance(timing.pattern, Interval):
        found = _by_interval(timing, timing.pattern, after, until)
    else:
        # A gap may carry a wall time into the next date, or over one that a zone left out.
        first = local_day(after, timing.zone) - 2 * _DAY
        last = local_day(until, timing.zone) + _DAY
        found = (each for day in dates(timing, first=first, last=last) for each in _on(timing, day))
    by_instant: dict[datetime, Occurrence] = {}
    for each in found:
        held = by_instant.get(each.instant)
        if after < each.instant <= until and (held is None or held.mark is Mark.GAP):
            by_instant[each.instant] = each
    return [by_instant[instant] for instant in sorted(by_instant)]


def target_month(occurrence: Occurrence, zone: Zone) -> str:
    """Return the month that it counts to: that of the local date of its instant, as YYYY-MM."""
    return local_day(occurrence.instant, zone).isoformat()[:7]


def dates(timing: Timing, *, first: date, last: date) -> Iterator[date]:
    """Yield the dates of a rule with wall times in `[first, last]`, ascending."""
    begin = timing.starts.date()
    first = max(first, begin)
    last = last if timing.ends is None else min(last, timing.ends)
    if first > last:
        return
    match timing.pattern:
        case Daily(step=step):
            yield from _by_days(begin, step, first, last)
        case Weekly():
            yield from _by_weeks(timing.pattern, begin, first, last)
        case Monthly():
            yield from _by_months(timing.pattern, begin, first, last)
        case Interval():
            raise ValueError("An interval has instants, not dates.")


def _by_days(begin: date, step: int, first: date, last: date) -> Iterator[date]:
    k = -((begin - first).days // step)  # the first multiple that is not before `first`
    while (day := begin + timedelta(days=step * k)) <= last:
        yield day
        k += 1


def _by_weeks(pattern: Weekly, begin: date, first: date, last: date) -> Iterator[date]:
    monday = begin - timedelta(days=begin.weekday())
    k = (first - monday).days // 7 // pattern.step
    while (week := monday + timedelta(weeks=pattern.step * k)) <= last:
        for offset in range(7):
            day = week + timedelta(days=offset)
            if first <= day <= last and Weekday.of(day) in pattern.weekdays:
                yield day
        k += 1


def _by_months(pattern: Monthly, begin: date, first: date, last: date) -> Iterator[date]:
    anchor = begin.year * 12 + begin.month - 1
    k = (first.year * 12 + first.month - 1 - anchor) // pattern.step
    final = last.year * 12 + last.month - 1
    while (number := anchor + pattern.step * k) <= final:
        for day in _days_of_month(pattern, number // 12, number % 12 + 1):
            if first <= day <= last:
                yield day
        k += 1


def _days_of_month(pattern: Monthly, year: int, month: int) -> list[date]:
    length = monthrange(year, month)[1]
    found: set[int] = set()
    for day in pattern.days:
        chosen = day if day > 0 else length + 1 + day
        if 1 <= chosen <= length:
            found.add(chosen)
        elif chosen > length and pattern.short_month is ShortMonth.LAST:
            found.add(length)
    for nth in pattern.weekdays:
        chosen = _nth_weekday(nth, year, month, length)
        if chosen is not None:
            found.add(chosen)
    return [date(year, month, day) for day in sorted(found)]


def _nth_weekday(nth: NthWeekday, year: int, month: int, length: int) -> int | None:
    first = (nth.weekday - Weekday.of(date(year, month, 1))) % 7 + 1
    days = range(first, length + 1, 7)
    index = nth.nth - 1 if nth.nth > 0 else len(days) + nth.nth
    return days[index] if 0 <= index < len(days) else None


def _on(timing: Timing, day: date) -> Iterator[Occurrence]:
    assert not isinstance(timing.pattern, Interval), "an interval has no wall times"
    for wall in timing.pattern.times:
        if datetime.combine(day, wall) < timing.starts:
            continue
        resolved = resolve(day, wall, timing.zone, gap=timing.gap, fold=timing.fold)
        for number, instant in enumerate(resolved.instants):
            slot = _slot(wall, second=number == 1)
            yield Occurrence(day, slot, instant, resolved.mark)


def _by_interval(
    timing: Timing, pattern: Interval, after: datetime, until: datetime
) -> Iterator[Occurrence]:
    """Count hours from the anchor's instant; the key is what the clock shows then."""
    start = timing.starts
    anchor = resolve(start.date(), start.time(), timing.zone, gap=Gap.SHIFT).instants[0]
    every = timedelta(hours=pattern.hours)
    n = max((after - anchor) // every + 1, 0)
    while (instant := anchor + every * n) <= until:
        there = local(instant, timing.zone)
        if timing.ends is not None and there.date() > timing.ends:
            return
        wall = there.time().replace(fold=0, tzinfo=None)
        mark = resolve(there.date(), wall, timing.zone).mark
        slot = _slot(wall, second=mark is Mark.FOLD and there.fold == 1)
        yield Occurrence(there.date(), slot, instant.astimezone(UTC), mark)
        n += 1


def _slot(wall: time, *, second: bool) -> str:
    return wall.strftime("%H:%M") + (_AGAIN if second else "")
