"""May this go now, and if not, when?

A budget is a limit with what has been used of it: so many per calendar day, week or
hour, so many within a rolling span, a rate, or a minimum gap. `allows` asks several
at once, in key order, and either takes from all or from none.

The states come in as values and leave as values; nothing is reserved until the caller
has written them back under its lock. `next_at` is the first instant at which the
budget itself would allow: hours and other budgets may push further.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from cadenza.core.zones import Fold, Gap, Zone, as_utc, local_day, resolve

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class Period(StrEnum):
    """A calendar period: hours of UTC, days and Monday weeks of the account's calendar."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


@dataclass(frozen=True, slots=True)
class Counted:
    """At most `cap` in each calendar period; `used` were taken in the period `used_in`."""

    key: str
    cap: int
    period: Period
    zone: Zone
    used: int = 0
    used_in: str = ""
    note: str = ""  # why the cap is what it is


@dataclass(frozen=True, slots=True)
class Rolling:
    """At most `cap` within any `span`; `taken` holds the recent instants, ascending."""

    key: str
    cap: int
    span: timedelta = DAY
    taken: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class Rate:
    """One per `every`, on average, and up to `burst` at once (GCRA).

    `due` is when the steady stream so far would have had its next; unused time is
    not saved up beyond the burst.
    """

    key: str
    every: timedelta
    burst: int = 1
    due: datetime | None = None

    def __post_init__(self) -> None:
        if self.burst < 1 or self.every < timedelta(0):
            raise ValueError(f"{self.key}: a rate needs a burst of 1 or more and a span.")


@dataclass(frozen=True, slots=True)
class MinGap:
    """Nothing before `free_from`. Armed while a call runs, re-armed when it ends."""

    key: str
    gap: timedelta
    free_from: datetime | None = None


Budget = Counted | Rolling | Rate | MinGap


