"""Plans that PostgreSQL keeps for prepared statements: kept between runs, not for longer than said."""

from collections.abc import AsyncIterator

import pytest

from cadenza.core.clock import SystemClock
from cadenza.sql.postgres import Connection, PostgresDatabase

KEPT = 5.0
ASK = "SELECT count(*) FROM pg_class WHERE relname = $1"


class Hands(SystemClock):
    """A monotonic clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def monotonic(self) -> float:
        return self.at


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
async def database(postgres_database: str, hands: Hands) -> AsyncIterator[PostgresDatabase]:
    one = PostgresDatabase(
        postgres_database,
        spare=1,
        plans_kept=KEPT,
        clock=hands,
    )
    await one.open()
    yield one
    await one.close()


async def ask(connection: Connection) -> None:
    await connection.fetchval(ASK, "nothing")


async def forgets(database: PostgresDatabase, hands: Hands, *, after: float) -> bool:
    """Say whether a run that comes so much later begins with plans forgotten."""
    said: list[str] = []

    async def listen(connection: Connection) -> None:
        connection.add_query_logger(lambda query: said.append(query.query))

    await database.run(listen)
    hands.at += after
    await database.run(ask)
    await database.run(ask)  # by now the first one's words were heard
    return "DISCARD PLANS" in said


async def test_plans_are_kept_for_a_while(database: PostgresDatabase, hands: Hands) -> None:
    assert not await forgets(database, hands, after=KEPT - 1)


async def test_plans_that_are_old_are_made_again(database: PostgresDatabase, hands: Hands) -> None:
    assert await forgets(database, hands, after=KEPT + 1)
    assert not await forgets(database, hands, after=1), "and then kept again"
