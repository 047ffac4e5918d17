"""Rate limits by real counting on the networks' clock, not only by injected refusals.

`FixedWindows` counts in windows aligned to the epoch, as most networks do; `Buckets` drains at a rate.
Both forget what is over, and neither sleeps.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Hit:
    """What a counted call came to."""

    allowed: bool
    limit: int
    remaining: int
    resets_at: datetime


class FixedWindows:
    """At most `limit` per window and key; windows start at multiples of `window` since 1970."""

    def __init__(self, limit: int, window: timedelta) -> None:
        self.limit = limit
        self._window = window
        self._used: dict[str, tuple[int, int]] = {}

    def hit(self, key: str, now: datetime, cost: int = 1) -> Hit:
        """Count a call; a refused one costs nothing."""
        span = int(self._window.total_seconds())
        number = int(now.timestamp()) // span
        used = self._used.get(key, (number, 0))
        spent = used[1] if used[0] == number else 0
        allowed = spent + cost <= self.limit
        spent += cost if allowed else 0
        self._used[key] = (number, spent)
        resets_at = datetime.fromtimestamp((number + 1) * span, UTC)
        return Hit(allowed, self.limit, max(0, self.limit - spent), resets_at)


class Buckets:
    """A bucket a key: `burst` at once, then one every `every`."""

    def __init__(self, burst: int, every: timedelta) -> None:
        self._burst = burst
        self._every = every
        self._free_at: dict[str, datetime] = {}

    def wait(self, key: str, now: datetime) -> timedelta:
        """Take one and return zero, or take nothing and say how long to wait."""
        free_at = max(self._free_at.get(key, now), now)
        wait = free_at - now - self._every * (self._burst - 1)
        if wait > timedelta():
            return wait
        self._free_at[key] = free_at + self._every
        return timedelta()
