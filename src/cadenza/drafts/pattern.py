"""What a rule says about dates and times, as values, read from and written to plain JSON shapes.

Four kinds: weekdays every n weeks, every n days, days of the month every n months, and an interval
of whole hours. The first three name wall times; an interval runs on real time. Everything counts
from the rule's anchor, which is kept beside the pattern. Limit: there is no yearly kind.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, TypeAlias, cast

from cadenza.core.suggest import did_you_mean
from cadenza.core.weekly import Weekday

MOST_TIMES = 48  # of one day
MOST_STEP = 1000


class PatternError(ValueError):
    """The pattern cannot be read; the message says what to write instead."""


class ShortMonth(StrEnum):
    """What becomes of the 31st where a month has none."""

    LAST = "last"  # the month's last day
    SKIP = "skip"  # nothing that month, as calendars do


@dataclass(frozen=True, slots=True)
class NthWeekday:
    """The second Tuesday (2, TUESDAY), the last Friday (-1, FRIDAY)."""

    nth: int
    weekday: Weekday

    def __post_init__(self) -> None:
        if self.nth not in {1, 2, 3, 4, 5, -1, -2, -3, -4, -5}:
            raise PatternError(f"nth is 1 to 5, or -1 to -5 from the end, not {self.nth}.")


@dataclass(frozen=True, slots=True)
class Weekly:
    """On these weekdays at these times, in every `step`-th week (weeks begin on Monday)."""

    weekdays: frozenset[Weekday]
    times: tuple[time, ...]
    step: int = 1

    def __post_init__(self) -> None:
        if not self.weekdays:
            raise PatternError("A weekly rule names at least one weekday, 0 (Sunday) to 6.")
        _check(self.step)
        object.__setattr__(self, "times", _in_order(self.times))


@dataclass(frozen=True, slots=True)
class Daily:
    """On every `step`-th day from the anchor at these times."""

    times: tuple[time, ...]
    step: int = 1

    def __post_init__(self) -> None:
        _check(self.step)
        object.__setattr__(self, "times", _in_order(self.times))


@dataclass(frozen=True, slots=True)
class Monthly:
    """On these days (31, or -1 for the last) and nth weekdays, in every `step`-th month."""

    times: tuple[time, ...]
    days: frozenset[int] = frozenset()
    weekdays: frozenset[NthWeekday] = frozenset()
    step: int = 1
    short_month: ShortMonth = ShortMonth.LAST

    def __post_init__(self) -> None:
        if not self.days and not self.weekdays:
            raise PatternError("A monthly rule names days (1 to 31, -1 the last) or nth weekdays.")
        wrong = sorted(day for day in self.days if not (1 <= day <= 31 or -31 <= day <= -1))
        if wrong:
            raise PatternError(f"A day of the month is 1 to 31, or -1 to -31, not {wrong[0]}.")
        _check(self.step)
        object.__setattr__(self, "times", _in_order(self.times))


@dataclass(frozen=True, slots=True)
class Interval:
    """Every so many hours of real time, from the anchor's instant."""

    hours: int

    def __post_init__(self) -> None:
        if not 1 <= self.hours <= 24 * 366:
            raise PatternError(f"An interval is 1 to {24 * 366} hours, not {self.hours}.")


Pattern: TypeAlias = Weekly | Daily | Monthly | Interval


def read_pattern(shape: object) -> Pattern:
    """Read `{"kind": "weekly", "weekdays": [1, 4], "times": ["09:00"]}` and its sisters."""
    if not isinstance(shape, Mapping):
        raise PatternError(f"A pattern is an object with a kind, not {shape!r}.")
    said = dict(cast("Mapping[str, Any]", shape))
    kind = said.pop("kind", None)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise PatternError(
            f"kind is {', '.join(_READERS)}, not {kind!r}.{did_you_mean(str(kind), _READERS)}"
        )
    known = _FIELDS[cast("str", kind)]
    strange = sorted(set(said) - known)
    if strange:
        raise PatternError(
            f"A {kind} pattern has no {strange[0]!r}.{did_you_mean(strange[0], known)}"
        )
    return reader(said)


def write_pattern(pattern: Pattern) -> dict[str, Any]:
    """Write a pattern as `read_pattern` takes it."""
    match pattern:
        case Weekly():
            return {
                "kind": "weekly",
                "weekdays": sorted(int(day) for day in pattern.weekdays),
                "times": _write_times(pattern.times),
                "step": pattern.step,
            }
        case Daily():
            return {"kind": "daily", "times": _write_times(pattern.times), "step": pattern.step}
        case Monthly():
            weekdays = sorted((each.nth, int(each.weekday)) for each in pattern.weekdays)
            return {
                "kind": "monthly",
                "days": sorted(pattern.days),
                "weekdays": [{"nth": nth, "weekday": weekday} for nth, weekday in weekdays],
                "times": _write_times(pattern.times),
                "step": pattern.step,
                "short_month": pattern.short_month.value,
            }
        case Interval():
            return {"kind": "interval", "hours": pattern.hours}


