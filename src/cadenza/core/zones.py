"""Wall times and instants: the only place where a time zone is applied.

A wall time (date, time, IANA zone) goes in, UTC instants come out, and back. What
to do in a gap (the wall time does not exist) and in a fold (it happens twice) is a
policy that the caller states; the answer says which of the two was met.

Rules come from the `tzdata` package, never from the machine's own files, so that
all workers of one release agree and `tz_version()` tells the truth. The price: a
new tz database means a new `tzdata`, not `apt upgrade`.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from zoneinfo import ZoneInfo

import tzdata

from cadenza.core.suggest import did_you_mean

ZERO = timedelta(0)
_SECOND = timedelta(seconds=1)
_HOUR = timedelta(hours=1)


class UnknownZoneError(ValueError):
    """The name is not in the tz database."""


class NaiveDatetimeError(ValueError):
    """A datetime came without an offset, so it names no instant."""


class Gap(StrEnum):
    """What becomes of a wall time that does not exist."""

    SHIFT = "shift"  # forward by the gap's length: 02:30 runs 03:30
    SKIP = "skip"  # does not run
    NEXT_VALID = "next_valid"  # the first instant after the gap: 02:30 runs 03:00


class Fold(StrEnum):
    """Which of the two instants a repeated wall time means."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


class Mark(StrEnum):
    """Whether a wall time met a change of offset."""

    NONE = "none"
    GAP = "gap"
    FOLD = "fold"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The instants (UTC, ascending) that one wall time stands for."""

    instants: tuple[datetime, ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class Zone:
    """An IANA zone. Make it with `get_zone`; equal by name."""

    name: str
    rules: ZoneInfo = field(repr=False, compare=False)

    def __str__(self) -> str:
        return self.name


@lru_cache(maxsize=1024)
def get_zone(name: str) -> Zone:
    """Return the zone of that exact IANA name, or raise UnknownZoneError with a guess."""
    if name not in zone_names():
        raise UnknownZoneError(
            f"{name!r} is not an IANA time zone.{did_you_mean(name, zone_names())}"
        )
    source = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    with source.open("rb") as file:
        return Zone(name, ZoneInfo.from_file(file, key=name))


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return every name that `get_zone` knows."""
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("utf-8").split())


def tz_version() -> str:
    """Return the version of the tz database in use, such as "2026a"."""
    return tzdata.IANA_VERSION


def as_utc(instant: datetime) -> datetime:
    """Return the same instant in UTC; refuse a datetime without an offset."""
    if instant.tzinfo is UTC:
        return instant
    if instant.utcoffset() is None:
        raise NaiveDatetimeError(
            f"{instant.isoformat()} has no offset, so it names no instant. "
            "Give it in UTC, or resolve it as a wall time in a zone."
        )
    return instant.astimezone(UTC)


def resolve(
    day: date, wall_time: time, zone: Zone, *, gap: Gap = Gap.SHIFT, fold: Fold = Fold.FIRST
) -> Resolved:
    """Return the instants that `wall_time` on `day` stands for in `zone`.

    A date that the zone skipped whole (Apia, 2011-12-30) is one long gap: `shift`
    gives the same wall time of the next date, `next_valid` that date's first instant.
    """
    if wall_time.tzinfo is not None:
        raise ValueError(f"The wall time {wall_time.isoformat()} must not carry a zone of its own.")
    first, second = _offsets(day, wall_time, zone)
    wall = datetime.combine(day, wall_time.replace(fold=0), tzinfo=UTC)
    if first == second:
        return Resolved((wall - first,), Mark.NONE)
    if first > second:  # clocks went back: the earlier instant has the larger offset
        both = (wall - first, wall - second)
        chosen = {Fold.FIRST: both[:1], Fold.SECOND: both[1:], Fold.BOTH: both}[fold]
        return Resolved(chosen, Mark.FOLD)
    match gap:
        case Gap.SHIFT:
            return Resolved((wall - first,), Mark.GAP)
        case Gap.SKIP:
            return Resolved((), Mark.GAP)
        case Gap.NEXT_VALID:
            return Resolved((_change_between(wall - second, wall - first, zone),), Mark.GAP)


