"""How a connection to our SQLite file is opened, the same everywhere.

WAL, FULL, foreign keys, no hidden transactions, and no automatic checkpoint on any
connection: SQLite below 3.51.3 may corrupt a file when two connections checkpoint and
write at one instant, so checkpoints are ours alone (`sqlite_checkpoint`). The settings
belong to a connection, not to the file, so a file opened by other means is not protected.
"""

import itertools
import os
import sqlite3
import threading
from datetime import UTC, datetime

from cadenza.sql import errors

BUSY_TIMEOUT_MS = 10_000  # 4 processes x 400 locks: 756 errors at 0 ms, none at 10,000
LOG_KEPT_BYTES = 16 * 1024 * 1024  # a log that grew beyond is cut to it when it starts over
RETRIES = 1  # of the whole busy time-out, before a caller is told Busy

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def connect(path: str, *, readonly: bool = False) -> sqlite3.Connection:
    """Open one connection with the application's settings; raise Unavailable or Busy if it cannot be."""
    with errors.typed(path):
        connection = sqlite3.connect(
            path,
            timeout=BUSY_TIMEOUT_MS / 1000,
            isolation_level=None,
            check_same_thread=False,  # handed once to the thread that owns it
            cached_statements=256,
        )
        try:
            _configure(connection, readonly=readonly)
        except BaseException:
            connection.close()
            raise
    return connection


def begin(connection: sqlite3.Connection) -> None:
    """Take the write lock, waiting with jitter; the last refusal is raised as it came."""
    for attempt in itertools.count():
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not errors.is_busy(error) or attempt == RETRIES:
                raise
        threading.Event().wait(jitter(attempt))


def jitter(attempt: int) -> float:
    """Return seconds to wait, 5 to 55 ms, other ones in another process or on another attempt.

    The process number is dice enough here: all that matters is that two neighbours differ.
    """
    return 0.005 + (os.getpid() * 0.618034 + attempt * 0.414214) % 1 * 0.05


def microseconds(instant: datetime) -> int:
    """Return whole microseconds since 1970, exact where a float would round."""
    span = instant - _EPOCH
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


def _configure(connection: sqlite3.Connection, *, readonly: bool) -> None:
    for attempt in itertools.count():
        try:
            # Turning a new file to WAL ignores the busy time-out; two may try at once.
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            if not errors.is_busy(error) or attempt == 200:
                raise
        threading.Event().wait(jitter(attempt))
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute(f"PRAGMA journal_size_limit={LOG_KEPT_BYTES}")
    connection.execute("PRAGMA cache_size=-65536")
    connection.execute("PRAGMA temp_store=MEMORY")
    if readonly:
        connection.execute("PRAGMA query_only=ON")