def read_anchor(text: str) -> datetime:
    """Read a wall time such as 2026-11-16 or 2026-11-16T09:00: where a rule counts from."""
    try:
        anchor = datetime.fromisoformat(text)
    except ValueError:
        raise PatternError(
            f"starts is a date or a wall time to the minute, not {text!r}."
        ) from None
    if anchor.tzinfo is not None or anchor.second or anchor.microsecond:
        raise PatternError(
            f"starts is a wall time to the minute in the rule's zone, not {text!r}: leave the offset out."
        )
    if not date(1970, 1, 1) <= anchor.date() <= date(2099, 12, 31):
        raise PatternError(f"starts lies between 1970 and 2099, not on {anchor.date()}.")
    return anchor


def _weekly(said: dict[str, Any]) -> Pattern:
    weekdays = frozenset(_weekday(day) for day in _list(said, "weekdays"))
    return Weekly(weekdays, _times(said), _number(said, "step", 1))


def _daily(said: dict[str, Any]) -> Pattern:
    return Daily(_times(said), _number(said, "step", 1))


def _monthly(said: dict[str, Any]) -> Pattern:
    chosen = said.get("short_month", ShortMonth.LAST)
    if chosen not in set(ShortMonth):
        raise PatternError(f"short_month is {' or '.join(ShortMonth)}, not {chosen!r}.")
    return Monthly(
        times=_times(said),
        days=frozenset(_whole(day, "days") for day in _list(said, "days")),
        weekdays=frozenset(_nth(each) for each in _list(said, "weekdays")),
        step=_number(said, "step", 1),
        short_month=ShortMonth(chosen),
    )


def _interval(said: dict[str, Any]) -> Pattern:
    return Interval(_number(said, "hours", None))


_READERS: dict[str, Callable[[dict[str, Any]], Pattern]] = {
    "weekly": _weekly,
    "daily": _daily,
    "monthly": _monthly,
    "interval": _interval,
}
_FIELDS = {
    "weekly": {"weekdays", "times", "step"},
    "daily": {"times", "step"},
    "monthly": {"days", "weekdays", "times", "step", "short_month"},
    "interval": {"hours"},
}


def _list(said: Mapping[str, Any], name: str) -> list[Any]:
    value = said.get(name, [])
    if not isinstance(value, list | tuple):
        raise PatternError(f"{name} is a list, not {value!r}.")
    return list(cast("Iterable[Any]", value))


def _times(said: Mapping[str, Any]) -> tuple[time, ...]:
    return tuple(_time(text) for text in _list(said, "times"))


def _time(text: object) -> time:
    try:
        if isinstance(text, str) and len(text) == 5:
            return time.fromisoformat(text)
    except ValueError:
        pass
    raise PatternError(f"A time is HH:MM, such as 09:00, not {text!r}.")


def _nth(shape: object) -> NthWeekday:
    if not isinstance(shape, Mapping):
        raise PatternError(f'An nth weekday is {{"nth": 2, "weekday": 2}}, not {shape!r}.')
    said = cast("Mapping[str, Any]", shape)
    return NthWeekday(_number(said, "nth", None), _weekday(said.get("weekday")))


def _weekday(value: object) -> Weekday:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 6:
        return Weekday(value)
    raise PatternError(f"A weekday is 0 (Sunday) to 6 (Saturday), not {value!r}.")


def _number(said: Mapping[str, Any], name: str, default: int | None) -> int:
    return _whole(said.get(name, default), name)


def _whole(value: object, name: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise PatternError(f"{name} is a whole number, not {value!r}.")


def _check(step: int) -> None:
    if not 1 <= step <= MOST_STEP:
        raise PatternError(f"step is 1 to {MOST_STEP}, not {step}.")


def _in_order(times: Iterable[time]) -> tuple[time, ...]:
    found = tuple(sorted(set(times)))
    if not found:
        raise PatternError("A rule names at least one time of day, such as 09:00.")
    if len(found) > MOST_TIMES:
        raise PatternError(f"A rule has at most {MOST_TIMES} times of day, not {len(found)}.")
    fine = [each for each in found if each.second or each.microsecond or each.tzinfo]
    if fine:
        raise PatternError(f"{fine[0].isoformat()}: times are whole minutes without a zone.")
    return found


def _write_times(times: Iterable[time]) -> list[str]:
    return [each.strftime("%H:%M") for each in times]
