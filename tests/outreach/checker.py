"""Checks planned times against the rules of outreach, nothing of the planner is used."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from cadenza.core.zones import get_zone


class Rules(NamedTuple):
    """What holds for one account."""

    zone: str
    opens: time
    closes: time
    days: frozenset[int]  # ISO weekdays
    per_day: int
    shortest: timedelta
    holidays: frozenset[date] = frozenset()


def broken(rules: Rules, times: Iterable[datetime]) -> list[str]:
    """Return a line for each rule that a time breaks."""
    zone = get_zone(rules.zone).rules  # the same tz database; the arithmetic is Python's own
    faults: list[str] = []
    days: Counter[date] = Counter()
    before: datetime | None = None
    for at in sorted(times):
        wall = at.astimezone(zone)
        days[wall.date()] += 1
        if not rules.opens <= wall.time() < rules.closes:
            faults.append(f"{wall.isoformat()} is outside the hours")
        if wall.isoweekday() not in rules.days or wall.date() in rules.holidays:
            faults.append(f"{wall.isoformat()} is a closed day")
        # In UTC: the difference of two wall times of one zone forgets a change of clocks.
        if before is not None and at.astimezone(UTC) - before < rules.shortest:
            faults.append(f"{wall.isoformat()} comes {at.astimezone(UTC) - before} after the last")
        before = at.astimezone(UTC)
    faults += [
        f"{day} has {count} messages" for day, count in days.items() if count > rules.per_day
    ]
    return faults


def doubles(pairs: Iterable[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Return (sequence, contact, step) that occur more than once."""
    seen: dict[tuple[str, str, int], int] = defaultdict(int)
    for each in pairs:
        seen[each] += 1
    return [each for each, count in seen.items() if count > 1]
