"""The next time at which an account may write to somebody: pure arithmetic over an agenda.

An agenda holds what one account does of one action: the hours, the caps, the gaps, and everything already booked
by any sequence or campaign. `find` goes through the days from the earliest time on and returns the first place
that keeps all of them, with what pushed it there; `book` takes it. Luck comes from the message's own key, so the same
plan gives the same times. The pipeline checks the same limits again when it sends: this only avoids asking in vain.
"""

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

from cadenza.core.budgets import Ramp, cap_of
from cadenza.core.openings import Opening, Openings

HORIZON = 366  # days; common hours that do not come within NO_COMMON never come
NO_COMMON = 90
_DAY = 86_400
_HOUR = 3_600
_EVEN = (0.75, 1.25)  # how far an even pace strays from its mean gap


class Limit(StrEnum):
    """What kept a message from an earlier time."""

    HOURS = "hours"
    RECIPIENT_HOURS = "recipient_hours"
    GAP = "gap"
    HOUR_CAP = "hour_cap"
    DAY_CAP = "day_cap"
    WEEK_CAP = "week_cap"
    ROLLING_CAP = "rolling_day_cap"


@dataclass(frozen=True, slots=True)
class Caps:
    """How many an account may do; None: any number. A ramp lowers the day's cap while the account is new."""

    day: int | None = None
    week: int | None = None
    hour: int | None = None
    rolling_day: int | None = None
    ramp: Ramp | None = None
    active_days: int = 0  # of the ramp, before `today`
    today: int = 0  # a date's ordinal: days that are planned from it on are active ones too


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two messages: drawn between the two ends, never below what the pipeline asks for.

    `even` spreads the day's cap over its hours instead, so that the last message leaves shortly before they end.
    """

    shortest: int = 300
    longest: int = 1_200
    minimum: int = 360
    even: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.shortest <= self.longest or self.minimum < 0:
            raise ValueError(
                f"A gap of {self.shortest} to {self.longest} s, at least {self.minimum} s, makes no sense."
            )


class Luck(NamedTuple):
    """Two numbers from 0 up to, not including, 1."""

    opening: float  # how long after the hours open
    gap: float


class Found(NamedTuple):
    """A place: the second since 1970, its local date's ordinal, and what kept the message from an earlier one."""

    at: int
    day: int
    limit: Limit | None


class NoTarget(NamedTuple):
    """There is none within the horizon."""

    limit: Limit


def luck_of(*key: object) -> Luck:
    """Return luck that depends on the key alone, such as (sequence, account, number)."""
    digest = blake2b("\x1f".join(map(str, key)).encode(), digest_size=16).digest()
    opening = int.from_bytes(digest[:8], "big") >> 11
    gap = int.from_bytes(digest[8:], "big") >> 11
    return Luck(opening / (1 << 53), gap / (1 << 53))


