"""The one writer of a SQLite file in this process: many operations, one durable commit.

Callers put operations on a queue; a thread takes what is there, runs each in a savepoint of
one BEGIN IMMEDIATE transaction, commits once, and only then answers everybody, so an
answer means that the disk has it. While one commit waits for the disk the next batch
gathers by itself; nothing is ever delayed to make a batch bigger. An operation that
raises loses its own savepoint only. One that SQLite itself rolls back (disk full) takes the
batch with it, so its neighbours are run again, alone: operations must bear that.
"""

import asyncio
import contextlib
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeAlias

from cadenza.core.clock import Clock
from cadenza.sql import errors
from cadenza.sql.sqlite_checkpoint import Checkpointer
from cadenza.sql.sqlite_connect import begin, microseconds

BATCH_OPERATIONS = 200
BATCH_MICROSECONDS = 20_000  # a caller waits for its batch, so a batch stays short
WATCH_SECONDS = 0.05  # between two looks for other processes' commits; each look costs CPU

Operation: TypeAlias = Callable[[sqlite3.Connection, int], Any]
AnyFuture: TypeAlias = "asyncio.Future[Any] | Future[Any]"


class WriteCall:
    """An operation, who waits for it, and what became of it."""

    __slots__ = ("bare", "error", "future", "loop", "operation", "result")

    def __init__(
        self,
        operation: Operation,
        future: AnyFuture,
        loop: asyncio.AbstractEventLoop | None,
        *,
        bare: bool = False,
    ) -> None:
        self.bare = bare  # writes nothing, so it needs no lock and no transaction of its own
        self.operation = operation
        self.future = future
        self.loop = loop
        self.result: Any = None
        self.error: BaseException | None = None


_STOP: Final = object()
_LOOK: Final = object()  # something urgent was put beside the queue


