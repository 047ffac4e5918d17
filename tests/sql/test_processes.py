"""Several processes on one file: nothing lost, nothing acknowledged that is not there."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from cadenza.core.clock import SystemClock
from cadenza.sql import sqlite_connect
from cadenza.sql.errors import Busy
from cadenza.sql.sqlite import SqliteDatabase

HEAD = """
import asyncio, os, signal, sqlite3, sys
from cadenza.core.clock import SystemClock
from cadenza.sql.sqlite import SqliteDatabase
database = SqliteDatabase(sys.argv[1], clock=SystemClock())
"""


def start(program: str, path: str) -> subprocess.Popen[str]:
    text = HEAD + textwrap.dedent(program)
    return subprocess.Popen([sys.executable, "-c", text, path], stdout=subprocess.PIPE, text=True)


def finish(child: subprocess.Popen[str]) -> tuple[int, str]:
    out, _ = child.communicate(timeout=60)
    return child.returncode, out


def test_four_processes_of_read_modify_writes_lose_none(
    database: SqliteDatabase, path: str
) -> None:
    database.run_sync(lambda tx, _now: tx.execute("INSERT INTO letter VALUES ('sum', 0)") and None)
    program = """
        def add(tx, now):
            (seen,) = tx.execute("SELECT at FROM letter WHERE name = 'sum'").fetchone()
            tx.execute("UPDATE letter SET at = ? WHERE name = 'sum'", (seen + 1,))

        async def five_at_once():
            await asyncio.gather(*(one() for _ in range(5)))

        async def one():
            for _ in range(80):
                await database.run(add)

        asyncio.run(five_at_once())
        database.close()
    """
    children = [start(program, path) for _ in range(4)]

    assert [finish(child)[0] for child in children] == [0, 0, 0, 0]
    assert database.read_sync(lambda tx, _now: tx.execute("SELECT at FROM letter").fetchall()) == [
        (1600,)
    ]


def test_what_was_acknowledged_outlives_a_killed_process(
    database: SqliteDatabase, path: str
) -> None:
    program = """
        async def main():
            for number in range(1000):
                name = f"letter {number}"
                await database.run(
                    lambda tx, now: tx.execute("INSERT INTO letter VALUES (?, ?)", (name, now)) and None
                )
                os.write(1, (name + "\\n").encode())
                if number == 25:
                    os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(main())
    """
    status, out = finish(start(program, path))

    assert status == -9
    acknowledged = out.splitlines()
    assert len(acknowledged) == 26
    kept = database.read_sync(lambda tx, _now: tx.execute("SELECT name FROM letter").fetchall())
    assert {name for (name,) in kept} >= set(acknowledged)
    assert database.read_sync(lambda tx, _now: tx.execute("PRAGMA integrity_check").fetchone()) == (
        "ok",
    )


async def test_a_commit_of_another_process_is_noticed(database: SqliteDatabase, path: str) -> None:
    child = start(
        """
        def post(tx, now):
            tx.execute("INSERT INTO letter VALUES ('ben', ?)", (now,))

        database.run_sync(post)
        """,
        path,
    )
    assert finish(child)[0] == 0

    assert await database.changed()


def test_a_lock_held_too_long_is_told_as_busy_and_the_writer_lives_on(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connect, "BUSY_TIMEOUT_MS", 50)
    with SqliteDatabase(path, clock=SystemClock()) as database:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Busy, match="try again"):
            database.run_sync(lambda tx, _now: None)

        other.execute("ROLLBACK")
        other.close()
        assert database.run_sync(lambda tx, now: now) > 0


async def test_all_who_waited_behind_a_lock_are_told_together(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connect, "BUSY_TIMEOUT_MS", 50)
    with (
        SqliteDatabase(path, clock=SystemClock()) as database,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        begun: list[str] = []
        database._writer._connection.set_trace_callback(begun.append)
        other.execute("BEGIN IMMEDIATE")
        waiting = [database.run(lambda tx, now: now) for _ in range(20)]
        answers = await asyncio.gather(*waiting, return_exceptions=True)

    assert {type(answer) for answer in answers} == {Busy}
    assert len(begun) == 2  # one try and one retry for all twenty


def test_a_short_lock_is_waited_for(database: SqliteDatabase, path: str) -> None:
    program = """
        holder = sqlite3.connect(sys.argv[1], isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        os.write(1, b"held\\n")
        import time
        time.sleep(0.3)
        holder.execute("COMMIT")
    """
    child = start(program, path)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"

    assert database.run_sync(lambda tx, now: now) > 0
    assert finish(child)[0] == 0
