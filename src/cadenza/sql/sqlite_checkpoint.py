"""Moving the write-ahead log into the database file, by one process at a time.

SQLite 3.7.0 to 3.51.2 can corrupt a file when two connections checkpoint and write at the
same instant (the WAL-reset bug). Every connection of ours has its automatic checkpoint off;
a writer that has committed enough calls `after_commit`, which checkpoints only while it
holds an advisory lock on `<path>-checkpoint.lock`. Whoever does not get the lock goes on: the
other one does the work. The lock binds only programs that ask for it: the `sqlite3` shell on a
live file does not.
"""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Generator
from dataclasses import dataclass

EVERY_COMMITS = 1_000
EVERY_CHANGES = 20_000  # rows written: about 1,000 pages of jobs
FORCE_FRAMES = 16_384  # a log of 64 MiB: readers and writers wait a moment until it restarts
FORCE_WAIT_MS = 1_000


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """What one checkpoint found in the log, and how much of it the file now holds."""

    frames: int
    moved: int
    blocked: bool


class Checkpointer:
    """Counts one writer's commits and checkpoints, under the lock, when there are enough."""

    def __init__(self, path: str) -> None:
        self._lock_path = f"{path}-checkpoint.lock"
        self._commits = 0
        self._changes = 0
        self._force = False

    def after_commit(self, connection: sqlite3.Connection) -> None:
        """Count a commit; checkpoint when it is time."""
        self._commits += 1
        grown = connection.total_changes - self._changes
        if self._commits >= EVERY_COMMITS or grown >= EVERY_CHANGES:
            self.checkpoint(connection)

    def checkpoint(self, connection: sqlite3.Connection) -> Checkpointed | None:
        """Checkpoint now; None when another process is at it."""
        self._commits, self._changes = 0, connection.total_changes
        with self.alone() as ours:
            if not ours:
                return None
            done = self._move(connection)
        # Many busy writers can keep a passive checkpoint from ever catching up.
        self._force = done.frames > FORCE_FRAMES
        return done

    def make_room(self, connection: sqlite3.Connection) -> Checkpointed | None:
        """Empty the log after the disk was full: no commit would come to do it; None as for `checkpoint`."""
        self._commits, self._changes = 0, connection.total_changes
        with self.alone() as ours:
            return _wait_for(connection, "TRUNCATE") if ours else None

    @contextlib.contextmanager
    def alone(self) -> Generator[bool]:
        """Hold the checkpoint lock, or say that another one does."""
        # flock, not lockf: a POSIX lock would be dropped when any descriptor of the file closes.
        descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            yield False
            return
        try:
            yield True
        finally:
            os.close(descriptor)

    def _move(self, connection: sqlite3.Connection) -> Checkpointed:
        if not self._force:
            return _pragma(connection, "PASSIVE")
        return _wait_for(connection, "RESTART")


def _wait_for(connection: sqlite3.Connection, mode: str) -> Checkpointed:
    """Checkpoint in a mode that waits for others, but not for long."""
    (normal,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout={FORCE_WAIT_MS}")
    try:
        return _pragma(connection, mode)
    finally:
        connection.execute(f"PRAGMA busy_timeout={normal}")


def _pragma(connection: sqlite3.Connection, mode: str) -> Checkpointed:
    blocked, frames, moved = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    return Checkpointed(frames, moved, bool(blocked))
