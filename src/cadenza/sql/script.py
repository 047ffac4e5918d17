"""SQL written once, run on whatever connection the caller has.

A script is a generator: it yields a `Statement`, is sent the rows, and returns its result.
`run_async` drives it on an asyncpg connection; `run_sync` drives it through any function that
executes, such as `over_sqlalchemy(connection)`, so an insert of the engine can join
a transaction that the caller opened with SQLAlchemy. Parameters are $1, $2, …; rows are read
by position. A script that a driver's error ends sees that error at its `yield`.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

Result = TypeVar("Result")
Row: TypeAlias = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement; with `rows=False` nothing is fetched, and without parameters it may be several."""

    sql: str
    params: tuple[Any, ...] = ()
    rows: bool = True


Script: TypeAlias = Generator[Statement, Sequence[Row], Result]
Execute: TypeAlias = Callable[[Statement], Sequence[Row]]


class AsyncConnection(Protocol):
    """The two calls of an asyncpg connection that a script needs."""

    async def fetch(self, query: str, /, *args: Any) -> Sequence[Any]: ...

    async def execute(self, query: str, /, *args: Any) -> Any: ...


class SqlAlchemyConnection(Protocol):
    """The one call of a SQLAlchemy connection that a script needs."""

    def exec_driver_sql(self, statement: str, parameters: Any = None, /) -> Any: ...


async def run_async(script: Script[Result], connection: AsyncConnection) -> Result:
    """Drive a script on an asyncpg connection, within whatever transaction is open there."""
    advance: Callable[[], Statement] = partial(next, script)
    while True:
        try:
            statement = advance()
        except StopIteration as end:
            return end.value
        try:
            rows = await _execute_async(statement, connection)
        except Exception as error:  # noqa: BLE001 - the script's yield is where it belongs
            advance = partial(script.throw, error)
        else:
            advance = partial(script.send, rows)


def run_sync(script: Script[Result], execute: Execute) -> Result:
    """Drive a script through a plain function that executes one statement."""
    advance: Callable[[], Statement] = partial(next, script)
    while True:
        try:
            statement = advance()
        except StopIteration as end:
            return end.value
        try:
            rows = execute(statement)
        except Exception as error:  # noqa: BLE001 - the script's yield is where it belongs
            advance = partial(script.throw, error)
        else:
            advance = partial(script.send, rows)


def over_sqlalchemy(connection: SqlAlchemyConnection) -> Execute:
    """Execute on the caller's SQLAlchemy connection, in the caller's transaction."""

    def execute(statement: Statement) -> Sequence[Row]:
        result = connection.exec_driver_sql(statement.sql, statement.params or None)
        return result.all() if statement.rows and result.returns_rows else []

    return execute


async def _execute_async(statement: Statement, connection: AsyncConnection) -> Sequence[Row]:
    if statement.rows:
        return await connection.fetch(statement.sql, *statement.params)
    await connection.execute(statement.sql, *statement.params)
    return []
