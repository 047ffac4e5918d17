"""Migrations: each once, in order, whole or not at all, on both databases."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import asyncpg
import pytest

from cadenza.sql.migrate import (
    Migration,
    SchemaMismatch,
    migrate_postgres,
    migrate_sqlite,
    read_migrations,
)
from cadenza.sql.sqlite import SqliteDatabase
from cadenza.sql.sqlite_connect import connect

FIRST = Migration(
    1,
    "create_people",
    """
    -- people first; letters later
    CREATE TABLE person (name TEXT PRIMARY KEY);
    INSERT INTO person VALUES ('ada;ben');
    """,
)
SECOND = Migration(2, "create_parcels", "CREATE TABLE parcel (name TEXT REFERENCES person);")
BROKEN = Migration(2, "create_nothing", "CREATE TABLE parcel (name TEXT); CREATE TABLE ???;")


def tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in rows}


def test_migrations_are_applied_once_and_in_order(either: SqliteDatabase) -> None:
    assert either.migrate("post", [FIRST]) == [1]
    assert either.migrate("post", [FIRST, SECOND]) == [2]
    assert either.migrate("post", [FIRST, SECOND]) == []
    assert either.read_sync(lambda tx, _now: tx.execute("SELECT * FROM person").fetchall()) == [
        ("ada;ben",)
    ]


def test_two_lines_share_a_file_without_meeting(database: SqliteDatabase) -> None:
    other = Migration(1, "create_jobs", "CREATE TABLE job (id INTEGER PRIMARY KEY);")

    assert database.migrate("post", [FIRST]) == [1]
    assert database.migrate("engine", [other]) == [1]


def test_a_broken_migration_leaves_nothing_behind(database: SqliteDatabase, path: str) -> None:
    with pytest.raises(sqlite3.OperationalError):
        database.migrate("post", [FIRST, BROKEN])

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert tables(other) == {"letter"}


def test_a_newer_schema_is_refused(database: SqliteDatabase) -> None:
    database.migrate("post", [FIRST, SECOND])

    with pytest.raises(SchemaMismatch, match="version 2; this program knows only 1"):
        database.migrate("post", [FIRST])


def test_a_changed_migration_is_refused(database: SqliteDatabase) -> None:
    database.migrate("post", [FIRST])
    changed = Migration(1, "create_people", FIRST.sql + "-- a word more")

    with pytest.raises(SchemaMismatch, match="add a new one"):
        database.migrate("post", [changed, SECOND])


def test_rebuilding_a_parent_keeps_its_children(path: str) -> None:
    family = Migration(
        1,
        "create_family",
        """
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (id INTEGER REFERENCES parent ON DELETE CASCADE);
        INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1);
        """,
    )
    rebuild = Migration(
        2,
        "rebuild_parent",
        """
        CREATE TABLE parent_new (id INTEGER PRIMARY KEY, name TEXT);
        INSERT INTO parent_new SELECT id, 'ada' FROM parent;
        DROP TABLE parent;
        ALTER TABLE parent_new RENAME TO parent;
        """,
    )
    connection = connect(path)
    migrate_sqlite(connection, "post", [family, rebuild], now=0)

    assert connection.execute("SELECT count(*) FROM child").fetchone() == (1,)
    assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    connection.close()


def test_a_migration_that_orphans_rows_is_undone(path: str) -> None:
    orphans = Migration(2, "lose_people", "DELETE FROM person;")
    letters = Migration(
        1,
        "create_letters",
        """
        CREATE TABLE person (name TEXT PRIMARY KEY);
        CREATE TABLE letter (sender TEXT REFERENCES person);
        INSERT INTO person VALUES ('ada'); INSERT INTO letter VALUES ('ada');
        """,
    )
    connection = connect(path)
    with pytest.raises(SchemaMismatch, match="1 rows without their parents"):
        migrate_sqlite(connection, "post", [letters, orphans], now=0)

    assert tables(connection) == set()
    connection.close()


def test_a_trigger_with_semicolons_stays_in_one_piece(database: SqliteDatabase) -> None:
    trigger = Migration(
        1,
        "watch_letters",
        """
        CREATE TABLE seen (name TEXT);
        CREATE TRIGGER watch AFTER INSERT ON letter BEGIN
            INSERT INTO seen VALUES (new.name); INSERT INTO seen VALUES (new.name);
        END;
        """,
    )
    database.migrate("post", [trigger])
    database.run_sync(lambda tx, _now: tx.execute("INSERT INTO letter VALUES ('a', 1)") and None)

    assert database.read_sync(
        lambda tx, _now: tx.execute("SELECT count(*) FROM seen").fetchone()
    ) == (2,)


def test_two_processes_that_migrate_at_once_agree(path: str) -> None:
    program = """
import sys
from cadenza.core.clock import SystemClock
from cadenza.sql.migrate import Migration
from cadenza.sql.sqlite import SqliteDatabase
migrations = [
    Migration(n, f"make_{n}", f"CREATE TABLE t{n} (id INTEGER); INSERT INTO t{n} VALUES (1);")
    for n in range(1, 30)
]
sys.stdin.readline()
with SqliteDatabase(sys.argv[1], clock=SystemClock()) as database:
    print(len(database.migrate("post", migrations)))
"""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    counts = [int(child.communicate(timeout=60)[0]) for child in children]

    assert sorted(counts) == [0, 0, 29]


def test_a_folder_is_read_in_order_of_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "0002_create_parcels.sql").write_text(SECOND.sql)
    (tmp_path / "0001_create_people.sql").write_text(FIRST.sql)
    (tmp_path / "README.md").write_text("not a migration")

    assert read_migrations(tmp_path) == (FIRST, SECOND)


@pytest.mark.parametrize("name", ["2_short.sql", "0002-dash.sql", "0003_gap.sql"])
def test_a_misnamed_or_missing_number_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "0001_create_people.sql").write_text(FIRST.sql)
    (tmp_path / name).write_text("SELECT 1;")

    with pytest.raises(ValueError, match=r"0001_create_jobs|without gaps"):
        read_migrations(tmp_path)


def test_a_gap_may_be_allowed_but_never_one_number_twice(tmp_path: Path) -> None:
    (tmp_path / "0001_create_people.sql").write_text(FIRST.sql)
    (tmp_path / "0003_gap.sql").write_text("SELECT 1;")
    assert [found.version for found in read_migrations(tmp_path, gaps=True)] == [1, 3]

    (tmp_path / "0003_again.sql").write_text("SELECT 2;")
    with pytest.raises(ValueError, match="one number"):
        read_migrations(tmp_path, gaps=True)


async def test_postgres_migrates_once_though_three_try_at_once(postgres_database: str) -> None:
    async def one() -> list[int]:
        connection = await asyncpg.connect(postgres_database)
        try:
            return await migrate_postgres(cast("Any", connection), "post", [FIRST, SECOND], now=1)
        finally:
            await connection.close()

    assert sorted(await asyncio.gather(one(), one(), one())) == [[], [], [1, 2]]


async def test_a_broken_migration_leaves_nothing_behind_on_postgres(postgres_database: str) -> None:
    connection = await asyncpg.connect(postgres_database)
    with pytest.raises(asyncpg.PostgresSyntaxError):
        await migrate_postgres(cast("Any", connection), "post", [FIRST, BROKEN], now=1)

    found = await connection.fetch("SELECT 1 FROM pg_tables WHERE schemaname = 'public'")
    assert found == []
    await connection.close()
