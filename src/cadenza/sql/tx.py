"""SQL inside one transaction, the same text on SQLite and PostgreSQL.

Parameters are named (`:account_id`), rows come as dictionaries. Instants are `timestamptz` columns in
both: PostgreSQL keeps them as such, SQLite as whole microseconds, and this module turns one into the
other by name: a column that ends in `_at` or `_until` is an instant. Flags come as true or false on
PostgreSQL and as 1 or 0 on SQLite; ask them, do not compare them. New rows take their names from
`new_id`, a port, so that a simulation replays to the letter.

Many rows go in one statement as a table of parameters, anywhere that a table may stand:

    SELECT delivery.* FROM TABLE(:keys) AS asked (workspace_id text, id text) JOIN delivery ...
    INSERT INTO outbox (id, body) SELECT id, body FROM TABLE(:new) AS new (id text, body text) WHERE true ...
    UPDATE lane SET epoch = new.epoch FROM TABLE(:new) AS new (id text, epoch bigint) WHERE ... RETURNING id

The parameter is a list of mappings (by column name) or of tuples (in column order). PostgreSQL gets one
array a column (`unnest`), SQLite one JSON text (`json_each`); both are cached statements whatever the
number of rows. A statement that runs without a transaction (`Operations.glance`) asks the database's clock
itself: `CLOCK()`. Limit: on SQLite RETURNING names the changed table alone, an upsert that selects needs its
`WHERE true`, and a row of the table that matches twice is changed once: put such rows together first.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, TypeAlias

import msgspec

from cadenza.core.ids import Ids, SystemIds

Dialect = Literal["sqlite", "postgresql"]
Row: TypeAlias = dict[str, Any]
Execute: TypeAlias = Callable[[str, Mapping[str, Any]], tuple[list[Row], int]]

_SYSTEM_IDS = SystemIds()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NAMED = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_TABLE = re.compile(r"\bTABLE\(:([a-z_][a-z0-9_]*)\)\s+AS\s+([a-z_]+)\s*\(([^()]*)\)")
CLOCK = "CLOCK()"
_ANSWERS = re.compile(
    r"^\s*(SELECT|EXPLAIN)\b|\bRETURNING\b|^\s*WITH\b(?!.*\b(UPDATE|INSERT|DELETE)\b)",
    re.IGNORECASE | re.DOTALL,
)
_INSTANT = re.compile(r".*_(at|until)$")


class Tx:
    """One open transaction, for the length of one operation."""

    __slots__ = ("_execute", "_ids", "_woken", "dialect")

    def __init__(
        self,
        dialect: Dialect,
        execute: Execute,
        ids: Ids = _SYSTEM_IDS,
        woken: set[str] | None = None,
    ) -> None:
        self.dialect: Dialect = dialect
        self._execute = execute
        self._ids = ids
        self._woken = woken

    def wake(self, queue: str) -> None:
        """Let those who wait for this queue look at it once the transaction is committed: a hint."""
        if self._woken is not None:
            self._woken.add(queue)

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


def bind_sqlite(sql: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Turn instants into numbers and tables of parameters into JSON; the clock is `the_clock`."""
    text, tables = _json_tables(sql)
    values = {
        name: to_microseconds(value) if isinstance(value, datetime) else value
        for name, value in params.items()
        if name not in tables
    }
    for name, columns in tables.items():
        rows = _in_order(columns, params[name])
        values[name] = msgspec.json.encode(
            [[_plain(value) for value in row] for row in rows]
        ).decode()
    return text, values


def bind_postgres(sql: str, params: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Number the parameters; a table of parameters becomes one array a column."""
    text, slots = _numbered(sql)
    tables: dict[str, list[tuple[Any, ...]]] = {}
    values: list[Any] = []
    for name, columns, column in slots:
        if columns is None:
            values.append(params[name])
            continue
        if column == 0 or name not in tables:
            rows = _in_order(columns, params[name])
            tables[name] = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        values.append(tables[name][column])
    return text, values


def read_sqlite(names: Sequence[str], values: Sequence[Any]) -> Row:
    """Turn a row of SQLite into one that looks like PostgreSQL's."""
    return {
        name: from_microseconds(value) if value is not None and _is_instant(name) else value
        for name, value in zip(names, values, strict=True)
    }


@lru_cache(maxsize=1024)
def _json_tables(sql: str) -> tuple[str, dict[str, tuple[str, ...]]]:
    tables: dict[str, tuple[str, ...]] = {}

    def write(found: re.Match[str]) -> str:
        names, _ = _columns(found[3])
        tables[found[1]] = names
        picked = ", ".join(
            f"json_extract(value, '$[{n}]') AS {name}" for n, name in enumerate(names)
        )
        # The limit keeps the planner from folding the table into the statement: folded, it is gone through
        # once for every row of the workspace; whole, each of its rows is looked up by the other's key.
        return f"(SELECT {picked} FROM json_each(:{found[1]}) LIMIT -1) AS {found[2]}"  # noqa: S608 - the operation's own words

    return _TABLE.sub(write, sql.replace(CLOCK, ":the_clock")), tables


@lru_cache(maxsize=1024)
def _numbered(sql: str) -> tuple[str, tuple[tuple[str, tuple[str, ...] | None, int], ...]]:
    slots: list[tuple[str, tuple[str, ...] | None, int]] = []

    def spread(found: re.Match[str]) -> str:
        names, types = _columns(found[3])
        arrays = [f"${len(slots) + n}::{kind}[]" for n, kind in enumerate(types, start=1)]
        slots.extend((found[1], names, n) for n in range(len(names)))
        return f"unnest({', '.join(arrays)}) AS {found[2]} ({', '.join(names)})"

    def number(found: re.Match[str]) -> str:
        slot = (found[1], None, 0)
        if slot not in slots:
            slots.append(slot)
        return f"${slots.index(slot) + 1}"

    text = sql.replace(CLOCK, "clock_timestamp()")
    return _NAMED.sub(number, _TABLE.sub(spread, text)), tuple(slots)


def _columns(written: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read `id text, lease bigint`."""
    names, types = zip(*(column.split() for column in written.split(",")), strict=True)
    return names, types


def _in_order(
    columns: tuple[str, ...], rows: Sequence[Mapping[str, Any] | tuple[Any, ...]]
) -> Sequence[tuple[Any, ...]]:
    if not rows or isinstance(rows[0], tuple):
        return rows  # pyright: ignore[reportReturnType] - all are alike
    if len(columns) == 1:
        return [(row[columns[0]],) for row in rows]  # pyright: ignore[reportArgumentType, reportCallIssue]
    return list(map(itemgetter(*columns), rows))


def _plain(value: Any) -> Any:
    return to_microseconds(value) if isinstance(value, datetime) else value


@lru_cache(maxsize=1024)
def returns_rows(sql: str) -> bool:
    """Say whether a statement answers with rows: a SELECT, an EXPLAIN, or a change that says RETURNING."""
    return _ANSWERS.search(sql) is not None


@lru_cache(maxsize=1024)
def _is_instant(name: str) -> bool:
    return _INSTANT.match(name) is not None
