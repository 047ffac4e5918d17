"""SQL inside one transaction, the same text on SQLite and PostgreSQL.

Parameters are named (`:account_id`), rows come as dictionaries. Instants are `timestamptz` columns in
both: PostgreSQL keeps them as such, SQLite as whole microseconds, and this module turns one into the
other by name: a column that ends in `_at` or `_until` is an instant. Flags come as true or false on
PostgreSQL and as 1 or 0 on SQLite; ask them, do not compare them. New rows take their names from
`new_id`, a port, so that a simulation replays to the letter.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from cadenza.core.ids import Ids, SystemIds

Dialect = Literal["sqlite", "postgresql"]
Row: TypeAlias = dict[str, Any]
Execute: TypeAlias = Callable[[str, Mapping[str, Any]], tuple[list[Row], int]]

_SYSTEM_IDS = SystemIds()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NAMED = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_ANSWERS = re.compile(
    r"^\s*SELECT\b|\bRETURNING\b|^\s*WITH\b(?!.*\b(UPDATE|INSERT|DELETE)\b)",
    re.IGNORECASE | re.DOTALL,
)
_INSTANT = re.compile(r".*_(at|until)$")


class Tx:
    """One open transaction, for the length of one operation."""

    __slots__ = ("_execute", "_ids", "dialect")

    def __init__(self, dialect: Dialect, execute: Execute, ids: Ids = _SYSTEM_IDS) -> None:
        self.dialect: Dialect = dialect
        self._execute = execute
        self._ids = ids

    def new_id(self) -> str:
        """Return a name for a new row; when the operation is run again, the row gets another."""
        return self._ids.new()

    def all(self, sql: str, /, **params: Any) -> list[Row]:
        """Return every row."""
        return self._execute(sql, params)[0]

    def one(self, sql: str, /, **params: Any) -> Row | None:
        """Return the first row, or None."""
        rows = self._execute(sql, params)[0]
        return rows[0] if rows else None

    def value(self, sql: str, /, **params: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self.one(sql, **params)
        return None if row is None else next(iter(row.values()))

    def run(self, sql: str, /, **params: Any) -> int:
        """Execute a change; return how many rows it touched, so that a loser knows."""
        return self._execute(sql, params)[1]

    def run_each(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Execute a change once per row; return how many rows were touched in all."""
        return sum(self._execute(sql, row)[1] for row in rows)


def to_microseconds(instant: datetime) -> int:
    """Return an instant as SQLite keeps it."""
    if instant.tzinfo is None:
        raise ValueError(f"{instant.isoformat()} has no time zone and cannot be stored.")
    return (instant - _EPOCH) // _MICROSECOND


def from_microseconds(value: int) -> datetime:
    """Return the instant that SQLite keeps as a number."""
    return _EPOCH + timedelta(microseconds=value)


def bind_sqlite(params: Mapping[str, Any]) -> dict[str, Any]:
    """Turn instants into numbers, flags into 0 and 1."""
    return {
        name: to_microseconds(value) if isinstance(value, datetime) else value
        for name, value in params.items()
    }


def read_sqlite(names: Sequence[str], values: Sequence[Any]) -> Row:
    """Turn a row of SQLite into one that looks like PostgreSQL's."""
    return {
        name: from_microseconds(value) if value is not None and _is_instant(name) else value
        for name, value in zip(names, values, strict=True)
    }


@lru_cache(maxsize=1024)
def number_params(sql: str) -> tuple[str, tuple[str, ...]]:
    """Turn named parameters into numbered ones; return the order of their names."""
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    return _NAMED.sub(number, sql), tuple(names)


@lru_cache(maxsize=1024)
def returns_rows(sql: str) -> bool:
    """Say whether a statement answers with rows: a SELECT, or a change that says RETURNING."""
    return _ANSWERS.search(sql) is not None


@lru_cache(maxsize=1024)
def _is_instant(name: str) -> bool:
    return _INSTANT.match(name) is not None
