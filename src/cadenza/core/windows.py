"""When may an account speak? Hours per weekday, on its own clock.

A window is a membership test on the wall clock, so changes of clocks need no special
case: an hour that happens twice is open twice, one that does not exist is never open.
A range that ends before it starts runs overnight and belongs, with its morning, to the
day it starts on; one that ends where it starts lasts the whole 24 hours.
Holidays are dates: no range starts on them, but one from the eve still runs out.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from cadenza.core.zones import (
    Fold,
    Gap,
    Zone,
    as_utc,
    day_bounds,
    local,
    local_day,
    offset_changes,
    resolve,
    steady_offset,
)

HORIZON = timedelta(days=366)
_DAY = timedelta(days=1)
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Range:
    """From `start` up to, not including, `end`, on the wall clock."""

    start: time
    end: time

    @property
    def is_overnight(self) -> bool:
        """Say whether it runs past midnight."""
        return self.end <= self.start


@dataclass(frozen=True, slots=True)
class Hours:
    """Opening hours. `ranges[0]` are Sunday's; no ranges at all means always closed."""

    zone: Zone
    ranges: tuple[tuple[Range, ...], ...]
    holidays: Container[date] = frozenset()

    def __post_init__(self) -> None:
        if len(self.ranges) != 7:
            raise ValueError(f"A week has 7 days of hours, not {len(self.ranges)}.")


def is_open(hours: Hours, instant: datetime) -> bool:
    """Say whether the instant lies within the hours."""
    wall = local(instant, hours.zone)
    today, now = wall.date(), wall.time()
    for span in _starting_on(hours, today):
        if span.start <= now and (span.is_overnight or now < span.end):
            return True
    return any(span.is_overnight and now < span.end for span in _starting_on(hours, today - _DAY))


def next_opening(hours: Hours, after: datetime, *, horizon: timedelta = HORIZON) -> datetime | None:
    """Return the first open instant from `after` on (itself, if open), or None."""
    after = as_utc(after)
    if is_open(hours, after):
        return after
    return next((edge for edge in _edges(hours, after, horizon) if is_open(hours, edge)), None)


def closes_at(hours: Hours, instant: datetime, *, horizon: timedelta = HORIZON) -> datetime | None:
    """Return the first closed instant from `instant` on, or None if none comes in sight.

    An instant that is closed already is its own answer.
    """
    instant = as_utc(instant)
    if not is_open(hours, instant):
        return instant
    edges = _edges(hours, instant, horizon)
    return next((edge for edge in edges if not is_open(hours, edge)), None)


def next_common_opening(
    all_hours: Sequence[Hours], after: datetime, *, horizon: timedelta = HORIZON
) -> datetime | None:
    """Return the first instant from `after` on at which all are open, or None."""
    moment = as_utc(after)
    limit = moment + horizon
    while moment <= limit:
        opening = moment
        for hours in all_hours:
            found = next_opening(hours, opening, horizon=limit - moment)
            if found is None:
                return None
            opening = found
        if opening == moment:
            return moment
        moment = opening
    return None


def edges_within(hours: Hours, start: datetime, end: datetime) -> list[datetime]:
    """Return the instants from `start` up to, not including, `end` at which the answer may change."""
    start, end = as_utc(start), as_utc(end)
    found = _edges(hours, start - _TICK, end - start)
    return [edge for edge in found if start <= edge < end]


def _starting_on(hours: Hours, day: date) -> tuple[Range, ...]:
    return () if day in hours.holidays else hours.ranges[day.toordinal() % 7]


def _edges(hours: Hours, after: datetime, horizon: timedelta) -> Iterator[datetime]:
    """Yield, in order, every instant after `after` at which the answer may change.

    Those are the two ends of each range, wherever the wall clock shows them, and the
    changes of clocks themselves, which can jump into or out of a range.
    """
    first = local_day(after, hours.zone) - _DAY
    until = after + horizon
    last = local_day(until, hours.zone) + _DAY
    for ordinal in range(first.toordinal(), last.toordinal() + 1):
        day = date.fromordinal(ordinal)
        found = set(_edges_on(hours, day))
        yield from sorted(edge for edge in found if after < edge <= until)


def _edges_on(hours: Hours, day: date) -> Iterator[datetime]:
    walls = {span.start for span in _starting_on(hours, day)}
    walls |= {span.end for span in _starting_on(hours, day) if not span.is_overnight}
    walls |= {span.end for span in _starting_on(hours, day - _DAY) if span.is_overnight}
    for wall in walls:
        # A wall time in a gap is covered by the change of clocks itself.
        yield from resolve(day, wall, hours.zone, gap=Gap.SKIP, fold=Fold.BOTH).instants
    if steady_offset(day.toordinal(), hours.zone) is None:
        yield from offset_changes(*day_bounds(day, hours.zone), hours.zone)
