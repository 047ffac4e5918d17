"""A clock that stands still until a test moves it.

Sleepers wake in order of their instants as `advance` passes them, each given a turn of the event
loop before the next; so a day of schedules runs in milliseconds, the same way each time. Threads
and sockets keep real time: this clock is for the memory store and SQLite in one process.
"""

import asyncio
import heapq
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

_START = datetime(2026, 1, 1, tzinfo=UTC)
_TURNS = 20  # of the event loop, so that what woke up gets as far as its next wait


class VirtualClock:
    """Time as an argument."""

    def __init__(self, now: datetime = _START) -> None:
        self._now = now
        self._elapsed = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        """Return the instant that was last set."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that were advanced so far."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock is advanced past `seconds` from now."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(
            self._sleepers, (self._now + timedelta(seconds=seconds), next(self._order), future)
        )
        await future

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        """Wait for the event or the clock, whichever comes first."""
        if event.is_set() or (seconds is not None and seconds <= 0):
            return event.is_set()
        waiters: list[asyncio.Task[Any]] = [asyncio.ensure_future(event.wait())]
        if seconds is not None:
            waiters.append(asyncio.ensure_future(self.sleep(seconds)))
        try:
            await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in waiters:
                waiter.cancel()
        return event.is_set()

    def shift(self, by: timedelta) -> None:
        """Set the clock on at once, waking nobody: for tests that call passes by hand."""
        self._now += by
        self._elapsed += by.total_seconds()

    async def advance(self, by: timedelta | float) -> None:
        """Let `by` pass, waking sleepers in order."""
        goal = self._now + (by if isinstance(by, timedelta) else timedelta(seconds=by))
        await self._settle()
        while self._sleepers and self._sleepers[0][0] <= goal:
            at, _, future = heapq.heappop(self._sleepers)
            if future.done():
                continue
            self.shift(max(at - self._now, timedelta()))
            future.set_result(None)
            await self._settle()
        self.shift(goal - self._now)
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(_TURNS):
            await asyncio.sleep(0)
