"""Checkpoints: ours alone, and by one process at a time."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from cadenza.sql import sqlite_checkpoint, sqlite_connect
from cadenza.sql.sqlite import SqliteDatabase
from cadenza.sql.sqlite_checkpoint import Checkpointed, Checkpointer
from cadenza.sql.sqlite_connect import connect


@pytest.fixture
def writing(path: str) -> Iterator[sqlite3.Connection]:
    connection = connect(path)
    connection.execute("CREATE TABLE letter (name TEXT)")
    yield connection
    connection.close()


def size_of(path: str) -> int:
    return Path(path).stat().st_size


def fill(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO letter VALUES (?)", [("a" * 500,)] * 2000)
    connection.execute("COMMIT")


def test_a_checkpoint_moves_the_whole_log_into_the_file(
    writing: sqlite3.Connection, path: str
) -> None:
    fill(writing)

    done = Checkpointer(path).checkpoint(writing)

    assert done is not None
    assert done.frames == done.moved > 200
    assert not done.blocked


def test_while_one_process_checkpoints_no_other_does(
    writing: sqlite3.Connection, path: str
) -> None:
    fill(writing)
    size = size_of(path)
    with Path(path + "-checkpoint.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert Checkpointer(path).checkpoint(writing) is None
        assert size_of(path) == size

    assert Checkpointer(path).checkpoint(writing) is not None
    assert size_of(path) > size


def test_no_connection_checkpoints_by_itself(writing: sqlite3.Connection, path: str) -> None:
    size = size_of(path)
    for _ in range(10):
        fill(writing)

    assert size_of(path) == size


def test_the_writer_checkpoints_once_enough_is_written(
    database: SqliteDatabase, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_checkpoint, "EVERY_CHANGES", 1000)
    size = size_of(path)

    def few(tx: sqlite3.Connection, _now: int) -> None:
        tx.execute("INSERT INTO letter (name) VALUES (hex(randomblob(8)))")

    def many(tx: sqlite3.Connection, _now: int) -> None:
        for _ in range(1000):
            few(tx, 0)

    database.run_sync(few)
    database.run_sync(few)
    assert size_of(path) == size
    database.run_sync(many)
    database.run_sync(few)  # the checkpoint comes after the answer, so wait for the next one
    assert size_of(path) > size


def test_a_log_that_a_reader_kept_growing_is_restarted(
    writing: sqlite3.Connection, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_checkpoint, "FORCE_FRAMES", 100)
    monkeypatch.setattr(sqlite_checkpoint, "FORCE_WAIT_MS", 50)
    checkpointer = Checkpointer(path)
    reader = connect(path, readonly=True)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM letter").fetchone()
    fill(writing)
    assert _blocked(checkpointer.checkpoint(writing)) is False  # passive: never waits
    assert _blocked(checkpointer.checkpoint(writing)) is True  # forced: the reader is in the way

    reader.execute("ROLLBACK")
    assert _blocked(checkpointer.checkpoint(writing)) is False
    grown = size_of(path + "-wal")
    fill(writing)
    assert size_of(path + "-wal") == grown
    assert writing.execute("PRAGMA busy_timeout").fetchone() == (10_000,)
    reader.close()


def test_a_log_that_grew_is_cut_when_it_starts_over(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connect, "LOG_KEPT_BYTES", 100_000)
    writing = connect(path)
    writing.execute("CREATE TABLE letter (name TEXT)")
    fill(writing)
    assert size_of(path + "-wal") > 1_000_000
    Checkpointer(path).checkpoint(writing)
    writing.execute("INSERT INTO letter VALUES ('a')")
    assert size_of(path + "-wal") <= 100_000
    writing.close()


def _blocked(done: Checkpointed | None) -> bool | None:
    return None if done is None else done.blocked