def local(instant: datetime, zone: Zone) -> datetime:
    """Return the instant with the zone's wall clock, as a fixed offset.

    Fixed, because a datetime that carries the zone itself compares wrongly in folds
    and gaps (PEP 495): this one equals its UTC twin and subtracts in real time. Its
    `fold` is 1 in the second pass of a repeated hour.
    """
    there = as_utc(instant).astimezone(zone.rules)
    return there.replace(tzinfo=timezone(there.utcoffset() or ZERO))


def local_day(instant: datetime, zone: Zone) -> date:
    """Return the date on the zone's calendar at that instant."""
    return as_utc(instant).astimezone(zone.rules).date()


def day_bounds(day: date, zone: Zone) -> tuple[datetime, datetime]:
    """Return the first instant of `day` and the first instant of the next, UTC.

    Neighbouring days meet, midnight need not exist, and a skipped date is empty.
    Where clocks go back across midnight (Goose Bay until 2011) the repeated minutes
    lie in the later day's bounds though `local_day` gives the earlier: count by that.
    """
    return day_start(day, zone), day_start(day + timedelta(days=1), zone)


@lru_cache(maxsize=65536)
def day_start(day: date, zone: Zone) -> datetime:
    """Return the first instant of `day`: midnight, or the end of the gap over it."""
    return resolve(day, time(), zone, gap=Gap.NEXT_VALID).instants[0]


@lru_cache(maxsize=65536)
def steady_offset(ordinal: int, zone: Zone) -> timedelta | None:
    """Return the day's one UTC offset, or None when its clocks change.

    The cheap way for expanding many wall times of a day: `wall - offset` is then
    exact. Looking at the two ends suffices, as no zone changes there and back within
    one day after 1970 (a test goes through all of them).
    """
    start = zone.rules.utcoffset(datetime.fromordinal(ordinal))
    after = date.fromordinal(ordinal + 1)
    end = zone.rules.utcoffset(datetime(after.year, after.month, after.day, fold=1))  # noqa: DTZ001
    return start if start == end else None


def offset_at(instant: datetime, zone: Zone) -> timedelta:
    """Return the zone's offset from UTC at that instant."""
    return as_utc(instant).astimezone(zone.rules).utcoffset() or ZERO


def offset_changes(start: datetime, end: datetime, zone: Zone) -> list[datetime]:
    """Return the instants in `[start, end]` from which another offset holds.

    Looks every hour and bisects, so it is for a day or two, not for centuries.
    """
    changes: list[datetime] = []
    before = as_utc(start) - _HOUR
    while before < end:
        after = before + _HOUR
        if offset_at(before, zone) != offset_at(after, zone):
            change = _change_between(before, after, zone)
            if start <= change <= end:
                changes.append(change)
        before = after
    return changes


def _offsets(day: date, wall_time: time, zone: Zone) -> tuple[timedelta, timedelta]:
    """The offsets for the first and the second reading of a wall time (PEP 495)."""
    first = zone.rules.utcoffset(datetime.combine(day, wall_time.replace(fold=0)))
    second = zone.rules.utcoffset(datetime.combine(day, wall_time.replace(fold=1)))
    return first or ZERO, second or ZERO


def _change_between(before: datetime, after: datetime, zone: Zone) -> datetime:
    """The second at which the offset changes, by bisection of `(before, after]`."""
    before, after = before.replace(microsecond=0) - _SECOND, after.replace(microsecond=0) + _SECOND
    new = offset_at(after, zone)
    while after - before > _SECOND:
        middle = before + timedelta(seconds=(after - before) // _SECOND // 2)
        if offset_at(middle, zone) == new:
            after = middle
        else:
            before = middle
    return after