class Agenda:
    """What one account has booked of one action. Not for two threads; rebuilt for each plan."""

    def __init__(
        self,
        openings: Openings,
        pace: Pace,
        caps: Caps,
        *,
        booked: Iterable[int] = (),
    ) -> None:
        self._openings = openings
        self._pace = pace
        self._caps = caps
        self._times: list[int] = []
        self._days: list[int] = []  # with something booked, ascending: a ramp counts them
        self._by_day: Counter[int] = Counter()
        self._by_week: Counter[int] = Counter()
        self._by_hour: Counter[int] = Counter()
        for at in booked:
            self.book(at)

    def book(self, at: int, *, day: int | None = None) -> None:
        """Take a place, whether or not it keeps the limits: what a person sent by hand counts too."""
        day = self._openings.day_of(at) if day is None else day
        insort(self._times, at)
        self._by_hour[at // _HOUR] += 1
        self.expect(day)

    def expect(self, day: int) -> None:
        """Count a message of a later step on that date, whose time is not known yet."""
        if not self._by_day[day]:
            insort(self._days, day)
        self._by_day[day] += 1
        self._by_week[_week(day)] += 1

    def planned_on(self, day: int) -> int:
        """Return how many are counted on a local date."""
        return self._by_day[day]

    def cap_on(self, day: int) -> int | None:
        """Return the cap that holds on a local date; days planned before it count as active ones of a ramp."""
        if self._caps.day is None or self._caps.ramp is None:
            return self._caps.day
        ahead = bisect_left(self._days, day) - bisect_left(self._days, self._caps.today)
        active = self._caps.active_days + max(0, ahead)
        return cap_of(self._caps.day, ramp=self._caps.ramp, active_days=active)

    def reachable_on(self, day: int) -> int:
        """Return how many messages a day's hours hold on average: what its cap can come to."""
        shortest, longest = self._gaps(day)
        mean = (max(shortest, self._pace.minimum) + max(longest, self._pace.minimum)) / 2
        return int(self._openings.seconds_on(day) / mean) if mean else 1 << 30

    def find(
        self, earliest: int, luck: Luck, *, common: Openings | None = None
    ) -> Found | NoTarget:
        """Return the first place from `earliest` on; `common` are the account's hours within the recipient's."""
        openings = common or self._openings
        first = openings.day_of(earliest)
        limit: Limit | None = None
        was_open = common is None  # has anything been open to both so far?
        for day in range(first, first + HORIZON):
            if not was_open and day - first > NO_COMMON:
                return NoTarget(Limit.RECIPIENT_HOURS)
            pieces = openings.on(day)
            was_open = was_open or bool(pieces)
            full = self._full(day)
            if full is not None:
                limit = full
                continue
            for piece in pieces:
                if piece.end <= earliest:
                    continue
                place, pushed = self._place(piece, earliest, luck)
                if place is not None:
                    return Found(place, piece.day, _longer(limit, pushed))
                limit = _longer(limit, pushed)
            if not pieces:
                limit = _longer(limit, self._closed_by(day, common))
        return NoTarget(limit or self._closed_by(first, common))

    def _place(self, piece: Opening, earliest: int, luck: Luck) -> tuple[int | None, Limit | None]:
        """Look for a place in one piece; return it, and what pushed it on last."""
        if self._full(piece.day) is not None:
            return None, self._full(piece.day)
        shortest, longest = self._gaps(piece.day)
        gap = max(self._pace.minimum, shortest + int(luck.gap * (longest - shortest + 1)))
        at, limit = max(earliest, piece.start), None
        if piece.start > earliest:
            limit = Limit.HOURS
            if piece.is_first:  # accounts must not all speak when their hours open
                at += int(luck.opening * min(longest, piece.end - piece.start))
        while at < piece.end:
            later, pushed = self._push(at, gap, longest, piece)
            if later == at:
                return at, limit
            at, limit = later, pushed
        return None, limit

    def _push(self, at: int, gap: int, longest: int, piece: Opening) -> tuple[int, Limit | None]:
        """Return the same second if all limits take it there, else the next one worth a look."""
        times = self._times
        index = bisect_right(times, at)
        before = times[index - 1] if index else piece.start - longest
        if index and at < before + gap:
            return before + gap, Limit.GAP
        if index < len(times):
            after = times[index]
            # Only a real pause is filled: squeezed into ordinary gaps, messages would come too densely.
            if after - at < gap or (
                after - max(before, piece.start) < 2 * longest and after < piece.end
            ):
                return after + gap, Limit.GAP
        if self._caps.hour is not None and self._by_hour[at // _HOUR] >= self._caps.hour:
            return (at // _HOUR + 1) * _HOUR, Limit.HOUR_CAP
        if self._caps.rolling_day is not None:
            free = self._rolling_from(at, self._caps.rolling_day)
            if free > at:
                return free, Limit.ROLLING_CAP
        return at, None

    def _rolling_from(self, at: int, cap: int) -> int:
        """Return `at` if no span of 24 hours holds more than `cap` with it, else the next second to try."""
        if cap <= 0:
            return at + HORIZON * _DAY
        times = self._times
        near = times[bisect_right(times, at - _DAY) : bisect_left(times, at + _DAY)]
        together = sorted([*near, at])
        for first, last in zip(together, together[cap:], strict=False):
            if last - first < _DAY:
                return max(first + _DAY, at + 1) if first < at else near[0] + 1
        return at

    def _full(self, day: int) -> Limit | None:
        cap = self.cap_on(day)
        if cap is not None and self._by_day[day] >= cap:
            return Limit.DAY_CAP
        if self._caps.week is not None and self._by_week[_week(day)] >= self._caps.week:
            return Limit.WEEK_CAP
        return None

    def _gaps(self, day: int) -> tuple[int, int]:
        cap = self.cap_on(day)
        if not self._pace.even or not cap:
            return self._pace.shortest, max(self._pace.longest, self._pace.minimum)
        mean = self._openings.seconds_on(day) / (cap + 1)
        shortest, longest = (max(self._pace.minimum, int(mean * stray)) for stray in _EVEN)
        return shortest, longest

    def _closed_by(self, day: int, common: Openings | None) -> Limit:
        return (
            Limit.HOURS if common is None or not self._openings.on(day) else Limit.RECIPIENT_HOURS
        )


def _longer(days: Limit | None, within: Limit | None) -> Limit | None:
    """Choose what to name: what cost whole days, unless that was only a closed one."""
    return within if days in (None, Limit.HOURS) and within is not None else days


def _week(day: int) -> int:
    return (day - 1) // 7  # ordinal 1 was a Monday
