"""Reading: a snapshot beside the writer."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing

import pytest

from cadenza.sql.errors import Unavailable
from cadenza.sql.sqlite import SqliteDatabase


def count(tx: sqlite3.Connection, _now: int = 0) -> int:
    return tx.execute("SELECT count(*) FROM letter").fetchone()[0]


def post(tx: sqlite3.Connection, now: int) -> None:
    tx.execute("INSERT INTO letter VALUES (hex(randomblob(8)), ?)", (now,))


async def test_a_reader_sees_one_snapshot_while_others_write(database: SqliteDatabase) -> None:
    await database.run(post)
    loop, looked, written = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def look_twice(tx: sqlite3.Connection, _now: int) -> tuple[int, int]:
        first = count(tx)
        loop.call_soon_threadsafe(looked.set)
        assert written.wait(5)
        return first, count(tx)

    reading = asyncio.ensure_future(database.read(look_twice))
    await looked.wait()
    await database.run(post)
    written.set()

    assert await reading == (1, 1)
    assert await database.read(count) == 2


async def test_a_read_cannot_write(either: SqliteDatabase) -> None:
    with pytest.raises(Unavailable, match="readonly"):
        await either.read(post)

    assert await either.read(count) == 0


async def test_a_read_sees_every_commit_acknowledged_before(either: SqliteDatabase) -> None:
    for number in range(1, 50):
        await either.run(post)
        assert await either.read(count) == number


async def test_a_failing_read_leaves_the_reader_usable(either: SqliteDatabase) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await either.read(lambda tx, _now: tx.execute("SELECT * FROM parcel"))

    assert await either.read(count) == 0


async def test_only_another_connections_commit_counts_as_change(
    database: SqliteDatabase, path: str
) -> None:
    await database.run(post)
    assert not await database.changed()

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        post(other, 0)

    assert await database.changed()
    assert not await database.changed()


async def test_asking_for_changes_waits_for_no_lock(database: SqliteDatabase, path: str) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async with asyncio.timeout(2):
        assert not await database.changed()

    other.close()


async def test_a_watcher_hears_of_other_connections_commits_only(
    database: SqliteDatabase, path: str
) -> None:
    loop, heard = asyncio.get_running_loop(), asyncio.Event()

    def hear() -> None:
        loop.call_soon_threadsafe(heard.set)

    stop = database.watch(hear)
    async with asyncio.timeout(5):
        await heard.wait()  # the first look: whatever happened before counts as news
    heard.clear()
    for _ in range(5):
        await database.run(post)
    await asyncio.sleep(0.1)
    assert not heard.is_set()

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        post(other, 0)
    async with asyncio.timeout(5):
        await heard.wait()

    stop()
    heard.clear()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        post(other, 0)
    await asyncio.sleep(0.1)
    assert not heard.is_set()
