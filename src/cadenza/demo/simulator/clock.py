"""The networks' own clock: tests move it, so that tokens, windows and quotas run out at will.

With a `start` it stands still until `advance`; without one it runs with the machine, plus whatever
was advanced. Real waiting (a delayed reply) always takes real time.
"""

from datetime import datetime, timedelta

from cadenza.core.clock import Clock, SystemClock


class SimulatorClock:
    """What time it is over there."""

    def __init__(self, start: datetime | None = None, *, machine: Clock | None = None) -> None:
        self._machine = machine or SystemClock()
        self._start = start
        self._ahead = timedelta()

    def now(self) -> datetime:
        """Return the networks' present instant in UTC."""
        return (self._start or self._machine.now()) + self._ahead

    def advance(self, by: timedelta | float) -> datetime:
        """Set the clock on and return the new instant."""
        self._ahead += by if isinstance(by, timedelta) else timedelta(seconds=by)
        return self.now()

    async def really_wait(self, seconds: float) -> None:
        """Wait in real time: a client's time-out is real too."""
        await self._machine.sleep(seconds)