@dataclass(frozen=True, slots=True)
class Refusal:
    """One budget that says no. `next_at` is None when only a higher cap would help."""

    key: str
    reason: str
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class Allowed:
    """All allow; these are their states after the taking, in key order."""

    budgets: tuple[Budget, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """At least one refuses, so nothing was taken. All refusals are told, in key order."""

    refusals: tuple[Refusal, ...]

    @property
    def binding(self) -> Refusal:
        """Return the refusal that holds longest."""
        never = datetime.max.replace(tzinfo=UTC)
        return max(self.refusals, key=lambda refusal: refusal.next_at or never)

    @property
    def next_at(self) -> datetime | None:
        """Return when asking again can make sense; None: not before a cap is raised."""
        return self.binding.next_at


def allows(now: datetime, budgets: Iterable[Budget]) -> Allowed | Refused:
    """Take one from every budget, or from none and say which refuse and until when."""
    now = as_utc(now)
    ordered = sorted(budgets, key=lambda budget: budget.key)
    keys = [budget.key for budget in ordered]
    if len(set(keys)) < len(keys):
        raise ValueError(f"Budgets must have different keys, not {keys}.")
    refusals = tuple(no for budget in ordered if (no := refusal_of(budget, now)) is not None)
    if refusals:
        return Refused(refusals)
    return Allowed(tuple(take(budget, now) for budget in ordered))


def refusal_of(budget: Budget, now: datetime) -> Refusal | None:
    """Return why one budget refuses now, or None if it allows."""
    match budget:
        case Counted():
            used = used_now(budget, now)
            if used < budget.cap:
                return None
            reason = f"{used} of {budget.cap} this {budget.period.value}{budget.note}"
            next_at = next_period(budget.period, now, budget.zone) if budget.cap > 0 else None
        case Rolling():
            inside = [moment for moment in budget.taken if moment > now - budget.span]
            if len(inside) < budget.cap:
                return None
            reason = f"{len(inside)} of {budget.cap} within {_words(budget.span)}"
            next_at = inside[-budget.cap] + budget.span if budget.cap > 0 else None
        case Rate():
            if budget.due is None or now >= (ready := budget.due - _slack(budget)):
                return None
            reason, next_at = f"one every {_words(budget.every)}", ready
        case MinGap():
            if budget.free_from is None or now >= budget.free_from:
                return None
            reason, next_at = f"{_words(budget.gap)} apart", budget.free_from
    return Refusal(budget.key, reason, next_at)


def take(budget: Budget, now: datetime) -> Budget:
    """Return the budget after one was taken, whether or not it allowed that.

    Sends by hand count too, so a budget can be overdrawn; it then refuses for longer.
    """
    match budget:
        case Counted():
            key = period_key(budget.period, now, budget.zone)
            return replace(budget, used=used_now(budget, now) + 1, used_in=key)
        case Rolling():
            inside = [moment for moment in budget.taken if moment > now - budget.span]
            return replace(budget, taken=tuple(sorted([*inside, now])))
        case Rate():
            return replace(budget, due=max(budget.due or now, now) + budget.every)
        case MinGap():
            return replace(budget, free_from=max(budget.free_from or now, now + budget.gap))


def give_back(budget: Budget, taken_at: datetime) -> Budget:
    """Return the budget as if what was taken at that instant had not been.

    For calls that never left or were turned away for their rate. A rate and a gap are
    spans of time, already spent: they stay as they are.
    """
    match budget:
        case Counted():
            same = budget.used_in == period_key(budget.period, taken_at, budget.zone)
            return replace(budget, used=max(0, budget.used - 1)) if same else budget
        case Rolling():
            kept = list(budget.taken)
            if taken_at in kept:
                kept.remove(taken_at)
            return replace(budget, taken=tuple(kept))
        case Rate() | MinGap():
            return budget


def rearm(budget: MinGap, *, ended: datetime) -> MinGap:
    """Return the gap counted from the end of a call, as receivers see it."""
    return replace(budget, free_from=as_utc(ended) + budget.gap)


def used_now(budget: Counted, now: datetime) -> int:
    """Return what is used of the present period; what an older one used has lapsed."""
    return budget.used if budget.used_in == period_key(budget.period, now, budget.zone) else 0


def period_key(period: Period, instant: datetime, zone: Zone) -> str:
    """Return the name of the period: `2026-03-08T07Z`, `2026-03-08` or `2026-W10`."""
    match period:
        case Period.HOUR:
            return f"{as_utc(instant):%Y-%m-%dT%HZ}"
        case Period.DAY:
            return local_day(instant, zone).isoformat()
        case Period.WEEK:
            year, week, _ = local_day(instant, zone).isocalendar()
            return f"{year}-W{week:02}"


def next_period(period: Period, instant: datetime, zone: Zone) -> datetime:
    """Return the first instant after `instant` that belongs to another period."""
    match period:
        case Period.HOUR:
            return as_utc(instant).replace(minute=0, second=0, microsecond=0) + HOUR
        case Period.DAY:
            return _start_after(local_day(instant, zone) + DAY, instant, zone)
        case Period.WEEK:
            day = local_day(instant, zone)
            return _start_after(day + timedelta(days=7 - day.weekday()), instant, zone)


@dataclass(frozen=True, slots=True)
class Ramp:
    """Warm-up: `start` per day, `step` more after every `every` days on which it sent."""

    start: int
    step: int
    every: int = 1


def cap_of(
    default: int,
    *,
    override: int | None = None,
    ceiling: int | None = None,
    ramp: Ramp | None = None,
    active_days: int = 0,
) -> int:
    """Return the cap that holds: the account's own or the default, bounded by the rest."""
    caps = [default if override is None else override]
    if ceiling is not None:
        caps.append(ceiling)
    if ramp is not None:
        caps.append(ramp.start + ramp.step * (active_days // ramp.every))
    return max(0, min(caps))


def _start_after(day: date, instant: datetime, zone: Zone) -> datetime:
    # Where clocks go back across midnight the day begins twice: the start still to come.
    starts = resolve(day, time(), zone, gap=Gap.NEXT_VALID, fold=Fold.BOTH).instants
    return next((start for start in starts if start > instant), starts[-1])


def _slack(rate: Rate) -> timedelta:
    return rate.every * (rate.burst - 1)


def _words(span: timedelta) -> str:
    seconds = span / timedelta(seconds=1)
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
