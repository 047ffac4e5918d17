"""Writing: many operations, one commit, each on its own."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from cadenza.core.clock import SystemClock
from cadenza.sql.errors import Unavailable
from cadenza.sql.sqlite import SqliteDatabase
from cadenza.sql.sqlite_connect import microseconds
from tests.sql.letters import create_letters


def post(name: str) -> Callable[[sqlite3.Connection, int], str]:
    def operation(tx: sqlite3.Connection, now: int) -> str:
        tx.execute("INSERT INTO letter VALUES (?, ?)", (name, now))
        return name

    return operation


def refuse(tx: sqlite3.Connection, now: int) -> None:
    tx.execute("INSERT INTO letter VALUES ('refused', ?)", (now,))
    raise LookupError("Cy has no account here")


def names(tx: sqlite3.Connection, _now: int) -> list[str]:
    return [name for (name,) in tx.execute("SELECT name FROM letter ORDER BY name")]


async def in_one_batch(
    database: SqliteDatabase, operations: list[Callable[[sqlite3.Connection, int], object]]
) -> list[object]:
    """Hold the writer until all operations are queued, so that they share one transaction."""
    gate = threading.Event()

    def hold(_tx: sqlite3.Connection, _now: int) -> None:
        gate.wait(5)

    holding = asyncio.ensure_future(database.run(hold))
    running = [asyncio.ensure_future(database.run(operation)) for operation in operations]
    await asyncio.sleep(0.02)
    gate.set()
    await holding
    return await asyncio.gather(*running, return_exceptions=True)


async def test_an_operation_returns_what_its_function_returns(either: SqliteDatabase) -> None:
    assert await either.run(post("ada")) == "ada"
    assert await either.read(names) == ["ada"]


class _StoppedClock(SystemClock):
    """Keeps the batch's time box open for as long as a test needs."""

    def now(self) -> datetime:
        return datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def patient(path: str) -> Iterator[SqliteDatabase]:
    with SqliteDatabase(path, clock=_StoppedClock()) as database:
        database.run_sync(create_letters)
        yield database


async def test_a_failing_operation_leaves_its_neighbours_committed(
    patient: SqliteDatabase, path: str
) -> None:
    database = patient
    answers = await in_one_batch(database, [post("ada"), refuse, post("ada"), post("ben")])

    assert answers[0] == "ada"
    assert isinstance(answers[1], LookupError)
    assert isinstance(answers[2], sqlite3.IntegrityError)
    assert answers[3] == "ben"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert names(other, 0) == ["ada", "ben"]


async def test_operations_that_wait_together_share_one_commit(patient: SqliteDatabase) -> None:
    database = patient
    begun: list[str] = []
    database._writer._connection.set_trace_callback(begun.append)

    await in_one_batch(database, [post(f"letter {number}") for number in range(50)])

    assert begun.count("COMMIT") == begun.count("BEGIN IMMEDIATE") == 1


async def test_a_lone_operation_pays_for_no_savepoint(database: SqliteDatabase) -> None:
    begun: list[str] = []
    database._writer._connection.set_trace_callback(begun.append)

    await database.run(post("ada"))

    assert [line.split(" ")[0] for line in begun] == ["BEGIN", "INSERT", "COMMIT"]


async def test_a_failure_of_the_first_in_a_batch_undoes_its_own_writes(
    database: SqliteDatabase,
) -> None:
    answers = await asyncio.gather(
        database.run(refuse), database.run(post("ada")), return_exceptions=True
    )

    assert isinstance(answers[0], LookupError)
    assert await database.read(names) == ["ada"]


async def test_an_answer_comes_only_after_the_commit(database: SqliteDatabase, path: str) -> None:
    other = sqlite3.connect(path)
    for number in range(40):
        await database.run(post(f"letter {number}"))
        # No await between the answer and this look: the row must be there for everybody.
        assert other.execute("SELECT count(*) FROM letter").fetchone() == (number + 1,)
    other.close()


