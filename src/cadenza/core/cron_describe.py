"""Say in short English when a cron expression runs.

Built from the parsed fields, not from the text, so that it tells what will happen rather
than what was typed. Limit: odd lists are spelled out as numbers; no zone is named.
"""

from cadenza.core.cron_parse import Fields, Special
from cadenza.core.cron_words import MONTH_NAMES, WEEKDAY_NAMES

_ORDINALS = ("", "first", "second", "third", "fourth", "fifth")
_NTH = {2: "2nd", 3: "3rd"}
_MOST_TIMES = 4


def describe_fields(fields: Fields) -> str:
    """Return a phrase such as "at 09:00 on Mon-Fri"."""
    parts = [_times(fields), _days(fields), _months(fields)]
    return " ".join(part for part in parts if part)


def _times(fields: Fields) -> str:
    hours, minutes, seconds = fields.hours, fields.minutes, fields.seconds
    if len(hours) * len(minutes) * len(seconds) <= _MOST_TIMES:
        return "at " + _join(
            [_clock(h, m, s, seconds) for h in hours for m in minutes for s in seconds]
        )
    of_hours = _of(hours, 24, "hour")
    if seconds != (0,):
        return _every(seconds, 60, "second") + _of(minutes, 60, "minute") + of_hours
    if len(minutes) == 1 and len(hours) == 24:
        return f"at minute {minutes[0]} of every hour"
    return _every(minutes, 60, "minute") + of_hours


def _clock(hour: int, minute: int, second: int, seconds: tuple[int, ...]) -> str:
    clock = f"{hour:02}:{minute:02}"
    return clock if seconds == (0,) else f"{clock}:{second:02}"


def _of(values: tuple[int, ...], size: int, unit: str) -> str:
    """Say within which minutes or hours; "every 2 hours" would sound like all the time."""
    if len(values) == size:
        return ""
    step = _step(values, size)
    if step:
        return f" of every {_NTH.get(step, f'{step}th')} {unit}"
    return f" of {_units(unit, values)}"


def _every(values: tuple[int, ...], size: int, unit: str) -> str:
    if len(values) == size:
        return f"every {unit}"
    step = _step(values, size)
    if step:
        return f"every {step} {unit}s"
    return f"at {_units(unit, values)}"


def _units(unit: str, values: tuple[int, ...]) -> str:
    return f"{unit}{'s' if len(values) > 1 else ''} {_ranges(values)}"


def _step(values: tuple[int, ...], size: int) -> int:
    """Return the step when the values are evenly spread over the whole field, else 0."""
    if len(values) < 2 or values[0] != 0 or size % values[1]:
        return 0  # */7 is no "every 7 minutes": it starts afresh each hour
    return values[1] if values == tuple(range(0, size, values[1])) else 0


def _days(fields: Fields) -> str:
    by_date, by_weekday = _dates(fields), _weekdays(fields)
    any_day = fields.any_day
    if fields.open_by_length:
        any_day = len(fields.days) + len(fields.special_days) >= 31
    if any_day and fields.any_weekday:
        return ""
    if any_day:
        return f"on {by_weekday}"
    if len(fields.days) == 31 and not fields.nth_filter:
        return ""  # every date fits, so the weekday does not matter
    if fields.any_weekday:
        return f"on {by_date}"
    return f"on {by_date} or on {by_weekday}"


def _dates(fields: Fields) -> str:
    words = [f"day {_ranges(fields.days)}"] if fields.days else []
    if Special.LAST_DAY in fields.special_days:
        words.append("the last day of the month")
    if Special.LAST_WORKDAY in fields.special_days:
        words.append("the last working day of the month")
    return _join(words)


def _weekdays(fields: Fields) -> str:
    if fields.nth_filter:
        return f"the {_ORDINALS[fields.nth_filter]} {_ranges(fields.weekdays, WEEKDAY_NAMES)}"
    words = [_ranges(fields.weekdays, WEEKDAY_NAMES)] if fields.weekdays else []
    words += [f"the last {WEEKDAY_NAMES[day].title()}" for day in fields.last_weekdays]
    words += [f"the {_ORDINALS[n]} {WEEKDAY_NAMES[day].title()}" for day, n in fields.nth_weekdays]
    return _join(words)


def _months(fields: Fields) -> str:
    if len(fields.months) == 12:
        return ""
    return "in " + _ranges(tuple(month - 1 for month in fields.months), MONTH_NAMES)


def _ranges(values: tuple[int, ...], names: tuple[str, ...] = ()) -> str:
    """Return sorted numbers as "1-5, 9"; by their names if there are some."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(_run(run, names) for run in runs)


def _run(run: list[int], names: tuple[str, ...]) -> str:
    ends = [run[0]] if len(run) == 1 else [run[0], run[-1]]
    words = [names[end].title() if names else str(end) for end in ends]
    return (", " if len(run) == 2 else "-").join(words)


def _join(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
