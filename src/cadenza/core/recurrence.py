"""Recurring schedules as values: when they occur, and what to do about what was missed.

A `Recurrence` is cron in a zone or an interval with an anchor. All functions are pure: the
present comes in as an argument. The work is bounded whatever the downtime: the newest of
31 million missed seconds is found by halving, not by walking. Limit: `Overlap` is only
named here; the engine, which knows what is running, acts on it.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import blake2b

from cadenza.core.cron import Cron, parse
from cadenza.core.zones import Fold, Gap, Mark, Zone, as_utc, get_zone, local, resolve

_ZERO = timedelta(0)
_SECOND = timedelta(seconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UTC_ZONE = get_zone("UTC")
MOST_FIRED = 1000
"""How many occurrences one call hands out or counts; more come with the next call."""
ON_TIME = timedelta(minutes=1)
"""How late an occurrence may be seen and still be on time for `Missed.SKIP`."""


class Missed(StrEnum):
    """What to do with occurrences that passed while nothing ran.

    SKIP: fire the newest if it is on time (`ON_TIME` old at the most), else nothing.
    ONCE: fire the newest alone, however old; the default.
    ALL: fire every one, oldest first.
    `Within(limit)` fires every one that is `limit` old at the most.
    """

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Within:
    """Fire every missed occurrence that is `limit` old at the most, oldest first."""

    limit: timedelta

    def __post_init__(self) -> None:
        if self.limit < _ZERO:
            raise ValueError(f"Within({self.limit}): the limit must not be negative")


class Overlap(StrEnum):
    """What an occurrence does when the run before it has not finished.

    SKIP: it is dropped, visibly; the default. BUFFER: it waits for its turn; while one waits,
    those after it are dropped, visibly. CANCEL: the old run is cancelled and it takes its place.
    ALLOW: both run.
    """

    SKIP = "skip"
    BUFFER = "buffer"
    CANCEL = "cancel"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Recurrence:
    """When something recurs: cron, or `every` counted from `anchor`. Use the makers below.

    `repeat_until` is the last instant allowed, inclusive. `jitter` spreads the start of each
    run over that span (see `start_of`); it never changes which occurrences there are. An
    interval runs on real time: zone, gap and fold do not move it.
    """

    cron: Cron | None = None
    every: timedelta | None = None
    anchor: datetime = _EPOCH
    zone: Zone = _UTC_ZONE
    gap: Gap = Gap.SHIFT
    fold: Fold = Fold.FIRST
    repeat_until: datetime | None = None
    jitter: timedelta = _ZERO

    def __post_init__(self) -> None:
        if (self.cron is None) == (self.every is None):
            raise ValueError("A recurrence has either cron or every: give exactly one of them.")
        if self.every is not None and self.every < _SECOND:
            raise ValueError(f"every={self.every}: the shortest interval is one second")
        if self.jitter < _ZERO:
            raise ValueError(f"jitter={self.jitter}: it must not be negative")
        object.__setattr__(self, "anchor", as_utc(self.anchor))
        if self.repeat_until is not None:
            object.__setattr__(self, "repeat_until", as_utc(self.repeat_until))


@dataclass(frozen=True, slots=True)
class Due:
    """What to fire now, what was passed over, and when to look again.

    `decided_until` is the `last` of the next call. `next` is the first occurrence not decided
    yet: in the future, or, when more was due than one call hands out (`MOST_FIRED`), in the
    past: then call again at once. `missed` counts what is neither fired nor left for later;
    `counted_all` is False when the count was given up there, so that it means "at least".
    """

    fire: tuple[datetime, ...]
    missed: int
    counted_all: bool
    next: datetime | None
    decided_until: datetime


@dataclass(frozen=True, slots=True)
class Preview:
    """One coming occurrence as a person sees it."""

    instant: datetime
    wall: datetime  # the same instant on the zone's clock
    zone: Zone
    mark: Mark  # GAP: moved here from a time that does not exist; FOLD: this wall time comes twice


def by_cron(
    expression: str,
    zone: str = "UTC",
    *,
    gap: Gap = Gap.SHIFT,
    fold: Fold = Fold.FIRST,
    repeat_until: datetime | None = None,
    jitter: timedelta = _ZERO,
) -> Recurrence:
    """Return a recurrence on the wall clock of `zone`."""
    return Recurrence(
        cron=parse(expression),
        zone=get_zone(zone),
        gap=gap,
        fold=fold,
        repeat_until=repeat_until,
        jitter=jitter,
    )


def by_interval(
    every: timedelta,
    anchor: datetime,
    *,
    zone: str = "UTC",
    repeat_until: datetime | None = None,
    jitter: timedelta = _ZERO,
) -> Recurrence:
    """Return a recurrence at `anchor`, `anchor + every`, ...; a late run shifts nothing."""
    return Recurrence(
        every=every,
        anchor=anchor,
        zone=get_zone(zone),
        repeat_until=repeat_until,
        jitter=jitter,
    )


def next_occurrence(recurrence: Recurrence, after: datetime) -> datetime | None:
    """Return the first occurrence later than `after`, or None when there is none left."""
    after = as_utc(after)
    if recurrence.cron is not None:
        found = recurrence.cron.next_after(
            after, recurrence.zone, gap=recurrence.gap, fold=recurrence.fold
        )
    else:
        found = _next_step(recurrence, after)
    if found is None or (recurrence.repeat_until is not None and found > recurrence.repeat_until):
        return None
    return found


def last_occurrence(recurrence: Recurrence, after: datetime, until: datetime) -> datetime | None:
    """Return the newest occurrence with `after < it <= until`, by halving the span."""
    after, until = as_utc(after), as_utc(until)
    low, span = until, _SECOND
    found = None
    while found is None:  # look back ever farther until something is seen
        if low <= after:
            return None
        low, span = (after if span >= until - after else until - span), span * 2
        found = _next_by(recurrence, low, until)
    high = until
    while high - found > _SECOND:  # nothing lies in (high, until]; found <= high
        middle = found + (high - found) / 2
        later = _next_by(recurrence, middle, until)
        if later is None:
            high = middle
        else:
            found = later
    return _next_by(recurrence, found, until) or found


def due_occurrences(
    recurrence: Recurrence,
    last: datetime,
    now: datetime,
    missed: Missed | Within = Missed.ONCE,
) -> Due:
    """Decide what to fire of the occurrences after `last`, up to and including `now`.

    `last` is how far was decided before: the `decided_until` of the call before, at first
    when the schedule was made. A clock that went back decides nothing twice.
    """
    last = as_utc(last)
    now = max(as_utc(now), last)
    if missed is Missed.ALL:
        return _fire_each(recurrence, last, now, last)
    if isinstance(missed, Within):
        # An occurrence of exactly that age still fires, hence the smallest step below it.
        covers_all = missed.limit >= now - last
        too_old = last if covers_all else now - missed.limit - timedelta.resolution
        return _fire_each(recurrence, last, now, too_old)
    upcoming = next_occurrence(recurrence, now)
    newest = last_occurrence(recurrence, last, now)
    if newest is None:
        return Due((), 0, counted_all=True, next=upcoming, decided_until=now)
    fires = missed is Missed.ONCE or now - newest <= ON_TIME
    count, counted_all = _count(recurrence, last, newest)
    fire, lost = ((newest,), count) if fires else ((), count + 1)
    return Due(fire, lost, counted_all, next=upcoming, decided_until=now)


def preview(recurrence: Recurrence, after: datetime, n: int) -> tuple[Preview, ...]:
    """Return the next `n` occurrences with their wall times, marked where clocks change."""
    shown: list[Preview] = []
    found = next_occurrence(recurrence, after)
    while found is not None and len(shown) < n:
        wall = local(found, recurrence.zone)
        shown.append(Preview(found, wall, recurrence.zone, _mark(recurrence, found)))
        found = next_occurrence(recurrence, found)
    return tuple(shown)


def start_of(recurrence: Recurrence, occurrence: datetime, key: str) -> datetime:
    """Return when the run of `occurrence` starts: up to `jitter` later, fixed by `key`.

    The delay is a hash of schedule key and occurrence, so every machine computes the same,
    and schedules with the same expression spread out.
    """
    if recurrence.jitter == _ZERO:
        return occurrence
    digest = blake2b(f"{key}\0{as_utc(occurrence).isoformat()}".encode(), digest_size=8).digest()
    return occurrence + recurrence.jitter * (int.from_bytes(digest) / 2**64)


def _next_step(recurrence: Recurrence, after: datetime) -> datetime | None:
    every = recurrence.every
    assert every is not None, "a recurrence without cron has an interval"
    steps = (after - recurrence.anchor) // every + 1
    try:
        return recurrence.anchor + every * max(steps, 0)
    except OverflowError:
        return None


def _next_by(recurrence: Recurrence, after: datetime, until: datetime) -> datetime | None:
    found = next_occurrence(recurrence, after)
    return found if found is not None and found <= until else None


def _fire_each(recurrence: Recurrence, last: datetime, now: datetime, too_old: datetime) -> Due:
    """Fire what is later than `too_old`, oldest first, as many as one call may."""
    lost, counted_all = 0, True
    newest_lost = last_occurrence(recurrence, last, too_old)
    if newest_lost is not None:
        count, counted_all = _count(recurrence, last, newest_lost)
        lost = count + 1
    fire: list[datetime] = []
    found = next_occurrence(recurrence, max(last, too_old))
    while found is not None and found <= now and len(fire) < MOST_FIRED:
        fire.append(found)
        found = next_occurrence(recurrence, found)
    more_is_due = found is not None and found <= now
    decided_until = fire[-1] if more_is_due else now
    return Due(tuple(fire), lost, counted_all, next=found, decided_until=decided_until)


def _count(recurrence: Recurrence, after: datetime, newest: datetime) -> tuple[int, bool]:
    """Count the occurrences after `after` and before `newest`; say if the count is complete."""
    found = next_occurrence(recurrence, after)
    if found is None or found >= newest:
        return 0, True
    if recurrence.every is not None:
        return (newest - found) // recurrence.every, True
    count = 0
    while found is not None and found < newest:
        if count == MOST_FIRED:
            return count, False
        count += 1
        found = next_occurrence(recurrence, found)
    return count, True


def _mark(recurrence: Recurrence, instant: datetime) -> Mark:
    if recurrence.cron is not None and recurrence.cron.moved_by_gap(
        instant, recurrence.zone, gap=recurrence.gap
    ):
        return Mark.GAP
    there = local(instant, recurrence.zone)
    comes_twice = resolve(there.date(), there.time(), recurrence.zone).mark is Mark.FOLD
    return Mark.FOLD if comes_twice else Mark.NONE
