"""A week of wall times: what a posting schedule says before any date is known.

Read from either shape that people send, a map of weekdays or a flat list, into one
value whose times ascend and never repeat. It knows nothing of instants; `slots`
turns it into those. Times are whole minutes: a finer slot could not be told apart
in the queue.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from enum import IntEnum
from typing import NamedTuple, TypeVar, cast

from cadenza.core.zones import Fold, Gap, Zone

_Choice = TypeVar("_Choice", Gap, Fold)


class ScheduleError(ValueError):
    """The weekly times cannot be read; the message says which one and why."""


class Weekday(IntEnum):
    """Days as the outside numbers them: Sunday is 0."""

    SUNDAY = 0
    MONDAY = 1
    TUESDAY = 2
    WEDNESDAY = 3
    THURSDAY = 4
    FRIDAY = 5
    SATURDAY = 6

    @classmethod
    def of(cls, day: date) -> "Weekday":
        """Return the weekday of a date."""
        return cls(day.toordinal() % 7)  # ordinal 1, 0001-01-01, was a Monday


class SlotPolicy(NamedTuple):
    """What one slot of the week does in a gap and in a fold, where it differs from the rest."""

    weekday: int
    wall_time: time
    gap: Gap
    fold: Fold


@dataclass(frozen=True, slots=True)
class WeeklySchedule:
    """An account's weekly slots. `times[Weekday.MONDAY]` are Monday's, ascending.

    `max_per_day` is the editor's wish per local date; None means no limit. On
    `blackouts` (local dates) nothing is offered. `policies` name the slots that
    meet a change of clocks in another way than `gap` and `fold` say.
    """

    zone: Zone
    times: tuple[tuple[time, ...], ...]
    max_per_day: int | None = None
    blackouts: frozenset[date] = frozenset()
    gap: Gap = Gap.SHIFT
    fold: Fold = Fold.FIRST
    policies: tuple[SlotPolicy, ...] = ()
    # Since midnight, beside `times`: a year of slots must not recompute them daily.
    walls: tuple[tuple[tuple[timedelta, time], ...], ...] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if len(self.times) != 7:
            raise ScheduleError(f"A week has 7 days of times, not {len(self.times)}.")
        if self.max_per_day is not None and self.max_per_day < 1:
            raise ScheduleError(
                f"max_per_day is {self.max_per_day}; give at least 1, or none for no limit. "
                "To stop a queue, pause or disable it."
            )
        times = tuple(tuple(sorted({_whole_minute(t) for t in day})) for day in self.times)
        object.__setattr__(self, "times", times)
        walls = tuple(tuple((_since_midnight(t), t) for t in day) for day in times)
        object.__setattr__(self, "walls", walls)

    @property
    def is_empty(self) -> bool:
        """Say whether the week offers no time at all."""
        return not any(self.times)

    def policy(self, weekday: int, wall_time: time) -> tuple[Gap, Fold]:
        """Return what that slot does in a gap and in a fold."""
        for own in self.policies:
            if own.weekday == weekday and own.wall_time == wall_time:
                return own.gap, own.fold
        return self.gap, self.fold


def read_times(shape: object) -> tuple[tuple[time, ...], ...]:
    """Read weekly times from either shape; repeated times collapse.

    A map: `{"1": [{"hour": 9, "minute": 0}, "15:00"], …}` with "0" for Sunday. Or a
    list: `[{"dayOfWeek": 1, "hour": 9, "minute": 0}, …]`.
    """
    found: tuple[set[time], ...] = tuple(set() for _ in Weekday)
    for weekday, moment, where in _entries(shape):
        found[weekday].add(_read_time(moment, where))
    return tuple(tuple(sorted(day)) for day in found)


def read_policies(
    shape: object, *, gap: Gap = Gap.SHIFT, fold: Fold = Fold.FIRST
) -> tuple[SlotPolicy, ...]:
    """Read the slots that name a `gap` or a `fold` of their own, from either shape."""
    found: dict[tuple[int, time], SlotPolicy] = {}
    for weekday, moment, where in _entries(shape):
        if isinstance(moment, Mapping):
            entry = cast("Mapping[object, object]", moment)
            own_gap = _read_choice(Gap, entry.get("gap"), gap, where)
            own_fold = _read_choice(Fold, entry.get("fold"), fold, where)
            if (own_gap, own_fold) != (gap, fold):
                at = _read_time(moment, where)
                found[weekday, at] = SlotPolicy(weekday, at, own_gap, own_fold)
    return tuple(found[key] for key in sorted(found))


def write_times(
    times: tuple[tuple[time, ...], ...], policies: tuple[SlotPolicy, ...] = ()
) -> dict[str, list[dict[str, int | str]]]:
    """Write weekly times as the map of weekdays, leaving out empty days."""
    own = {(policy.weekday, policy.wall_time): policy for policy in policies}

    def write(weekday: Weekday, t: time) -> dict[str, int | str]:
        entry: dict[str, int | str] = {"hour": t.hour, "minute": t.minute}
        if (policy := own.get((weekday, t))) is not None:
            entry |= {"gap": policy.gap.value, "fold": policy.fold.value}
        return entry

    return {
        str(weekday.value): [write(weekday, t) for t in times[weekday]]
        for weekday in Weekday
        if times[weekday]
    }


def _read_choice(kind: type[_Choice], value: object, default: _Choice, where: str) -> _Choice:
    if value is None:
        return default
    if isinstance(value, str) and value in set(kind):
        return kind(value)
    raise ScheduleError(f"{where}: {kind.__name__.lower()} is {' or '.join(kind)}, not {value!r}.")


def _entries(shape: object) -> Iterable[tuple[Weekday, object, str]]:
    if isinstance(shape, Mapping):
        for key, moments in cast("Mapping[object, object]", shape).items():
            weekday = _read_weekday(key, f"day {key!r}")
            if isinstance(moments, str | Mapping) or not isinstance(moments, Iterable):
                raise ScheduleError(f"Day {key!r} needs a list of times, not {moments!r}.")
            for index, moment in enumerate(cast("Iterable[object]", moments)):
                yield weekday, moment, f"day {key!r}, time {index + 1}"
    elif isinstance(shape, Iterable) and not isinstance(shape, str | bytes):
        for index, item in enumerate(cast("Iterable[object]", shape)):
            where = f"slot {index + 1}"
            if not isinstance(item, Mapping):
                raise ScheduleError(f"{where}: needs dayOfWeek, hour and minute, not {item!r}.")
            entry = cast("Mapping[object, object]", item)
            yield (
                _read_weekday(entry.get("dayOfWeek", entry.get("day_of_week")), where),
                item,
                where,
            )
    else:
        raise ScheduleError(
            'Weekly times are a map such as {"1": [{"hour": 9, "minute": 0}]} or a list such as '
            f'[{{"dayOfWeek": 1, "hour": 9, "minute": 0}}], not {shape!r}.'
        )


def _read_weekday(value: object, where: str) -> Weekday:
    if isinstance(value, str) and value in {"0", "1", "2", "3", "4", "5", "6"}:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 6:
        return Weekday(value)
    raise ScheduleError(f"{where}: the day of the week is 0 (Sunday) to 6, not {value!r}.")


def _read_time(value: object, where: str) -> time:
    if isinstance(value, time):
        return _whole_minute(value)
    if isinstance(value, str):
        hour, colon, minute = value.partition(":")
        digits = hour + minute
        if colon and len(digits) == 4 and digits.isascii() and digits.isdigit():
            value = {"hour": int(hour), "minute": int(minute)}
    if isinstance(value, Mapping):
        entry = cast("Mapping[object, object]", value)
        hour, minute = entry.get("hour"), entry.get("minute")
        if _is_int(hour, below=24) and _is_int(minute, below=60):
            return time(cast("int", hour), cast("int", minute))
    raise ScheduleError(
        f"{where}: a time is HH:MM or an hour 0 to 23 with a minute 0 to 59, not {value!r}."
    )


def _is_int(value: object, *, below: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below


def _whole_minute(value: time) -> time:
    if value.second or value.microsecond or value.tzinfo is not None:
        raise ScheduleError(f"{value.isoformat()}: slots are whole minutes without a zone.")
    return value.replace(fold=0)


def _since_midnight(value: time) -> timedelta:
    return timedelta(hours=value.hour, minutes=value.minute)
