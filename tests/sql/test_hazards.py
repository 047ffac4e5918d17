"""What doctor will show of a SQLite file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cadenza.cli.codes import AWAY
from cadenza.cli.run import run
from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.sql import sqlite_hazards
from cadenza.sql.errors import Unavailable
from cadenza.sql.sqlite import SqliteDatabase
from cadenza.sql.sqlite_hazards import find_hazards

MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/export /srv nfs4 rw 0 0
/dev/vdb /srv/fast\\040disk xfs rw 0 0
"""


def test_an_old_library_is_named_with_how_we_handle_it() -> None:
    old = find_hazards("/var/post.db", journal_mode="wal", version=(3, 51, 2), mounts=MOUNTS)

    assert old.wal_reset_bug
    assert "one process at a time checkpoints" in old.wal_reset_handling
    assert old.warnings == ()


def test_a_mended_library_needs_no_handling() -> None:
    new = find_hazards("/var/post.db", journal_mode="wal", version=(3, 51, 3), mounts=MOUNTS)

    assert not new.wal_reset_bug
    assert "not needed" in new.wal_reset_handling


def test_a_network_file_system_is_warned_of() -> None:
    found = find_hazards("/srv/post.db", journal_mode="wal", mounts=MOUNTS)

    assert found.file_system == "nfs4"
    assert "Move it to a local disk" in found.warnings[0]


async def test_a_file_on_a_network_file_system_is_refused_at_start_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = f"{MOUNTS}server:/export {tmp_path} nfs4 rw 0 0\n"
    monkeypatch.setattr(sqlite_hazards, "_read_mounts", lambda: mounts)
    with pytest.raises(Unavailable, match=r"lies on nfs4, a network file system.* local disk"):
        async with open_product(f"sqlite:///{tmp_path}/post.db", clock=SystemClock()):
            pass
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - a test may


async def test_a_command_says_why_it_refuses_a_network_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        sqlite_hazards, "_read_mounts", lambda: f"server:/export {tmp_path} cifs rw 0 0\n"
    )
    monkeypatch.setenv("CADENZA_DATA", str(tmp_path))
    code = await asyncio.to_thread(run, ["db", "upgrade"])
    assert code == AWAY
    said = capsys.readouterr().err
    assert "network file system" in said
    assert "CADENZA_DATABASE" in said


def test_the_deepest_mount_decides() -> None:
    found = find_hazards("/srv/fast disk/post.db", journal_mode="wal", mounts=MOUNTS)

    assert found.file_system == "xfs"
    assert found.warnings == ()


def test_a_journal_that_is_not_wal_is_warned_of() -> None:
    found = find_hazards("/var/post.db", journal_mode="delete", mounts=MOUNTS)

    assert "not WAL" in found.warnings[0]


def test_an_open_database_tells_its_own_hazards(database: SqliteDatabase) -> None:
    assert database.hazards().journal_mode == "wal"
