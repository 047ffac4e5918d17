"""No caller and no workspace can crowd out the others: a bucket of requests for each person, key or address,
and one for each workspace, which all of its people and keys share; and a few requests of a caller at a time.

Whoever asks faster is served at the pace, in a line of their own; refused is what would wait too long. Buckets and lines are in this process's memory, as their purpose is its own breath; what must hold over all
processes (sign-in tries, daily budgets) is counted in the store. The least used are forgotten.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from cadenza.core.clock import Clock

REMEMBERED = 10_000
PATIENCE = 1.0  # seconds that a request is kept waiting
IN_HAND = 3  # requests of one caller
LONGEST = 200  # requests in a line


@dataclass(frozen=True, slots=True)
class Pace:
    """So many requests a second in the long run, and so many at once."""

    per_second: float = 50.0
    at_once: int = 200


SHARED = Pace(per_second=100.0, at_once=600)


@dataclass(slots=True)
class Breath:
    """The buckets."""

    clock: Clock
    pace: Pace = field(default_factory=Pace)
    shared: Pace = SHARED  # of all who ask about one workspace
    _left: OrderedDict[str, tuple[float, float]] = field(
        default_factory=OrderedDict[str, tuple[float, float]]
    )

    def take(self, who: str) -> float:
        """Take one of a caller's; return the seconds to wait for it. Beyond `PATIENCE` none was taken."""
        return self._take(who, self.pace)

    def take_shared(self, workspace_id: str) -> float:
        """Take one of a workspace's, in the same way."""
        return self._take(f"workspace:{workspace_id}", self.shared)

    def _take(self, who: str, pace: Pace) -> float:
        now = self.clock.monotonic()
        left, at = self._left.pop(who, (float(pace.at_once), now))
        left = min(float(pace.at_once), left + (now - at) * pace.per_second)
        wait = max(0.0, (1 - left) / pace.per_second)
        self._left[who] = (left - 1 if wait <= PATIENCE else left, now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        return wait


@dataclass(slots=True)
class _Line:
    turns: asyncio.Semaphore
    waiting: int = 0  # or being served


@dataclass(slots=True)
class Turns:
    """A caller who asks much at once stands in a line of their own; the others do not wait behind it."""

    at_once: int = IN_HAND
    _lines: dict[str, _Line] = field(default_factory=dict[str, _Line])

    def is_full(self, who: str) -> bool:
        """Say whether a line is so long that nobody should join it."""
        line = self._lines.get(who)
        return line is not None and line.waiting >= LONGEST

    @asynccontextmanager
    async def take(self, who: str) -> AsyncGenerator[None]:
        """Wait for a turn, and hold it for as long as the request lasts."""
        line = self._lines.get(who)
        if line is None:
            line = self._lines[who] = _Line(asyncio.Semaphore(self.at_once))
        line.waiting += 1
        try:
            async with line.turns:
                yield
        finally:
            line.waiting -= 1
            if not line.waiting:
                del self._lines[who]
