"""No caller and no workspace can crowd out the others: a bucket of requests for each person, key or address,
and one for each workspace, which all of its people and keys share; and a few requests of a caller at a time.

Whoever asks faster is served at the pace, in a line of their own; refused is what would wait too long. Even
before that the hasty, who ask for more than opening a page does, are served one at a time: whoever comes beside
them waits for one request, not for three. Buckets and lines are in this process's memory, as their purpose is its
own health; what must hold over all processes (sign-in tries, daily budgets) is counted in the store. The least
used are forgotten.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from cadenza.core.clock import Clock, SystemClock

REMEMBERED = 10_000
PATIENCE = 1.0  # seconds that a request is kept waiting
IN_HAND = 3  # requests of one caller
LONGEST = 200  # requests in a line
COURTESY = 0.02  # seconds that the hasty wait for others; so they are still served at their pace


@dataclass(frozen=True, slots=True)
class Pace:
    """So many requests a second in the long run, and so many at once."""

    per_second: float = 50.0
    at_once: int = 200


SHARED = Pace(per_second=100.0, at_once=600)
# More than this, and one is served at a time.
SIGN_UPS = Pace(per_second=0.05, at_once=20)  # from one address: an office signs up together
HASTE = Pace(per_second=50.0, at_once=10)
SHARED_HASTE = Pace(per_second=100.0, at_once=30)


@dataclass(slots=True)
class TokenBucket:
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
    fair_queue: asyncio.Semaphore
    single: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    waiting: int = 0  # or being served


@dataclass(slots=True)
class FairQueue:
    """A caller who asks much at once stands in a line of their own; the others do not wait behind it."""

    at_once: int = IN_HAND
    clock: Clock = field(default_factory=SystemClock, compare=False)
    _lines: dict[str, _Line] = field(default_factory=dict[str, _Line])
    _unhurried: int = 0  # in hand
    _none_unhurried: asyncio.Event = field(default_factory=asyncio.Event, compare=False)

    def is_full(self, who: str) -> bool:
        """Say whether a line is so long that nobody should join it."""
        line = self._lines.get(who)
        return line is not None and line.waiting >= LONGEST

    @asynccontextmanager
    async def take(self, who: str, *, hasty: bool = False) -> AsyncGenerator[None]:
        """Wait for a turn, and hold it for as long as the request lasts.

        The hasty go one by one, and let others go first for a moment: not for long, as these never end.
        """
        with self._join(who) as line:
            if hasty:
                async with line.single, line.fair_queue:
                    if self._unhurried:
                        await self.clock.wait(self._none_unhurried, COURTESY)
                    yield
            else:
                async with line.fair_queue:
                    with self._count_unhurried():
                        yield

    @asynccontextmanager
    async def take_single(self, who: str) -> AsyncGenerator[None]:
        """Wait for the one turn of a line in which all are hasty."""
        with self._join(who) as line:
            async with line.single:
                yield

    @contextmanager
    def _join(self, who: str) -> Generator[_Line]:
        line = self._lines.get(who)
        if line is None:
            line = self._lines[who] = _Line(asyncio.Semaphore(self.at_once))
        line.waiting += 1
        try:
            yield line
        finally:
            line.waiting -= 1
            if not line.waiting:
                del self._lines[who]

    @contextmanager
    def _count_unhurried(self) -> Generator[None]:
        self._unhurried += 1
        self._none_unhurried.clear()
        try:
            yield
        finally:
            self._unhurried -= 1
            if not self._unhurried:
                self._none_unhurried.set()
