"""Read a cron expression into sets of numbers, or say exactly what is wrong with it.

Two dialects: `standard` takes 5 or 6 fields (seconds first) and refuses what could only be
a mistake; `mongodb-cron` takes what that Node package takes (cron-parser 4.9.0), so that
its documents mean the same here. Limit: no year field, no `W` but in `LW`, no `L-3`.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from cadenza.core.cron_words import FIELDS, MACROS, CronError, Dialect, FieldSpec
from cadenza.core.suggest import closest

_LONGEST_TEXT = 1000
_SHORTER = f"write ranges and steps to stay within {_LONGEST_TEXT}"
_NUMBER = re.compile(r"[0-9]{1,4}")
_LONGEST_MONTH = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SECOND, _MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY = FIELDS


class Special(StrEnum):
    """Day words that are not numbers."""

    LAST_DAY = "L"
    LAST_WORKDAY = "LW"


@dataclass(frozen=True, slots=True)
class Fields:
    """What an expression says; Sunday is 0. All tuples are sorted and without repeats.

    `any_day` and `any_weekday` say that the field was left open: a day must fit the other
    one alone. When neither is open, a day that fits either of them counts.
    """

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    special_days: frozenset[Special] = frozenset()
    last_weekdays: tuple[int, ...] = ()  # 5L: the month's last Friday
    nth_weekdays: tuple[tuple[int, int], ...] = ()  # (1, 2) for MON#2
    any_day: bool = False
    any_weekday: bool = False
    # mongodb-cron only: `#` filters every day that matched, and a day list as long as the
    # month counts as open in that month.
    nth_filter: int = 0
    open_by_length: bool = False


@dataclass(frozen=True, slots=True)
class _Parsed:
    """One field, before the day rules are applied."""

    values: frozenset[int]
    special: frozenset[Special] = frozenset()
    last: frozenset[int] = frozenset()
    nth: frozenset[tuple[int, int]] = frozenset()

    def __or__(self, other: "_Parsed") -> "_Parsed":
        return _Parsed(
            self.values | other.values,
            self.special | other.special,
            self.last | other.last,
            self.nth | other.nth,
        )


def parse_fields(expression: str, dialect: Dialect) -> Fields:
    """Return the fields of `expression`; raise `CronError` when it can never be meant."""
    words = _split(expression, dialect)
    if dialect is Dialect.MONGODB_CRON:
        return _mongodb_cron(words)
    return _standard(words)


def _split(expression: str, dialect: Dialect) -> list[str]:
    text = expression.strip()
    if len(text) > _LONGEST_TEXT:
        shown = f"{text[:20]}..."
        raise CronError("expression", shown, f"is {len(text)} characters long", _SHORTER)
    if text.startswith("@"):
        return _expand_macro(text, dialect).split()
    words = text.split()
    least = 1 if dialect is Dialect.MONGODB_CRON else 5
    if not least <= len(words) <= 6:
        raise CronError(
            "expression",
            expression,
            f"has {len(words)} fields where {least} to 6 are expected"
            + (" (5: minute hour day month weekday; 6: second first)" if least == 5 else ""),
            _suggest_field_count(words),
        )
    return ["0", "*", "*", "*", "*", "*"][: 6 - len(words)] + words


def _suggest_field_count(words: list[str]) -> str:
    if not words:
        return 'for every day at nine, write "0 9 * * *"'
    if len(words) > 6:
        return "leave out the year field, and any command behind the times"
    return 'fill the missing fields with "*", for instance ' + repr(
        " ".join(words + ["*"] * (5 - len(words)))
    )


def _expand_macro(text: str, dialect: Dialect) -> str:
    name = text if dialect is Dialect.MONGODB_CRON else text.lower()
    known = MACROS[dialect]
    if name in known:
        return known[name]
    near = closest(name, known)
    hint = f'did you mean "{near}"?' if near else "write the time in five fields instead"
    if name == "@reboot":
        hint = "a schedule runs by the clock; enqueue a job when the program starts instead"
    raise CronError("macro", text, f"is not one of {', '.join(known)}", hint)


def _standard(words: list[str]) -> Fields:
    second, minute, hour, day, month, weekday = (
        _parse_list(word, spec, strict=True) for word, spec in zip(words, FIELDS, strict=True)
    )
    fields = _assemble(second, minute, hour, day, month, weekday)
    fields = replace(fields, any_day=_is_open(words[3]), any_weekday=_is_open(words[5]))
    _refuse_impossible_days(fields, words)
    return fields


def _is_open(word: str) -> bool:
    return word in {"*", "?", "*/1"}


def _mongodb_cron(words: list[str]) -> Fields:
    weekday_word, nth = _split_nth(words[5])
    words = [*words[:5], weekday_word]
    second, minute, hour, day, month, weekday = (
        _parse_list(word, spec, strict=False) for word, spec in zip(words, FIELDS, strict=True)
    )
    fields = _assemble(second, minute, hour, day, month, weekday)
    if len(fields.months) == 1:
        longest = _LONGEST_MONTH[fields.months[0]]
        if fields.days and fields.days[0] > longest:
            raise _impossible_day(words, longest)
        fields = replace(fields, days=tuple(d for d in fields.days if d <= longest))
    return replace(
        fields,
        # 0-7 has eight numbers; there, eight of them count as open, repeats included.
        any_weekday=sum(_count(atom) for atom in weekday_word.split(",")) == 8,
        open_by_length=True,
        nth_filter=nth,
    )


def _count(atom: str) -> int:
    return len(_parse_atom(atom, _WEEKDAY, strict=False).values)


def _split_nth(word: str) -> tuple[str, int]:
    base, mark, nth = word.partition("#")
    if not mark:
        return word, 0
    if any(c in base for c in ",-/") or not _NUMBER.fullmatch(nth) or not 1 <= int(nth) <= 5:
        raise _bad(_WEEKDAY, word, "the form is weekday#1 to weekday#5, alone", "write mon#2")
    return base, int(nth)


def _assemble(
    second: _Parsed, minute: _Parsed, hour: _Parsed, day: _Parsed, month: _Parsed, weekday: _Parsed
) -> Fields:
    return Fields(
        seconds=tuple(sorted(second.values)),
        minutes=tuple(sorted(minute.values)),
        hours=tuple(sorted(hour.values)),
        days=tuple(sorted(day.values)),
        months=tuple(sorted(month.values)),
        weekdays=tuple(sorted({value % 7 for value in weekday.values})),
        special_days=day.special,
        last_weekdays=tuple(sorted(weekday.last)),
        nth_weekdays=tuple(sorted(weekday.nth)),
    )


def _refuse_impossible_days(fields: Fields, words: list[str]) -> None:
    if not fields.any_weekday or fields.any_day or fields.special_days:
        return
    longest = max(_LONGEST_MONTH[month] for month in fields.months)
    if fields.days[0] > longest:
        raise _impossible_day(words, longest)


def _impossible_day(words: list[str], longest: int) -> CronError:
    return CronError(
        _DAY.name,
        words[3],
        f"never comes in month {words[4]}, which has at most {longest} days",
        'use "L" for the last day of the month',
    )


def _parse_list(word: str, spec: FieldSpec, *, strict: bool) -> _Parsed:
    parsed = _Parsed(frozenset())
    for atom in word.split(","):
        if not atom:
            raise _bad(spec, word, "has an empty entry in its list", "remove the extra comma")
        parsed |= _parse_atom(atom, spec, strict=strict)
    return parsed


def _parse_atom(atom: str, spec: FieldSpec, *, strict: bool) -> _Parsed:
    word = atom.upper() if strict else atom
    if spec is _DAY and (word == "L" or (strict and word == "LW")):
        return _Parsed(frozenset(), special=frozenset({Special(word)}))
    if spec is _WEEKDAY and "#" in word:
        return _parse_nth(atom, spec)
    if spec is _WEEKDAY and word.endswith("L"):
        return _parse_last(atom, spec)
    base, slash, step_word = atom.partition("/")
    step = _parse_step(atom, step_word, spec, strict=strict) if slash else 1
    span = sorted(_parse_range(base, spec, strict=strict, open_ended=bool(slash)))
    values = frozenset(v for v in span if (v - span[0]) % step == 0)
    if not strict and spec is _WEEKDAY and span[-1] == 7:
        values |= {0}  # there, every range that reaches 7 holds Sunday, whatever the step
    return _Parsed(values)


def _parse_nth(atom: str, spec: FieldSpec) -> _Parsed:
    base, nth = atom.split("#", 1)
    if not _NUMBER.fullmatch(nth) or not 1 <= int(nth) <= 5:
        raise _bad(spec, atom, "the number behind # must be 1-5", "mon#2 is the second Monday")
    weekday = _parse_value(base, spec, atom) % 7
    return _Parsed(frozenset(), nth=frozenset({(weekday, int(nth))}))


def _parse_last(atom: str, spec: FieldSpec) -> _Parsed:
    if len(atom) == 1:
        raise _bad(spec, atom, "does not say which weekday", "5L is the month's last Friday")
    weekday = _parse_value(atom[:-1], spec, atom) % 7
    return _Parsed(frozenset(), last=frozenset({weekday}))


def _parse_step(atom: str, step: str, spec: FieldSpec, *, strict: bool) -> int:
    if not _NUMBER.fullmatch(step) or int(step) == 0:
        raise _bad(spec, atom, "the step behind / must be a whole number from 1", "write */5")
    if strict and int(step) > spec.high:
        raise _bad(
            spec,
            atom,
            f"a step of {int(step)} never comes round within the field",
            f"steps start afresh at {spec.low}; for a longer period use an interval schedule",
        )
    return int(step)


def _parse_range(base: str, spec: FieldSpec, *, strict: bool, open_ended: bool) -> frozenset[int]:
    if base == "*" or (base == "?" and spec in {_DAY, _WEEKDAY}):
        return frozenset(range(spec.low, spec.high + (spec is not _WEEKDAY or not strict)))
    if base == "?":
        raise _bad(spec, base, "only the two day fields take ?", "write * instead")
    low_word, dash, high_word = base.partition("-")
    if not dash:
        low = _parse_value(base, spec, base)
        if open_ended:
            return frozenset(
                range(low, spec.high + (not (strict and spec is _WEEKDAY and low < 7)))
            )
        return frozenset({low % 7 if spec is _WEEKDAY else low})
    low, high = _parse_value(low_word, spec, base), _parse_value(high_word, spec, base)
    if strict and spec is _WEEKDAY and high == 0 < low:
        high = 7  # fri-sun: the week may end with Sunday as well as begin with it
    if low > high:
        raise _bad(
            spec, base, "the range runs backwards", f"write {low}-{spec.high},{spec.low}-{high}"
        )
    return frozenset(range(low, high + 1))


def _parse_value(word: str, spec: FieldSpec, whole: str) -> int:
    if _NUMBER.fullmatch(word):
        if spec.low <= int(word) <= spec.high:
            return int(word)
        raise _bad(spec, whole, f"{int(word)} is out of range", _suggest_number(int(word), spec))
    if word.lower() in spec.names:
        return spec.names[word.lower()]
    raise _bad(
        spec,
        whole,
        f'"{word}" is not understood' if word else "a number is missing",
        _suggest_name(word, spec),
    )


def _suggest_number(value: int, spec: FieldSpec) -> str:
    if value == 24 and spec is _HOUR:
        return "midnight is hour 0"
    if value == 60 and spec in {_SECOND, _MINUTE}:
        return "the full hour or minute is 0"
    if value == 0:
        return f"counting starts at {spec.low}"
    return f"the highest value is {spec.high}"


def _suggest_name(word: str, spec: FieldSpec) -> str:
    lowered = word.lower()
    near = next((name for name in spec.names if lowered.startswith(name)), None)
    near = near or closest(lowered, spec.names)
    if near:
        return f'did you mean "{near}"?'
    if word.upper().endswith("W"):
        return 'the only form with W is "LW", the last working day, in the day field'
    if word.upper() == "L":
        return 'L stands in the day field ("L") or behind a weekday ("5L")'
    return (
        f'use "*", a number, a range such as {spec.low}-{spec.high}, a list or a step such as */2'
    )


def _bad(spec: FieldSpec, value: str, problem: str, suggestion: str) -> CronError:
    names = list(spec.names)
    also = f" or {names[0]}-{names[-1]}" if names else ""
    return CronError(
        spec.name, value, f"{problem} (allowed: {spec.low}-{spec.high}{also})", suggestion
    )
