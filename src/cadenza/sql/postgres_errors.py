"""PostgreSQL's refusals in the three words of `errors.py`.

What the operation itself did wrong (a broken constraint, wrong SQL) passes through unchanged.
A command that timed out counts as a lost connection: nobody knows what became of it.
"""

import asyncio
from typing import Any

import asyncpg

from cadenza.sql.errors import Busy, Full, SqlError, Unavailable

_GONE = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,  # a failover left us on a standby
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
    asyncio.IncompleteReadError,
)
_LATER = (*_GONE, asyncpg.TooManyConnectionsError)
_COLLIDED = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_BUSY = (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError, *_COLLIDED)


def is_lost(error: BaseException, connection: Any) -> bool:
    """Say whether the connection cannot be used any more."""
    return isinstance(error, _GONE) or connection.is_closed()


def may_run_again(error: BaseException) -> bool:
    """Say whether the server undid the work so that it may simply be done once more."""
    return isinstance(error, _COLLIDED)


def waited_for_lock(error: BaseException) -> bool:
    """Say whether a lock was held for longer than one statement waits; nothing was done."""
    return isinstance(error, asyncpg.LockNotAvailableError)


def may_connect_later(error: BaseException) -> bool:
    """Say whether waiting can help: the server restarts, or has no room just now."""
    return isinstance(error, _LATER)


def from_postgres(error: BaseException) -> BaseException:
    """Return the typed twin of a driver's error, or the error itself if it is the caller's own."""
    said = str(error) or type(error).__name__
    match error:
        case SqlError():
            return error
        case asyncpg.DiskFullError():
            return Full(
                f"PostgreSQL has no room to write ({said}); free some space, then try again."
            )
        case _ if isinstance(error, _BUSY):
            return Busy(f"PostgreSQL could not get its locks in time ({said}); try again.")
        case _ if isinstance(error, _LATER):
            return Unavailable(f"PostgreSQL cannot be reached ({said}); try again when it is back.")
        case asyncpg.InvalidAuthorizationSpecificationError() | asyncpg.InvalidCatalogNameError():
            return Unavailable(f"PostgreSQL refuses the connection ({said}); check the address.")
        case asyncpg.InterfaceError() if "closed" in said or "terminat" in said:
            return Unavailable(f"The connection to PostgreSQL broke ({said}); try again.")
        case _:
            return error