class Writer:
    """Owns the writing connection and its thread."""

    def __init__(self, connection: sqlite3.Connection, path: str, clock: Clock) -> None:
        self._connection = connection
        self._path = path
        self._clock = clock
        self._file = Path(path)
        self._inode = self._file.stat().st_ino
        self._checkpointer = Checkpointer(path)
        self._queue: SimpleQueue[Any] = SimpleQueue()
        self._urgent: deque[WriteCall] = deque()
        self._broken: BaseException | None = None
        self._full = False
        self._watchers: list[Callable[[], None]] = []
        self._seen_version = 0
        self._stopping = False
        self._thread = threading.Thread(  # noqa: TID251 - this file is the writer's port
            target=self._serve, name=f"write {path}", daemon=True
        )
        self._thread.start()

    @property
    def is_current_thread(self) -> bool:
        """Say whether the caller is an operation: waiting for another one would never end."""
        return threading.current_thread() is self._thread

    def put(self, call: WriteCall, *, urgent: bool = False) -> None:
        """Queue a call; an urgent one (a heartbeat) overtakes all that wait."""
        if urgent:
            self._urgent.append(call)
            self._queue.put(_LOOK)
        else:
            self._queue.put(call)

    def watch(self, news: Callable[[], None]) -> Callable[[], None]:
        """Call `news`, from the writer's thread, after commits of other connections."""
        self._watchers.append(news)
        self._queue.put(_LOOK)  # a thread that waits for ever would not look
        return lambda: self._watchers.remove(news)

    def close(self) -> None:
        """Finish what was queued, checkpoint, close the connection, end the thread."""
        self._queue.put(_STOP)
        self._thread.join()

    def _serve(self) -> None:
        while not self._stopping:
            call = self._take(wait=True)
            if self._watchers:
                self._look_for_news()
            if call is None:
                continue
            if call.bare:
                self._run(call, 0, savepoint=False)
                answer([call])
            else:
                self._commit_together(call)
                self._make_room()
        self._refuse_latecomers()
        # The last connection to close checkpoints by itself, so it too takes the lock. If another
        # holds it, that one is still open, and we are not the last.
        with contextlib.suppress(sqlite3.Error, OSError), self._checkpointer.alone():
            self._connection.close()
        self._connection.close()

    def _take(self, *, wait: bool) -> WriteCall | None:
        while True:
            if self._urgent:
                return self._urgent.popleft()
            try:
                item = self._queue.get(wait, WATCH_SECONDS if self._watchers else None)
            except Empty:
                return None
            if item is _STOP:
                self._stopping = True
                return None
            if item is _LOOK:
                continue
            if not item.future.cancelled():
                return item

    def _look_for_news(self) -> None:
        try:
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return  # whoever writes next will be told what is wrong
        if version != self._seen_version:
            self._seen_version = version
            for news in tuple(self._watchers):
                news()

    def _commit_together(self, first: WriteCall) -> None:
        """Run `first` and whatever else waits by now in one transaction; answer after commit."""
        done: list[WriteCall] = []
        try:
            self._check_file()
            begin(self._connection)
            alive = self._run_batch(first, done)
            if alive:
                self._connection.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 - every caller must be answered
            # Those who queued behind a lock have waited as long as the first one.
            self._give_up(done or [first, *self._waiting()], error)
        else:
            if alive:
                answer(done)
                self._checkpoint()
            else:
                self._one_by_one(done)

    def _run_batch(self, first: WriteCall, done: list[WriteCall]) -> bool:
        """Fill `done`; False when SQLite itself rolled the transaction back."""
        started = 0
        survivors = 0
        call: WriteCall | None = first
        while call is not None:
            now = microseconds(self._clock.now())
            started = started or now
            done.append(call)
            # With no survivor before it, an operation's savepoint is the transaction itself.
            succeeded = self._run(call, now, savepoint=survivors > 0)
            if not self._connection.in_transaction:
                if isinstance(call.error, errors.SqlError | MemoryError):
                    return False
                raise RuntimeError("An operation ended its transaction; only its caller may.")
            if succeeded:
                survivors += 1
            elif not survivors:
                self._connection.execute("ROLLBACK")
                begin(self._connection)
            if len(done) >= BATCH_OPERATIONS or now - started > BATCH_MICROSECONDS:
                break
            call = self._take(wait=False)
        return True

    def _run(self, call: WriteCall, now: int, *, savepoint: bool) -> bool:
        connection = self._connection
        try:
            if savepoint:
                connection.execute("SAVEPOINT operation")
            call.result = call.operation(connection, now)
            if savepoint:
                connection.execute("RELEASE operation")
        except BaseException as error:  # noqa: BLE001 - it goes to the one who asked
            call.error = errors.from_sqlite(error, self._path)
            self._full |= isinstance(call.error, errors.Full)
            if savepoint and connection.in_transaction:
                connection.execute("ROLLBACK TO operation")
                connection.execute("RELEASE operation")
            return False
        return True

    def _one_by_one(self, calls: list[WriteCall]) -> None:
        """Run again, each in its own transaction, the neighbours of a call that broke the batch."""
        *neighbours, culprit = calls
        answer([culprit])
        for call in neighbours:
            call.result = call.error = None
            try:
                begin(self._connection)
                if self._run(call, microseconds(self._clock.now()), savepoint=False):
                    self._connection.execute("COMMIT")
                elif self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                answer([call])
            except BaseException as error:  # noqa: BLE001 - every caller must be answered
                self._give_up([call], error)

    def _give_up(self, calls: list[WriteCall], error: BaseException) -> None:
        """Nothing of this batch is in the file: undo it and tell everybody why."""
        if self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
        typed = errors.from_sqlite(error, self._path)
        self._full |= isinstance(typed, errors.Full)
        if self._broken is None and errors.is_lasting(error, self._path):
            # After a failed fsync the kernel may have dropped the pages: never try it again.
            self._broken = typed
        for call in calls:
            call.error = typed
        answer(calls)

    def _check_file(self) -> None:
        if self._broken is not None:
            raise errors.Broken(f"{self._broken} Restart once it is mended.")
        try:
            inode = self._file.stat().st_ino
        except OSError:
            inode = -1
        if inode != self._inode:
            raise errors.Unavailable(
                f"{self._path} was removed or replaced while in use; stop, restore it, restart."
            )

    def _checkpoint(self) -> None:
        # A checkpoint that fails loses nothing: the log still holds every commit.
        with contextlib.suppress(sqlite3.Error, OSError):
            self._checkpointer.after_commit(self._connection)

    def _make_room(self) -> None:
        """After a full disk the log itself may be what fills it, and commits that would empty it fail."""
        if self._full:
            self._full = False
            with contextlib.suppress(sqlite3.Error, OSError):
                self._checkpointer.make_room(self._connection)

    def _refuse_latecomers(self) -> None:
        late = self._waiting()
        for call in late:
            call.error = errors.Unavailable(f"{self._path} was closed before this could run.")
        answer(late)

    def _waiting(self) -> list[WriteCall]:
        return list(iter(lambda: self._take(wait=False), None))


def answer(calls: list[WriteCall]) -> None:
    """Wake everybody who waits, with one wake-up call per event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[WriteCall]] = {}
    for call in calls:
        if call.loop is None:
            settle(call)
        else:
            by_loop.setdefault(call.loop, []).append(call)
    for loop, theirs in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle_all, theirs)


def settle(call: WriteCall) -> None:
    """Hand a call's outcome to its future."""
    future = call.future
    if future.done():
        return
    if call.error is None:
        future.set_result(call.result)
    elif isinstance(call.error, StopIteration):  # a future cannot carry it
        future.set_exception(RuntimeError("An operation let StopIteration escape."))
    else:
        future.set_exception(call.error)


def _settle_all(calls: list[WriteCall]) -> None:
    for call in calls:
        settle(call)
