"""The only door through which time enters.

Everything that must know the time or wait for it is handed a `Clock`; the system's own
clock is read here and nowhere else (a lint says so). A store decides *when* by its own
clock (`Store.now`); this one only measures how long to wait, and tells the time where
no database does (memory and SQLite).
"""

import asyncio
import contextlib
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the product may ask of time."""

    def now(self) -> datetime:
        """Return the present instant in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that only rise, for measuring spans."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`; zero lets others run once."""
        ...

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        """Wait until `event` is set or `seconds` have passed; say whether it was set."""
        ...


class SystemClock:
    """The machine's clock and the event loop's timers."""

    def now(self) -> datetime:
        """Return the machine's time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds: a permit from before its sleep is old after it."""
        return since_boot()

    async def sleep(self, seconds: float) -> None:
        """Wait by the event loop's timer."""
        await asyncio.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        """Wait for the event, at most `seconds`."""
        if event.is_set():
            return True
        if seconds is not None and seconds <= 0:
            return False
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
        return event.is_set()


def since_boot() -> float:
    """Return seconds that only rise and count the machine's sleep as well, where it can be told."""
    boottime: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)
