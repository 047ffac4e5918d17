"""The vocabulary of cron: dialects, field ranges, names, macros, and the one error.

Plain tables, so that the parser, the English text and the documentation tell the same
story. Limit: English names only.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Dialect(StrEnum):
    """Whose cron it is."""

    STANDARD = "standard"
    MONGODB_CRON = "mongodb-cron"


class CronError(ValueError):
    """An expression that cannot be used; says where, what, why and what to write instead."""

    def __init__(self, field_name: str, value: str, problem: str, suggestion: str) -> None:
        super().__init__(f'{field_name} "{value}": {problem}; {suggestion}')
        self.field: str = field_name
        self.value: str = value
        self.problem: str = problem
        self.suggestion: str = suggestion


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field: its name, the numbers it takes and the words that stand for them."""

    name: str
    low: int
    high: int
    names: dict[str, int] = field(default_factory=dict, hash=False)


MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

FIELDS = (
    FieldSpec("second", 0, 59),
    FieldSpec("minute", 0, 59),
    FieldSpec("hour", 0, 23),
    FieldSpec("day of month", 1, 31),
    FieldSpec("month", 1, 12, {name: n for n, name in enumerate(MONTH_NAMES, 1)}),
    FieldSpec("day of week", 0, 7, {name: n for n, name in enumerate(WEEKDAY_NAMES)}),
)

_SHARED_MACROS = {
    "@yearly": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}
MACROS: dict[Dialect, dict[str, str]] = {
    Dialect.MONGODB_CRON: _SHARED_MACROS,
    Dialect.STANDARD: {
        **_SHARED_MACROS,
        "@annually": _SHARED_MACROS["@yearly"],
        "@midnight": _SHARED_MACROS["@daily"],
    },
}