async def test_a_full_commit_reaches_the_disk(database: SqliteDatabase) -> None:
    def settings(tx: sqlite3.Connection, _now: int) -> list[object]:
        wanted = ("synchronous", "foreign_keys", "wal_autocheckpoint", "busy_timeout")
        return [tx.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted]

    assert await database.run(settings) == [2, 1, 0, 10_000]
    assert await database.read(settings) == [2, 1, 0, 10_000]


async def test_an_urgent_operation_overtakes_those_that_wait(database: SqliteDatabase) -> None:
    order: list[str] = []

    def note(name: str) -> Callable[[sqlite3.Connection, int], None]:
        return lambda _tx, _now: order.append(name)

    gate = threading.Event()
    holding = asyncio.ensure_future(database.run(lambda _tx, _now: gate.wait(5)))
    await asyncio.sleep(0.02)
    waiting = [asyncio.ensure_future(database.run(note("plain"))) for _ in range(3)]
    heartbeat = asyncio.ensure_future(database.run(note("heartbeat"), urgent=True))
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(holding, heartbeat, *waiting)

    assert order == ["heartbeat", "plain", "plain", "plain"]


async def test_a_caller_that_gave_up_in_the_queue_writes_nothing(database: SqliteDatabase) -> None:
    gate = threading.Event()
    holding = asyncio.ensure_future(database.run(lambda _tx, _now: gate.wait(5)))
    await asyncio.sleep(0.02)
    given_up = asyncio.ensure_future(database.run(post("ada")))
    await asyncio.sleep(0)
    given_up.cancel()
    gate.set()
    await holding
    await database.run(post("ben"))

    assert await database.read(names) == ["ben"]


class _LateClock(SystemClock):
    """Tells how long ago it was asked."""

    def __init__(self) -> None:
        self.requested = 0

    def now(self) -> datetime:
        self.requested += 1
        return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=self.requested)


async def test_each_operation_reads_the_clock_once_after_the_lock_is_held(path: str) -> None:
    clock = _LateClock()
    with SqliteDatabase(path, clock=clock) as database:
        before = clock.requested
        held = sqlite3.connect(path, isolation_level=None)
        held.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(database.run(lambda _tx, now: now))
        await asyncio.sleep(0.05)
        assert clock.requested == before
        held.execute("ROLLBACK")
        held.close()

        now = await waiting

    assert clock.requested == before + 1
    assert now == microseconds(datetime(2026, 3, 1, tzinfo=UTC)) + clock.requested * 1_000_000


async def test_an_operation_that_commits_by_itself_is_told_off(database: SqliteDatabase) -> None:
    with pytest.raises(RuntimeError, match="ended its transaction"):
        await database.run(lambda tx, _now: tx.execute("COMMIT"))

    assert await database.run(post("ada")) == "ada"


def test_an_operation_cannot_start_another(either: SqliteDatabase) -> None:
    def nested(_tx: sqlite3.Connection, _now: int) -> None:
        either.run_sync(post("ada"))

    with pytest.raises(RuntimeError, match="same tx"):
        either.run_sync(nested)


def test_an_inline_operation_that_fails_is_undone() -> None:
    with SqliteDatabase(":memory:", clock=SystemClock()) as database:
        database.run_sync(lambda tx, _now: tx.execute("CREATE TABLE letter (name, at)") and None)
        with pytest.raises(LookupError):
            database.run_sync(refuse)

        assert database.read_sync(names) == []


async def test_close_finishes_what_was_asked(path: str, database: SqliteDatabase) -> None:
    requested = [asyncio.ensure_future(database.run(post(f"letter {n:03}"))) for n in range(300)]
    await asyncio.sleep(0)
    database.close()

    assert len(await asyncio.gather(*requested)) == 300
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert len(names(other, 0)) == 300
    with pytest.raises(Unavailable, match="closed"):
        await database.run(post("late"))


def test_close_ends_its_threads(path: str) -> None:
    before = threading.active_count()
    database = SqliteDatabase(path, clock=SystemClock())
    assert threading.active_count() == before + 2

    database.close()
    database.close()

    assert threading.active_count() == before
