"""Cron expressions that tell their next instants in a zone.

`parse` reads, `Cron.next_after` searches wall time within stretches of one UTC offset and
applies the gap and fold policy where two stretches meet. All 24 hours named (`*`): the
expression runs on real time, at every instant whose wall clock fits, so an hourly job runs
in both passes of a repeated hour, and the policies are not asked. Fewer hours: each fitting
wall time runs by policy. Limit: nothing after 2099; no seconds finer than one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from cadenza.core.cron_describe import describe_fields
from cadenza.core.cron_match import LAST_YEAR, WallMatcher
from cadenza.core.cron_parse import Fields, parse_fields
from cadenza.core.cron_words import CronError, Dialect
from cadenza.core.offset_spans import OffsetSpan, span_at, to_instant, to_second
from cadenza.core.zones import Fold, Gap, Zone, as_utc

__all__ = ["Cron", "CronError", "Dialect", "parse"]

_FAR = 2 * 86_400  # more than any two offsets of a zone can differ


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression. Make it with `parse`; equal by text and dialect."""

    expression: str
    dialect: Dialect
    fields: Fields = field(repr=False, compare=False)
    _walls: WallMatcher = field(repr=False, compare=False)

    @property
    def on_real_time(self) -> bool:
        """Whether all 24 hours are named, so that gap and fold policies do not apply."""
        return len(self.fields.hours) == 24

    def next_after(
        self, instant: datetime, zone: Zone, *, gap: Gap = Gap.SHIFT, fold: Fold = Fold.FIRST
    ) -> datetime | None:
        """Return the first instant (UTC) later than `instant`, or None if none comes by 2099.

        Occurrences are whole seconds: from 12:00:00.250 the one at 12:00:00 has passed.
        Two wall times that meet on one instant behind a gap are one occurrence. The search
        never begins before 1970.
        """
        start = as_utc(instant)
        if start.year > LAST_YEAR:
            return None
        second = max(to_second(start) + 1, 0)
        while True:
            stretch = span_at(second, zone)
            found = self._earliest(stretch, second, gap, fold)
            if found is not None:
                return to_instant(found)
            wall = self._walls.first_from(second + stretch.offset)
            if wall is None:
                return None
            # Walls up to `wall` do not fit, so leap there, unless clocks going back at the
            # stretch's end bring walls from before `second` round again.
            seen_again = second + stretch.offset > stretch.end + stretch.after
            second = stretch.end if seen_again else max(stretch.end, wall - stretch.offset - _FAR)

    def occurrences(
        self,
        after: datetime,
        zone: Zone,
        *,
        gap: Gap = Gap.SHIFT,
        fold: Fold = Fold.FIRST,
        until: datetime | None = None,
    ) -> Iterator[datetime]:
        """Yield the instants later than `after`, up to and including `until`."""
        found = self.next_after(after, zone, gap=gap, fold=fold)
        while found is not None and (until is None or found <= until):
            yield found
            found = self.next_after(found, zone, gap=gap, fold=fold)

    def moved_by_gap(self, instant: datetime, zone: Zone, *, gap: Gap) -> bool:
        """Say whether a wall time that does not exist was moved to `instant`."""
        second = to_second(as_utc(instant))
        return self._from_gap(span_at(second, zone), second, gap) == second

    def describe(self) -> str:
        """Return the expression as a short English phrase."""
        return describe_fields(self.fields)

    def _earliest(self, stretch: OffsetSpan, second: int, gap: Gap, fold: Fold) -> int | None:
        on_clock = self._on_clock(stretch, second, fold)
        if stretch.before >= stretch.offset:
            return on_clock
        from_gap = self._from_gap(stretch, second, gap)
        if on_clock is None or from_gap is None:
            return on_clock if from_gap is None else from_gap
        return min(on_clock, from_gap)

    def _on_clock(self, stretch: OffsetSpan, second: int, fold: Fold) -> int | None:
        """Return the first second of the stretch from `second` on that its clock fits."""
        low, high = second + stretch.offset, stretch.end + stretch.offset
        if not self.on_real_time:
            if fold is Fold.FIRST and stretch.before > stretch.offset:
                low = max(low, stretch.start + stretch.before)
            elif fold is Fold.SECOND and stretch.after < stretch.offset:
                high = stretch.end + stretch.after
        wall = self._walls.first_from(low)
        return wall - stretch.offset if wall is not None and wall < high else None

    def _from_gap(self, stretch: OffsetSpan, second: int, gap: Gap) -> int | None:
        """Return the first second from `second` on to which a missing wall time is moved."""
        if self.on_real_time or gap is Gap.SKIP or stretch.before >= stretch.offset:
            return None
        if gap is Gap.NEXT_VALID and second > stretch.start:
            return None
        # Read by the old offset, the gap's wall times fall on the seconds behind it.
        wall = self._walls.first_from(second + stretch.before)
        if wall is None or wall >= stretch.start + stretch.offset:
            return None
        return wall - stretch.before if gap is Gap.SHIFT else stretch.start


@lru_cache(maxsize=2048)
def parse(expression: str, dialect: Dialect | str = Dialect.STANDARD) -> Cron:
    """Read an expression; raise `CronError` that says what is wrong and what to write.

    Standard: `minute hour day month weekday`, or six fields with seconds first; names in
    any case, Sunday is 0 or 7, `L`, `LW`, `5L`, `MON#2`, `?`, lists, ranges, steps, macros.
    Day and weekday both restricted: either suffices (`*/2` restricts; only `*`, `*/1` and
    `?` do not).
    """
    dialect = Dialect(dialect)
    fields = parse_fields(expression, dialect)
    return Cron(expression, dialect, fields, WallMatcher(fields))
