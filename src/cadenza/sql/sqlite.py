"""Transactions on one SQLite file: `run` writes, `read` looks at a snapshot.

An operation is a plain function `(tx, now)`: no await, no commit, no I/O but SQL; `now` is
in microseconds, read from the clock once the write lock is held. Writes go through one
thread with group commit (`sqlite_write`), reads through another on their own connection.
`:memory:` runs everything inline on the caller's thread: the simulator's way. Several
processes may share a file on one machine; a machine is the limit, and a forked child
must open its own.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from cadenza.core.clock import Clock
from cadenza.sql import errors
from cadenza.sql.migrate import Migration, migrate_sqlite
from cadenza.sql.sqlite_connect import begin, connect, microseconds
from cadenza.sql.sqlite_hazards import Hazards, find_hazards
from cadenza.sql.sqlite_write import Operation, WriteCall, Writer, answer

Result = TypeVar("Result")


class SqliteDatabase:
    """One file, one writer thread, one reader thread; or, for `:memory:`, neither."""

    def __init__(self, path: str, *, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        self._closed = False
        self._inline: sqlite3.Connection | None = None
        self._data_version: int | None = None
        connection = connect(path)
        (self._journal_mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if path == ":memory:":
            self._inline = connection
        else:
            self._writer = Writer(connection, path, clock)
            self._reader = _Reader(path, clock)
            self._data_version = self._wait(self._writer.put, _data_version)

    async def run(
        self, operation: Callable[[sqlite3.Connection, int], Result], *, urgent: bool = False
    ) -> Result:
        """Run a writing operation; return once its commit is on the disk.

        Cancelling the caller does not take back an operation that has begun. It may be run
        again, so it must depend on nothing but its transaction.
        """
        if self._inline is not None or self._closed:
            return self.run_sync(operation)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._writer.put(WriteCall(operation, future, loop), urgent=urgent)
        return await future

    async def read(self, operation: Callable[[sqlite3.Connection, int], Result]) -> Result:
        """Run a reading operation on a snapshot that holds every commit acknowledged so far."""
        if self._inline is not None or self._closed:
            return self.read_sync(operation)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._reader.put(WriteCall(operation, future, loop))
        return await future

    def run_sync(self, operation: Callable[[sqlite3.Connection, int], Result]) -> Result:
        """Do as `run` does, for code without an event loop."""
        self._check_open()
        if self._inline is not None:
            return self._run_inline(self._inline, operation)
        if self._writer.is_current_thread:
            raise RuntimeError("An operation cannot start another: call it with the same tx.")
        return self._wait(self._writer.put, operation)

    def read_sync(self, operation: Callable[[sqlite3.Connection, int], Result]) -> Result:
        """Do as `read` does, for code without an event loop."""
        self._check_open()
        if self._inline is not None:
            return self._read_inline(self._inline, operation)
        return self._wait(self._reader.put, operation)

    async def changed(self) -> bool:
        """Say whether another connection has committed since this was last asked; cheap."""
        if self._inline is not None:
            return False
        # Only on the writing connection do our own commits not count.
        version = await self._ask(_data_version)
        changed, self._data_version = version != self._data_version, version
        return changed

    async def _ask(self, operation: Operation) -> Any:
        self._check_open()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._writer.put(WriteCall(operation, future, loop, bare=True))
        return await future

    def watch(self, news: Callable[[], None]) -> Callable[[], None]:
        """Call `news`, on another thread, soon after each commit of another connection.

        Returns the function that ends it. In memory there is nobody else, and it is never called.
        """
        self._check_open()
        return (lambda: None) if self._inline is not None else self._writer.watch(news)

    def migrate(self, line: str, migrations: Sequence[Migration]) -> list[int]:
        """Bring a line of migrations up to date; return the versions that were missing."""
        self._check_open()
        now = microseconds(self._clock.now())
        if self._inline is not None:
            return migrate_sqlite(self._inline, line, migrations, now=now)
        # Foreign keys can only be switched outside a transaction, hence not on the writer's own.
        with contextlib.closing(connect(self.path)) as connection:
            return migrate_sqlite(connection, line, migrations, now=now)

    def hazards(self) -> Hazards:
        """Return what could harm the file, for `doctor` to show."""
        return find_hazards(self.path, journal_mode=self._journal_mode)

    def close(self) -> None:
        """Finish what was asked, then close; asking again is harmless."""
        if self._closed:
            return
        self._closed = True
        if self._inline is not None:
            self._inline.close()
            return
        self._reader.close()
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise errors.Unavailable(f"{self.path} is closed; open it again to use it.")

    def _wait(self, put: Callable[[WriteCall], None], operation: Operation) -> Any:
        future: Future[Any] = Future()
        put(WriteCall(operation, future, None))
        return future.result()

    def _run_inline(self, tx: sqlite3.Connection, operation: Operation) -> Any:
        if tx.in_transaction:
            raise RuntimeError("An operation cannot start another: call it with the same tx.")
        begin(tx)
        try:
            with errors.typed(self.path):
                result = operation(tx, microseconds(self._clock.now()))
                tx.execute("COMMIT")
            return result
        finally:
            if tx.in_transaction:
                tx.execute("ROLLBACK")

    def _read_inline(self, tx: sqlite3.Connection, operation: Operation) -> Any:
        tx.execute("PRAGMA query_only=ON")
        try:
            with errors.typed(self.path):
                return operation(tx, microseconds(self._clock.now()))
        finally:
            tx.execute("PRAGMA query_only=OFF")


class _Reader:
    """Owns a connection that cannot write, and the thread that reads on it."""

    def __init__(self, path: str, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._connection = connect(path, readonly=True)
        self._queue: SimpleQueue[WriteCall | None] = SimpleQueue()
        self._thread = threading.Thread(  # noqa: TID251 - this file is the reader's port
            target=self._serve, name=f"read {path}", daemon=True
        )
        self._thread.start()

    def put(self, call: WriteCall) -> None:
        self._queue.put(call)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (call := self._queue.get()) is not None:
            if call.future.cancelled():
                continue
            try:
                self._connection.execute("BEGIN")
                call.result = call.operation(self._connection, microseconds(self._clock.now()))
            except BaseException as error:  # noqa: BLE001 - it goes to the one who asked
                call.error = errors.from_sqlite(error, self._path)
            finally:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
            answer([call])
        self._connection.close()


def _data_version(tx: sqlite3.Connection, _now: int) -> int:
    return cast("int", tx.execute("PRAGMA data_version").fetchone()[0])
