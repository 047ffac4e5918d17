"""When several parties are all open, cut into pieces that lie within one local day.

Each piece belongs to one date of the first zone, so a planner counts by day without asking a calendar for
every message. A piece never spans midnight, a change of clocks or an edge of anybody's hours: whatever holds
at its start holds to its end. Pieces are worked out once for each day that is asked for.
"""

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from cadenza.core.offset_spans import to_instant, to_second
from cadenza.core.windows import Hours, edges_within, is_open
from cadenza.core.zones import Zone, day_bounds, local_day, offset_changes, steady_offset

_SECOND = timedelta(seconds=1)


class Opening(NamedTuple):
    """Seconds since 1970, `start <= t < end`, on one local date."""

    start: int
    end: int
    day: int  # the date's ordinal
    is_first: bool  # closed right before: the hours open here


class Openings:
    """The hours of an account, or of an account and a recipient together; none at all means always open."""

    def __init__(self, zone: Zone, *hours: Hours) -> None:
        self.zone = zone
        self._hours = hours
        self._days: dict[int, tuple[Opening, ...]] = {}

    def on(self, day: int) -> tuple[Opening, ...]:
        """Return the pieces of one local date, in order."""
        found = self._days.get(day)
        if found is None:
            found = self._days[day] = tuple(self._cut(day))
        return found

    def seconds_on(self, day: int) -> int:
        """Return how long the date is open in all."""
        return sum(piece.end - piece.start for piece in self.on(day))

    def day_of(self, second: int) -> int:
        """Return the ordinal of the local date at that second."""
        return local_day(to_instant(second), self.zone).toordinal()

    def _cut(self, day: int) -> list[Opening]:
        start, end = day_bounds(date.fromordinal(day), self.zone)
        edges = {start}
        if steady_offset(day, self.zone) is None:
            edges.update(at for at in offset_changes(start, end, self.zone) if at < end)
        for hours in self._hours:
            edges.update(edges_within(hours, start, end))
        ordered = sorted(edges)
        pieces: list[Opening] = []
        was_open = self._is_open(start - _SECOND)
        for at, until in zip(ordered, [*ordered[1:], end], strict=True):
            now_open = at < until and self._is_open(at)
            if now_open:
                pieces.append(
                    Opening(to_second(at), to_second(until), self._ordinal(at), not was_open)
                )
            was_open = now_open
        return pieces

    def _is_open(self, at: datetime) -> bool:
        return all(is_open(hours, at) for hours in self._hours)

    def _ordinal(self, at: datetime) -> int:
        return local_day(at.astimezone(UTC), self.zone).toordinal()
