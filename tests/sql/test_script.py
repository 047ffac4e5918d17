"""One script, three connections: asyncpg's own, SQLAlchemy's, and a plain function."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from cadenza.sql.script import Script, Statement, over_sqlalchemy, run_async, run_sync


def post(name: str, copies: int) -> Script[list[int]]:
    """Insert a letter several times; return the numbers it got."""
    yield Statement("CREATE TABLE IF NOT EXISTS letter (id SERIAL, name TEXT)", rows=False)
    numbers: list[int] = []
    for _ in range(copies):
        rows = yield Statement("INSERT INTO letter (name) VALUES ($1) RETURNING id", (name,))
        numbers.append(rows[0][0])
    return numbers


def post_or_forget(name: str) -> Script[str]:
    try:
        yield Statement("INSERT INTO nowhere VALUES ($1)", (name,))
    except (LookupError, asyncpg.PostgresError) as error:
        return type(error).__name__
    return "posted"


async def test_a_script_runs_on_asyncpg(postgres_database: str) -> None:
    connection = await asyncpg.connect(postgres_database)
    assert await run_async(post("ada", 3), connection) == [1, 2, 3]
    assert await run_async(post_or_forget("ada"), connection) == "UndefinedTableError"
    await connection.close()


async def test_the_same_script_joins_a_sqlalchemy_transaction(postgres_database: str) -> None:
    address = postgres_database.replace("postgresql://", "postgresql+asyncpg://", 1)
    engine = create_async_engine(address)
    async with engine.connect() as connection:
        numbers = await connection.run_sync(
            lambda tx: run_sync(post("ben", 2), over_sqlalchemy(tx))
        )
        assert numbers == [1, 2]
        await connection.rollback()
    async with engine.connect() as connection:
        found = await connection.exec_driver_sql("SELECT to_regclass('letter')")
        assert (
            found.scalar() is None
        )  # it was the caller's transaction, and the caller took it back
    await engine.dispose()


def test_a_plain_function_may_execute() -> None:
    requested: list[Statement] = []

    def execute(statement: Statement) -> list[tuple[Any, ...]]:
        requested.append(statement)
        return [(len(requested),)]

    assert run_sync(post("cy", 2), execute) == [2, 3]
    assert [statement.params for statement in requested] == [(), ("cy",), ("cy",)]


def test_an_error_reaches_the_script_at_its_yield() -> None:
    def execute(statement: Statement) -> list[tuple[Any, ...]]:
        raise LookupError(statement.sql)

    assert run_sync(post_or_forget("ada"), execute) == "LookupError"
    with pytest.raises(LookupError):
        run_sync(post("ada", 1), execute)
