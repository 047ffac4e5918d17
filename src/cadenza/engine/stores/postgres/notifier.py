"""Waking sleepers: watchers in this process at once, other processes by NOTIFY.

A NOTIFY makes commits of all databases' notifiers queue for one lock, so a queue is rung at most
once in a few milliseconds per process; what comes in between is rung once, afterwards: by the next
job's own statement in a stream of them, else in a transaction of its own. A bell is a hint: what it
misses (a lost connection, a process that dies before the late ring) is found by the workers' poll.
One connection listens; when it is lost, everybody is woken after it is back.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import asyncpg

from cadenza.core.clock import Clock
from cadenza.engine.store import Wake
from cadenza.sql.errors import SqlError
from cadenza.sql.postgres import Connection, PostgresDatabase

GAP = 0.005
GRACE = 0.001  # seconds after the gap in which the next statement of a stream may ring for free
PULSE = 30.0  # seconds between signs of life on the listening connection
REST = 1.0  # seconds before a refused connection is tried again


class Notifier:
    """Who is woken, and how."""

    def __init__(
        self, database: PostgresDatabase, channel: str, notify: str, *, clock: Clock
    ) -> None:
        self.channel = channel
        self._database = database
        self._notify = notify
        self._clock = clock
        self._watchers: list[Wake] = []
        self._rung: dict[str, float] = {}
        self._late: set[str] = set()
        self._ringing: asyncio.Task[None] | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._heard = asyncio.Event()

    def watch(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` on news until the returned function is called."""
        self._watchers.append(wake)
        return lambda: self._watchers.remove(wake)

    def wake(self, queues: Iterable[str]) -> None:
        """Wake the watchers of this process."""
        for queue in queues:
            for wake in tuple(self._watchers):
                wake(queue)

    def due(self, queues: Iterable[str]) -> list[str]:
        """Return the queues that the caller may notify now; it says `told` after its commit."""
        now = self._clock.monotonic()
        ready = [queue for queue in queues if now - self._rung.get(queue, -GAP) >= GAP]
        self._rung.update(dict.fromkeys(ready, now))
        return ready

    def told(self, queues: Iterable[str], *, later: Iterable[str] = ()) -> None:
        """Note what a commit has told, which tells of all earlier ones too, and what it has not."""
        self._late.difference_update(queues)
        self._late.update(later)
        if self._late and (self._ringing is None or self._ringing.done()):
            self._ringing = asyncio.create_task(self._ring_late())

    async def notify(self, queues: Iterable[str]) -> None:
        """Tell other processes, in a transaction of its own."""
        ready = self.due(queues)
        if ready:
            await self._send(ready)
        self.told(ready, later=set(queues).difference(ready))

    async def open(self, *, listen: bool) -> None:
        """Start to listen; return once that works."""
        if listen:
            self._heard.clear()
            self._hearing = asyncio.create_task(self._hear())
            await self._clock.wait(self._heard, 10)

    async def close(self) -> None:
        """Stop listening; late rings are left to the others' polls."""
        for task in (self._hearing, self._ringing):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        self._hearing = self._ringing = None

    async def _ring_late(self) -> None:
        while self._late:
            await self._clock.sleep(GAP + GRACE)
            now = self._clock.monotonic()
            queues = [queue for queue in self._late if now - self._rung.get(queue, -GAP) >= GAP]
            if not queues:
                continue
            self._late.difference_update(queues)
            self._rung.update(dict.fromkeys(queues, now))
            with contextlib.suppress(SqlError):
                await self._send(queues)

    async def _send(self, queues: list[str]) -> None:
        await self._database.run(
            lambda connection: connection.fetch(self._notify, self.channel, queues)
        )

    async def _hear(self) -> None:
        while True:
            try:
                connection = await self._database.connect()
            except SqlError:
                await self._clock.sleep(REST)
                continue
            try:
                await self._keep_listening(connection)
            except (SqlError, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                pass
            finally:
                connection.terminate()

    async def _keep_listening(self, connection: Connection) -> None:
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        await connection.add_listener(self.channel, self._on_notify)
        if self._heard.is_set():
            self.wake([""])  # something may have been said while nobody listened
        self._heard.set()
        while not await self._clock.wait(lost, PULSE):
            await connection.execute("SELECT 1")

    def _on_notify(self, connection: Any, pid: int, channel: str, queue: object) -> None:
        if pid not in self._database.pids():  # our own news woke us when it was written
            self.wake([str(queue)])
