"""A table of one's own in SQLite as a classic store; a path's first name is a column.

Times are whole milliseconds since 1970 (UTC), in a column or, by a dotted path, in a column's JSON.
Names are taken letter by letter from what `split_path` lets through, values only as parameters. An
index on the time is the owner's to make: `CREATE INDEX ... (sleep_until) WHERE sleep_until IS NOT NULL`.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cadenza.core.zones import as_utc
from cadenza.engine.classic.document import Document, FieldPaths, split_path
from cadenza.engine.errors import InvalidJob
from cadenza.sql.sqlite import SqliteDatabase

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
COLUMNS = FieldPaths(
    id="id",
    sleep_until="sleep_until",
    interval="interval",
    repeat_until="repeat_until",
    auto_remove="auto_remove",
)


class ClassicSqliteTable:
    """Rows as documents. `condition` names fields and the values that they must have."""

    def __init__(
        self,
        database: SqliteDatabase,
        table: str,
        *,
        fields: FieldPaths = COLUMNS,
        condition: Mapping[str, object] | None = None,
    ) -> None:
        if len(split_path(table)) != 1:
            raise InvalidJob(f"{table!r} is no table name")
        self._database = database
        self._table = f"[{table}]"
        self._fields = fields
        wanted = condition or {}
        self._wanted = tuple(wanted.values())
        self._time = _value(fields.sleep_until)
        conditions = "".join(f" AND {_value(path)} IS ?" for path in wanted)
        self._find = (
            f"SELECT {_value(fields.id)}, {self._time}, {_value(fields.interval)},"  # noqa: S608 - names are vetted
            f" {_value(fields.repeat_until)}, {_value(fields.auto_remove)}, * FROM {self._table}"
            f" WHERE {self._time} IS NOT NULL AND {self._time} <= ?{conditions}"
            f" ORDER BY {self._time} LIMIT 1"
        )
        self._set = (
            f"UPDATE {self._table} SET {_assign(fields.sleep_until)}"  # noqa: S608 - names are vetted
            f" WHERE {_value(fields.id)} IS ? AND {self._time} IS ?"
        )
        self._delete = (
            f"DELETE FROM {self._table} WHERE {_value(fields.id)} IS ? AND {self._time} IS ?"  # noqa: S608 - names are vetted
        )

    async def lock_next(self, lock_until: datetime, *, now: datetime) -> Document | None:
        """Lock the row that has been due longest."""

        def lock(tx: sqlite3.Connection, _now: int) -> Document | None:
            cursor = tx.execute(self._find, (to_milliseconds(now), *self._wanted))
            row = cursor.fetchone()
            if row is None:
                return None
            tx.execute(self._set, (to_milliseconds(lock_until), row[0], row[1]))
            names = [column[0] for column in cursor.description]
            return _read(row, names, lock_until)

        return await self._database.run(lock)

    async def update(
        self, id: Any, *, sleep_until: datetime | None, locked_until: datetime | None
    ) -> bool:
        """Write the next time, if the lock is still ours."""
        after = None if sleep_until is None else to_milliseconds(sleep_until)
        return await self._write(self._set, (after, id, _maybe(locked_until)))

    async def remove(self, id: Any, *, locked_until: datetime | None) -> bool:
        """Delete, if the lock is still ours."""
        return await self._write(self._delete, (id, _maybe(locked_until)))

    async def _write(self, statement: str, values: Sequence[object]) -> bool:
        return await self._database.run(lambda tx, _: tx.execute(statement, values).rowcount > 0)


def to_milliseconds(instant: datetime) -> int:
    """Return whole milliseconds since 1970, as the table keeps times."""
    return (as_utc(instant) - _EPOCH) // _MILLISECOND


def _from_milliseconds(value: object) -> datetime | None:
    return _EPOCH + value * _MILLISECOND if isinstance(value, int | float) else None


def _maybe(instant: datetime | None) -> int | None:
    return None if instant is None else to_milliseconds(instant)


def _value(path: str) -> str:
    column, *inner = split_path(path)
    # Brackets: a misspelt name in double quotes would be taken as a text by SQLite.
    return f"json_extract([{column}], '${_inside(inner)}')" if inner else f"[{column}]"


def _assign(path: str) -> str:
    column, *inner = split_path(path)
    if not inner:
        return f'"{column}" = ?'
    return f'"{column}" = json_set("{column}", \'${_inside(inner)}\', ?)'


def _inside(parts: Sequence[str]) -> str:
    return "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in parts)


def _read(row: Sequence[Any], names: Sequence[str], lock: datetime) -> Document:
    id_, until, interval, repeat_until, auto_remove, *rest = row
    return Document(
        id=id_,
        sleep_until=_from_milliseconds(until),
        interval=interval or None,
        repeat_until=_from_milliseconds(repeat_until),
        auto_remove=bool(auto_remove),
        data=dict(zip(names[5:], rest, strict=True)),
        locked_until=lock,
    )
