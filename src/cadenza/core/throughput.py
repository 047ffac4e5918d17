"""How long so many messages take, by what decides it: a rate, the accounts' limits, their days and hours.

Days are taken whole: so many fit into what is open of a day, and no more than its limit. What is left on the last day
is spread over it. Limit: an estimate; clocks that change and gaps of luck are not in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import TypeAlias

from cadenza.core.windows import Hours, next_opening
from cadenza.core.zones import Zone, day_bounds, local_day

HORIZON = 366  # days
MINUTE = timedelta(minutes=1)
HOUR, QUARTER = timedelta(hours=1), timedelta(minutes=15)
WHOLE = 24 * 60.0  # minutes
_DAY = timedelta(days=1)
Span: TypeAlias = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """What one account can do."""

    zone: Zone
    per_minute: float | None = None  # None: no limit of its own
    slowed: bool = False  # by its network: `per_minute` is the pace that is left
    day_cap: int | None = None
    used_today: int = 0
    hours: Hours | None = None
    rests_until: datetime | None = None  # a wait that its network asked for


@dataclass(frozen=True, slots=True)
class Estimate:
    """The rate that holds, when the last one leaves, and what decides it."""

    per_minute: float | None  # None: nothing known limits it
    finish_at: datetime | None  # None: not to be known, or not within a year
    bound_by: str


def estimate(
    start: datetime,
    count: int,
    senders: Sequence[Sender],
    *,
    rate: float | None = None,
    observed: float | None = None,
    quiet: Hours | None = None,
) -> Estimate:
    """Say how long `count` messages take from `start` on; `rate` and `observed` are a minute."""
    per_minute, bound_by = _rate(start, senders, rate)
    if not senders:
        return Estimate(None, None, "accounts")
    pace = min(filter(None, (per_minute, observed)), default=None)
    if count == 0:
        return Estimate(per_minute, start, bound_by)
    begin = _begin(start, senders, quiet)
    if begin is None:
        return Estimate(per_minute, None, "hours")
    days = any(each.day_cap is not None or each.hours is not None for each in senders)
    if not days and quiet is None:
        if pace is None:
            return Estimate(per_minute, None, bound_by)
        return Estimate(per_minute, begin + count / pace * MINUTE, bound_by)
    return _by_days(begin, count, senders, pace, quiet, per_minute, bound_by)


def _rate(now: datetime, senders: Sequence[Sender], rate: float | None) -> tuple[float | None, str]:
    """Return the lowest of what is allowed, and its name."""
    own = [each.per_minute for each in senders]
    together = None if not own or None in own else sum(each for each in own if each is not None)
    resting = [each.rests_until for each in senders if each.rests_until and each.rests_until > now]
    if senders and len(resting) == len(senders):
        return min(filter(None, (rate, together)), default=None), "network_wait"
    if together is not None and (rate is None or together < rate):
        return together, "pace" if any(each.slowed for each in senders) else "account_limits"
    return rate, "accounts" if rate is None else "delivery_rate"


def _begin(now: datetime, senders: Sequence[Sender], quiet: Hours | None) -> datetime | None:
    """Return when the first one may leave."""
    starts: list[datetime] = []
    for each in senders:
        rested = max(now, each.rests_until or now)
        at = rested if each.hours is None else next_opening(each.hours, rested)
        if quiet is not None and at is not None:
            at = next_opening(quiet, at)
        if at is not None:
            starts.append(at)
    return min(starts, default=None)


def _by_days(
    begin: datetime,
    count: int,
    senders: Sequence[Sender],
    pace: float | None,
    quiet: Hours | None,
    per_minute: float | None,
    bound_by: str,
) -> Estimate:
    left, day = float(count), local_day(begin, senders[0].zone)
    for n in range(HORIZON):
        first, last = day_bounds(day, senders[0].zone)
        open_from = max(first, begin)
        longest = _open_minutes(senders, quiet, day, (open_from, last))
        capped = [
            _today(
                each,
                _open_minutes([each], quiet, day, (open_from, last)),
                used=each.used_today if n == 0 else 0,
            )
            for each in senders
        ]
        most = sum(each for each, _ in capped)
        by_pace = float("inf") if pace is None else pace * longest
        room = min(most, by_pace)
        if room >= left:
            needed = 0.0 if room == float("inf") else left / room * longest
            opening = _begin(open_from, senders, quiet) or open_from
            return Estimate(per_minute, opening + needed * MINUTE, bound_by)
        if most < by_pace and any(limited for _, limited in capped):
            bound_by = "day_limit"
        elif bound_by != "day_limit" and longest < (last - open_from) / MINUTE:
            bound_by = "quiet_hours" if quiet is not None else "hours"
        left -= room
        day += _DAY
    return Estimate(per_minute, None, bound_by)


def _today(sender: Sender, minutes: float, *, used: int) -> tuple[float, bool]:
    """Return how many fit into its day, and whether its limit of a day decides it."""
    fits = float("inf") if sender.per_minute is None else sender.per_minute * minutes
    if minutes == 0:
        return 0.0, False
    if sender.day_cap is None:
        return fits, False
    cap = max(0, sender.day_cap - used)
    return min(fits, float(cap)), cap <= fits


def _open_minutes(senders: Sequence[Sender], quiet: Hours | None, day: date, of: Span) -> float:
    """Return the most that any of them has open of a day, in minutes."""
    whole = max(0.0, (of[1] - of[0]) / MINUTE)
    found = [whole]
    if any(each.hours is not None for each in senders) or quiet is not None:
        found = [
            min([whole, *(_within(hours, day, of) for hours in (each.hours, quiet) if hours)])
            for each in senders
        ]
    return max(found, default=0.0)


def _within(hours: Hours, day: date, of: Span) -> float:
    """Return the open minutes of a day; of one that has begun, to a quarter of an hour."""
    if day in hours.holidays:
        return 0.0
    if of[1] - of[0] >= _DAY - HOUR:
        ranges = hours.ranges[(day.weekday() + 1) % 7]
        return sum(
            ((_minutes(each.end) - _minutes(each.start)) % WHOLE) or WHOLE for each in ranges
        )
    minutes, at = 0.0, of[0]
    while (opens := next_opening(hours, at, horizon=max(HOUR, of[1] - at))) and opens < of[1]:
        minutes += min(QUARTER, of[1] - opens) / MINUTE
        at = opens + QUARTER
    return minutes


def _minutes(at: time) -> float:
    return at.hour * 60 + at.minute
