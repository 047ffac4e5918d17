"""When the disk fails, callers are told which way, and nothing is half written."""

from __future__ import annotations

import asyncio
import errno
import resource
import sqlite3
from pathlib import Path

import pytest

from cadenza.core.clock import SystemClock
from cadenza.sql import errors
from cadenza.sql.errors import Full, Unavailable
from cadenza.sql.sqlite import SqliteDatabase


def post(tx: sqlite3.Connection, now: int) -> None:
    tx.execute("INSERT INTO letter VALUES (hex(randomblob(8)), ?)", (now,))


def post_a_parcel(tx: sqlite3.Connection, now: int) -> None:
    tx.execute("INSERT INTO letter VALUES (hex(randomblob(60000)), ?)", (now,))


def count(tx: sqlite3.Connection, _now: int) -> int:
    return tx.execute("SELECT count(*) FROM letter").fetchone()[0]


async def test_a_full_database_refuses_what_does_not_fit_and_keeps_the_neighbours(
    database: SqliteDatabase,
) -> None:
    def shrink(tx: sqlite3.Connection, _now: int) -> None:
        (pages,) = tx.execute("PRAGMA page_count").fetchone()
        tx.execute(f"PRAGMA max_page_count={pages + 8}")

    await database.run(shrink)
    operations = [post, post, post_a_parcel, post]
    answers = await asyncio.gather(
        *(database.run(operation) for operation in operations), return_exceptions=True
    )

    assert [type(answer) for answer in answers] == [type(None), type(None), Full, type(None)]
    assert await database.read(count) == 3


async def test_a_full_database_works_again_once_there_is_room(database: SqliteDatabase) -> None:
    await database.run(lambda tx, _now: tx.execute("PRAGMA max_page_count=8").fetchall())
    with pytest.raises(Full, match="free some space"):
        await database.run(post_a_parcel)

    await database.run(lambda tx, _now: tx.execute("PRAGMA max_page_count=100000").fetchall())
    await database.run(post_a_parcel)

    assert await database.read(count) == 1


def test_after_an_error_of_the_disk_nothing_is_written_until_a_restart(
    database: SqliteDatabase, path: str
) -> None:
    """After a failed write or sync the kernel may have dropped pages: trying again would lie."""
    database.run_sync(post)
    _, most = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    room = Path(f"{path}-wal").stat().st_size + 4096
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))  # beyond it every write fails
    try:
        with pytest.raises(Unavailable, match="disk I/O error"):
            database.run_sync(post_a_parcel)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    with pytest.raises(Unavailable, match="Restart once it is mended"):
        database.run_sync(post)
    assert database.read_sync(count) == 1
    database.close()
    with SqliteDatabase(path, clock=SystemClock()) as again:
        again.run_sync(post)
        assert again.read_sync(count) == 2


def test_a_quota_that_is_used_up_is_a_full_disk_and_heals(
    database: SqliteDatabase, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To SQLite a used-up quota is a failed write; a limit on file sizes fails the same way, by another number."""
    assert errno.EDQUOT in errors.NO_ROOM
    monkeypatch.setattr(errors, "NO_ROOM", {errno.EFBIG})
    database.run_sync(post)
    _, most = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    room = Path(f"{path}-wal").stat().st_size + 4096
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
    try:
        with pytest.raises(Full, match="free some space"):
            database.run_sync(post_a_parcel)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    database.run_sync(post)
    assert database.read_sync(count) == 2


def test_a_file_replaced_under_us_stops_all_writing(database: SqliteDatabase, path: str) -> None:
    Path(path).rename(path + ".old")
    Path(path).touch()

    for _ in range(3):
        with pytest.raises(Unavailable, match="removed or replaced"):
            database.run_sync(post)


def test_a_file_that_is_no_database_is_refused_at_the_door(tmp_path: Path) -> None:
    stranger = tmp_path / "letter.txt"
    stranger.write_text("Dear Ada, this is only a letter, and not a database at all. Ben " * 20)

    with pytest.raises(Unavailable, match="cannot be used"):
        SqliteDatabase(str(stranger), clock=SystemClock())


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="nowhere"):
        SqliteDatabase(str(tmp_path / "nowhere" / "post.db"), clock=SystemClock())
