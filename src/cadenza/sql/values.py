"""Turns rows into typed values at the border, so that no dictionary travels further.

A value is a frozen `msgspec.Struct` whose fields are named like its columns. Its reader is made once: flags become
true or false on SQLite too, and words with an enum become its members.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from operator import itemgetter
from types import UnionType
from typing import Any, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from cadenza.sql.tx import Row, Tx

Key: TypeAlias = tuple[str, str]  # a workspace, and an id in it
T = TypeVar("T", bound=msgspec.Struct)


@cache
def columns(kind: type[msgspec.Struct], table: str) -> str:
    """List a value's columns for a SELECT or a RETURNING."""
    return ", ".join(f"{table}.{name}" for name in kind.__struct_fields__)


def read_value(kind: type[T], row: Row) -> T:
    """Return a row as a value; other columns of the row are left out."""
    return _reader(kind)(row)


def read_values(kind: type[T], rows: Iterable[Row]) -> list[T]:
    """Return rows as values."""
    return list(map(_reader(kind), rows))


def select(
    tx: Tx, kind: type[T], table: str, keys: Iterable[Key], *, hold: str | None = None
) -> dict[Key, T]:
    """Read values by workspace and id, in one order; `hold` keeps the rows as they are until the end."""
    lock = f"FOR {hold} OF {table}" if hold and tx.dialect == "postgresql" else ""
    rows = tx.all(
        f"""
        SELECT {columns(kind, table)} FROM TABLE(:keys) AS asked (workspace_id text, id text)
        JOIN {table} ON {table}.workspace_id = asked.workspace_id AND {table}.id = asked.id
        ORDER BY {table}.workspace_id, {table}.id {lock}
        """,  # noqa: S608 - put together from constants
        keys=sorted(set(keys)),
    )
    read = _reader(kind)
    return {(row["workspace_id"], row["id"]): read(row) for row in rows}


@cache
def _reader(kind: type[Any]) -> Callable[[Row], Any]:
    names: tuple[str, ...] = kind.__struct_fields__
    assert len(names) > 1, "a value of one column is that column"
    hints = get_type_hints(kind)
    turns = [(at, turn) for at, name in enumerate(names) if (turn := _turn(hints[name]))]
    pick = itemgetter(*names)

    def read(row: Row) -> Any:
        values = list(pick(row))
        for at, turn in turns:
            if values[at] is not None:
                values[at] = turn(values[at])
        return kind(*values)

    return read


def _turn(hint: Any) -> Callable[[Any], Any] | None:
    """Say how a column becomes a field; None: as it is."""
    if get_origin(hint) is UnionType:
        hint = next(each for each in get_args(hint) if each is not type(None))
    if hint is bool:
        return bool
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {member.value: member for member in hint}.__getitem__
    return None
