"""One caller cannot crowd out the others: a bucket of requests for each person, key or address.

Buckets are in this process's memory, as their purpose is its own breath; what must hold over all
processes (sign-in tries, daily budgets) is counted in the store. The least used are forgotten.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

from cadenza.core.clock import Clock

REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Pace:
    """So many requests a second in the long run, and so many at once."""

    per_second: float = 50.0
    at_once: int = 1000


@dataclass(slots=True)
class Breath:
    """The buckets."""

    clock: Clock
    pace: Pace = field(default_factory=Pace)
    _left: OrderedDict[str, tuple[float, float]] = field(
        default_factory=OrderedDict[str, tuple[float, float]]
    )

    def take(self, who: str) -> float:
        """Take one; return 0, or the seconds to wait before the next is free."""
        now = self.clock.monotonic()
        left, at = self._left.pop(who, (float(self.pace.at_once), now))
        left = min(float(self.pace.at_once), left + (now - at) * self.pace.per_second)
        wait = 0.0 if left >= 1 else (1 - left) / self.pace.per_second
        self._left[who] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        return wait
