"""What a database may refuse, in three words that a caller can act on.

`Busy` means try again soon, `Full` means make room first, `Unavailable` means that the
database cannot be used until a person or a restart has changed something. Everything else
a driver raises (a broken constraint, wrong SQL) is the operation's own affair and passes
through unchanged. Drivers' codes are read here for SQLite; the PostgreSQL side maps its own.
SQLite calls a quota that is used up a failed write: whether it is one is asked of the disk.
"""

import contextlib
import errno
import os
import sqlite3
import tempfile
from collections.abc import Generator
from pathlib import Path

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_UNAVAILABLE = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_PROBE = (
    1024 * 1024
)  # bytes: more than one page, so that the last free block does not pass for room


class SqlError(Exception):
    """The database, not the operation, is why this did not happen."""


class Busy(SqlError):
    """Another writer held the database longer than we wait; try again."""


class Full(SqlError):
    """The disk or the database is full; nothing was written."""


class Unavailable(SqlError):
    """The database cannot be used as it is: closed, gone, replaced, damaged or read-only."""


class Broken(Unavailable):
    """The disk failed: what was written last may be lost, and only a new start knows. Nothing is tried again."""


def is_busy(error: BaseException) -> bool:
    """Say whether a lock was in the way."""
    return isinstance(error, sqlite3.Error) and _primary(error) in _BUSY


def is_lasting(error: BaseException, path: str) -> bool:
    """Say whether the file itself failed (a refused fsync, damage): trying again would lie."""
    if is_full(error, path):
        return False
    if isinstance(error, sqlite3.Error):
        return _primary(error) in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT}
    return isinstance(error, Unavailable)


def is_full(error: BaseException, path: str) -> bool:
    """Say whether there was no room: on the disk, or in a quota, which is a failed write to SQLite."""
    if not isinstance(error, sqlite3.Error):
        return False
    if _primary(error) == sqlite3.SQLITE_FULL:
        return True
    failed_write = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_WRITE
    return failed_write and _has_no_room(Path(path).parent)


def _has_no_room(folder: Path) -> bool:
    """Try to write beside the database: a quota shows itself in no number that can be read."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_PROBE))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return error.errno in NO_ROOM
    return False


def from_sqlite(error: BaseException, path: str) -> BaseException:
    """Return the typed twin of a SQLite error, or the error itself if it is the caller's own."""
    if not isinstance(error, sqlite3.Error):
        return error
    code = _primary(error)
    if is_busy(error):
        return Busy(f"{path} is locked by another writer ({error}); try again.")
    if is_full(error, path):
        return Full(f"No room to write {path} ({error}); free some space, then try again.")
    if code in _UNAVAILABLE:
        return Unavailable(f"{path} cannot be used ({error}); check the file and its disk.")
    return error


@contextlib.contextmanager
def typed(path: str) -> Generator[None]:
    """Raise SQLite's errors as their typed twins."""
    try:
        yield
    except sqlite3.Error as error:
        twin = from_sqlite(error, path)
        if twin is error:
            raise
        raise twin from error


def _primary(error: sqlite3.Error) -> int:
    # The low byte is the primary code; errors that Python itself raises carry none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
