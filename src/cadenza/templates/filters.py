"""The filters: a fixed list of pure functions from one value to a text.

A filter that cannot work with a value (a date of what is no date) raises `BadValue`, and that recipient's message is
refused with the reason; nothing is guessed. Months and weekdays are English. Limit: no filter of a user's own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TypeAlias
from urllib.parse import quote

Argument: TypeAlias = str | int
Value: TypeAlias = str | int | float | bool | date | datetime | Decimal
MOST_DIGITS = 10
LONGEST_CUT = 10_000
_CODE = re.compile(r"%(.?)", re.DOTALL)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATES: Mapping[str, Callable[[datetime], str]] = {
    "Y": lambda at: f"{at.year:04}",
    "y": lambda at: f"{at.year % 100:02}",
    "m": lambda at: f"{at.month:02}",
    "d": lambda at: f"{at.day:02}",
    "e": lambda at: str(at.day),
    "B": lambda at: _MONTHS[at.month - 1],
    "b": lambda at: _MONTHS[at.month - 1][:3],
    "A": lambda at: _DAYS[at.weekday()],
    "a": lambda at: _DAYS[at.weekday()][:3],
    "H": lambda at: f"{at.hour:02}",
    "I": lambda at: f"{at.hour % 12 or 12:02}",
    "M": lambda at: f"{at.minute:02}",
    "p": lambda at: "AM" if at.hour < 12 else "PM",
    "%": lambda at: "%",
}


class BadValue(ValueError):
    """A filter cannot work with this value; the message says why."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter: what it does, and which arguments it takes."""

    apply: Callable[..., str]
    takes: tuple[type[str] | type[int], ...] = ()
    needs: int = 0  # how many of them cannot be left out
    check: Callable[[Sequence[Argument]], str | None] | None = None
    example: str = ""

    def why_not(self, arguments: Sequence[Argument]) -> str | None:
        """Say what is wrong with the arguments, or None."""
        if not self.needs <= len(arguments) <= len(self.takes):
            return f"write it as {self.example}"
        if not all(isinstance(a, kind) for a, kind in zip(arguments, self.takes, strict=False)):
            return f"write it as {self.example}"
        return None if self.check is None else self.check(arguments)


def text_of(value: Value) -> str:
    """Write a value without a filter."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return str(value)


def _date(value: Value, form: str = "%Y-%m-%d") -> str:
    at = _instant(value)
    return _CODE.sub(lambda code: _DATES[code[1]](at), form)


def _instant(value: Value) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - a day has no zone
    try:
        return datetime.fromisoformat(text_of(value).strip())
    except ValueError as error:
        raise BadValue("it is not a date: write 2026-11-18 or 2026-11-18T09:30") from error


def _check_date(arguments: Sequence[Argument]) -> str | None:
    for code in _CODE.findall(str(arguments[0]) if arguments else ""):
        if code not in _DATES:
            known = " ".join(f"%{each}" for each in _DATES)
            return f"%{code} is not known; there are {known}"
    return None


def _number(value: Value, digits: int = 0, thousands: str = ",", point: str = ".") -> str:
    try:
        number = Decimal(text_of(value).strip())
    except InvalidOperation as error:
        raise BadValue("it is not a number: write 1234.5") from error
    if not number.is_finite() or abs(number.adjusted()) > 30:
        raise BadValue("it is not a number that can be written out")
    said = f"{number:,.{digits}f}"
    return said.replace(",", "\0").replace(".", point).replace("\0", thousands)


def _check_number(arguments: Sequence[Argument]) -> str | None:
    if arguments and not 0 <= int(arguments[0]) <= MOST_DIGITS:
        return f"there can be 0 to {MOST_DIGITS} digits after the point"
    if any(len(str(sign)) > 1 for sign in arguments[1:]):
        return "a separator is one character, or none"
    return None


def _truncate(value: Value, most: int, end: str = "…") -> str:
    said = text_of(value)
    if len(said) <= most:
        return said
    return said[: max(0, most - len(end))].rstrip() + end


def _check_truncate(arguments: Sequence[Argument]) -> str | None:
    if not 1 <= int(arguments[0]) <= LONGEST_CUT:
        return f"a length is 1 to {LONGEST_CUT:,}"
    if len(arguments) > 1 and len(str(arguments[1])) > int(arguments[0]):
        return "what marks the cut is longer than the whole"
    return None


def _check_default(arguments: Sequence[Argument]) -> str | None:
    return (
        None
        if str(arguments[0]).strip()
        else "it must not be blank: leave the words out with {{#if name}}"
    )


FILTERS: Mapping[str, Filter] = {
    "default": Filter(
        lambda value, *_: text_of(value), (str,), 1, _check_default, 'default: "there"'
    ),
    "upper": Filter(lambda value: text_of(value).upper(), example="upper"),
    "lower": Filter(lambda value: text_of(value).lower(), example="lower"),
    "capitalize": Filter(
        lambda value: (said := text_of(value))[:1].upper() + said[1:], example="capitalize"
    ),
    "title": Filter(lambda value: _titled(text_of(value)), example="title"),
    "trim": Filter(lambda value: text_of(value).strip(), example="trim"),
    "truncate": Filter(
        _truncate, (int, str), 1, _check_truncate, 'truncate: 30 or truncate: 30, "…"'
    ),
    "date": Filter(_date, (str,), 0, _check_date, 'date: "%e %B %Y"'),
    "number": Filter(
        _number, (int, str, str), 0, _check_number, 'number: 2 or number: 2, ".", ","'
    ),
    "urlencode": Filter(
        lambda value: quote(text_of(value), safe="", errors="replace"), example="urlencode"
    ),
}


def _titled(text: str) -> str:
    """Write each word with a capital; what follows an apostrophe stays small (`O'Neil's` keeps its s)."""
    return re.sub(r"(?<![\w'’])\w", lambda first: first[0].upper(), text)
