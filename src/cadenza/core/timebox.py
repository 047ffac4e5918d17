"""How long a pass may still take: an outside cron gives up on a call that does not answer in time.

Measured on the clock port's monotonic seconds. It is looked at between steps and cuts nothing short, so
a pass may end later than its box by the length of one step.
"""

from cadenza.core.clock import Clock


class TimeBox:
    """So many seconds from now."""

    __slots__ = ("_clock", "_ends")

    def __init__(self, clock: Clock, seconds: float) -> None:
        if not seconds > 0:
            raise ValueError(f"a pass needs some seconds, not {seconds}")
        self._clock = clock
        self._ends = clock.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, 0 at the least."""
        return max(0.0, self._ends - self._clock.monotonic())

    @property
    def over(self) -> bool:
        """Say whether no more may be begun."""
        return self.left == 0.0
