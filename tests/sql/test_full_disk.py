"""A disk that is really full: a small file system of its own, in a mount namespace of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WRITE = """
import sys
from pathlib import Path
from cadenza.core.clock import SystemClock
from cadenza.sql.errors import Full
from cadenza.sql.sqlite import SqliteDatabase

room = Path(sys.argv[1])
def change(tx, now):
    tx.execute("UPDATE letter SET text = hex(randomblob(8000))")
def add(tx, now):
    tx.execute("INSERT INTO letter VALUES (hex(randomblob(8000)))")
def until_full(database, operation):
    for number in range(900):
        try:
            database.run_sync(operation)
        except Full:
            return number
    return None

with SqliteDatabase(str(room / "post.db"), clock=SystemClock()) as database:
    database.run_sync(lambda tx, now: tx.execute("CREATE TABLE letter (text)"))
    for operation in (add, add, add, change, change):  # the file has its pages from here on
        database.run_sync(operation)
with SqliteDatabase(str(room / "post.db"), clock=SystemClock()) as database:
    # The log alone fills the disk: it is emptied into the small file, and writing goes on.
    assert until_full(database, change) is not None
    database.run_sync(change)
    assert (room / "post.db-wal").stat().st_size < 100_000
    # The file itself fills the disk: somebody has to make room, and needs no restart then.
    ballast = room / "ballast"
    ballast.write_bytes(b"x" * 1_200_000)
    assert until_full(database, add) is not None
    ballast.unlink()
    database.run_sync(add)
print("healed")
"""


def test_a_full_disk_heals_when_there_is_room(tmp_path: Path) -> None:
    inside = 'mount -t tmpfs -o size=2m tmpfs "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-rm", "sh", "-c", inside, "sh", str(tmp_path), sys.executable, WRITE]
    try:
        allowed = subprocess.run(
            ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", str(tmp_path)],
            check=False,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if allowed.returncode:
        pytest.skip("this machine allows no mounts of one's own")
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.stdout == "healed\n", done.stderr
