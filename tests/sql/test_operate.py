import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest

from cadenza.core.clock import SystemClock
from cadenza.sql.postgres import PostgresDatabase
from cadenza.sql.sqlite import SqliteDatabase
from cadenza.sql.transactions import Operations, PostgresOperations, SqliteOperations
from cadenza.sql.tx import Tx

CREATE = "CREATE TABLE counter (name text PRIMARY KEY, count bigint NOT NULL, moved_at timestamptz, open boolean)"


@pytest.fixture(params=["sqlite", "postgres"])
async def operations(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Operations]:
    if request.param == "sqlite":
        with SqliteDatabase(f"{tmp_path}/product.sqlite3", clock=SystemClock()) as database:
            yield SqliteOperations(database)
        return
    database = PostgresDatabase(request.getfixturevalue("postgres_database"), spare=8)
    await database.open()
    yield PostgresOperations(database)
    await database.close()


@pytest.fixture
async def counter(operations: Operations) -> Operations:
    def create(tx: Tx, now: datetime) -> None:
        tx.run(CREATE)
        tx.run("INSERT INTO counter VALUES ('ada', 0, :now, :open)", now=now, open=True)

    await operations.run(create)
    return operations


async def test_the_same_text_runs_on_both_databases(counter: Operations) -> None:
    moved = datetime(2026, 5, 1, 9, 30, 0, 123456, tzinfo=UTC)

    def change(tx: Tx, _now: datetime) -> int:
        return tx.run("UPDATE counter SET moved_at = :at WHERE name = :name", at=moved, name="ada")

    def look(tx: Tx, _now: datetime) -> object:
        return tx.one("SELECT name, moved_at, open FROM counter WHERE moved_at <= :at", at=moved)

    assert await counter.run(change) == 1
    row = await counter.read(look)
    assert row == {"name": "ada", "moved_at": moved, "open": True}


async def test_a_change_that_finds_nothing_says_so(counter: Operations) -> None:
    assert await counter.run(lambda tx, _: tx.run("DELETE FROM counter WHERE name = 'cy'")) == 0
    returning = "UPDATE counter SET count = 5 RETURNING count"
    assert await counter.run(lambda tx, _: tx.value(returning)) == 5


async def test_an_exception_rolls_everything_back(counter: Operations) -> None:
    def spoil(tx: Tx, _now: datetime) -> None:
        tx.run("UPDATE counter SET count = 99")
        raise LookupError("no")

    with pytest.raises(LookupError):
        await counter.run(spoil)
    assert await counter.read(lambda tx, _: tx.value("SELECT count FROM counter")) == 0


async def test_a_caught_error_of_a_statement_reaches_the_operation(counter: Operations) -> None:
    def clash(tx: Tx, _now: datetime) -> str:
        try:
            tx.run("INSERT INTO counter VALUES ('ada', 0, NULL, NULL)")
        except Exception as error:  # noqa: BLE001 - each driver has its own
            return type(error).__name__
        return "none"

    assert await counter.run(clash) != "none"


async def test_declared_locks_make_read_then_write_right(counter: Operations) -> None:
    def count_on(tx: Tx, _now: datetime) -> None:
        seen = tx.value("SELECT count FROM counter WHERE name = 'ada'")
        tx.run("UPDATE counter SET count = :next WHERE name = 'ada'", next=seen + 1)

    await asyncio.gather(*(counter.run(count_on, locks=["ada"]) for _ in range(100)))
    assert await counter.read(lambda tx, _: tx.value("SELECT count FROM counter")) == 100


async def test_two_locks_in_any_order_never_wait_in_a_ring(counter: Operations) -> None:
    def nothing(tx: Tx, _now: datetime) -> int:
        return tx.value("SELECT count FROM counter")

    orders = [["ada", "ben"], ["ben", "ada"]] * 50
    async with asyncio.timeout(20):
        await asyncio.gather(*(counter.run(nothing, locks=order) for order in orders))


async def test_now_is_read_after_the_locks(counter: Operations) -> None:
    instants: list[datetime] = []

    def note(tx: Tx, now: datetime) -> None:
        tx.run("UPDATE counter SET count = count + 1")
        instants.append(now)

    await asyncio.gather(*(counter.run(note, locks=["ada"]) for _ in range(50)))
    assert instants == sorted(instants)


async def test_reading_cannot_write(counter: Operations) -> None:
    with pytest.raises(Exception, match="read"):
        await counter.read(lambda tx, _: tx.run("UPDATE counter SET count = 7"))


async def test_a_glance_sees_what_is_there_and_asks_the_databases_clock(
    counter: Operations,
) -> None:
    def look(tx: Tx) -> object:
        return tx.one("SELECT name, CLOCK() AS asked_at FROM counter WHERE moved_at <= CLOCK()")

    before = await counter.read(lambda _, now: now)
    row = await counter.peek(look)
    after = await counter.read(lambda _, now: now)
    assert isinstance(row, dict)
    assert row["name"] == "ada"
    assert before <= row["asked_at"] <= after


async def test_a_glance_cannot_write(counter: Operations) -> None:
    with pytest.raises(Exception, match="read"):
        await counter.peek(lambda tx: tx.run("UPDATE counter SET count = 7"))
    assert await counter.read(lambda tx, _: tx.value("SELECT count FROM counter")) == 0


async def test_whoever_gives_up_leaves_nothing_open_for_the_next(postgres_database: str) -> None:
    """A transaction left open would take in what the next one is told is committed."""
    database = PostgresDatabase(postgres_database, spare=1)
    await database.open()
    operations = PostgresOperations(database)
    outside = await asyncpg.connect(postgres_database)
    await outside.execute("CREATE TABLE counter (count bigint NOT NULL)")
    await outside.execute("INSERT INTO counter VALUES (0)")
    for n, turns in enumerate(range(0, 150, 2), start=1):  # of the loop: from BEGIN to COMMIT
        hasty = asyncio.create_task(operations.run(lambda tx, _: tx.value("SELECT 1")))
        for _ in range(turns):
            await asyncio.sleep(0)
        hasty.cancel()
        await asyncio.gather(hasty, return_exceptions=True)
        await operations.run(lambda tx, _: tx.run("UPDATE counter SET count = count + 1"))
        assert await outside.fetchval("SELECT count FROM counter") == n, f"after {turns} turns"
    await outside.close()
    await database.close()
