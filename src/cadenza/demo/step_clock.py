"""A clock that lives in the past for a while: the demo's history is lived through, not written down.

Waiting takes the machine's time; only what time it is differs. It is set forward, never back.
"""

import asyncio
from datetime import datetime, timedelta

from cadenza.core.clock import SystemClock


class StepClock:
    """The machine's clock, so much behind."""

    def __init__(self) -> None:
        self._machine = SystemClock()
        self._behind = timedelta()

    def go_back(self, by: timedelta) -> None:
        """Live so long ago from here on."""
        self._behind = by

    def now(self) -> datetime:
        """Return the instant that is lived in."""
        return self._machine.now() - self._behind

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return self._machine.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait by the machine."""
        await self._machine.sleep(seconds)

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        """Wait by the machine."""
        return await self._machine.wait(event, seconds)
