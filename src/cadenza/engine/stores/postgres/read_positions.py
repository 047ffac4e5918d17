"""Where to begin reading a queue: past what was already handed out.

While an old transaction is open anywhere in the database, rows that were claimed stay in the index
as dead entries, and every claim would read them all again. So a process remembers how far
it has come in each queue and begins there. What may stand before that place (another process let
an old job wait again) is found by a reading from the beginning, once a second; sooner if the
shortened reading finds nothing. When readings from the beginning have become dear they are not
repeated at once, and they get a fiftieth of the time, though one every three seconds at least.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from cadenza.core.clock import Clock

SLACK = timedelta(seconds=0.5)  # between the instant in a row and its commit, mostly
EVERY = 1.0  # seconds between two readings from the beginning
LONGEST = 3.0  # seconds between them when they take long
SHARE = 1 / 50  # of the time that they may take
DEAR = 0.004  # seconds: readings from the beginning that take so long are not repeated at once
SAMPLES = 3  # slow ones in a row, because one may be the machine's mood
BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
LOWEST = -(2**31)


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """A position in the order of ready jobs, and one among those not yet due."""

    priority: int = LOWEST
    run_at: datetime = BEGINNING
    id: int = 0
    due_from: datetime = BEGINNING

    @property
    def columns(self) -> tuple[int, datetime, int, datetime]:
        """Lay it out for a statement."""
        return self.priority, self.run_at, self.id, self.due_from


START = ReadPosition()


@dataclass(slots=True)
class _Known:
    place: ReadPosition = START
    read: float = float("-inf")  # when the queue was last read from its beginning
    every: float = EVERY  # until it is read so again
    took: deque[float] = field(default_factory=lambda: deque(maxlen=SAMPLES))

    @property
    def dear(self) -> bool:
        return len(self.took) == SAMPLES and min(self.took) >= DEAR

    def recent(self, now: float) -> bool:
        return now - self.read < self.every


class ReadPositions:
    """How far this process has come in each queue."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queues: dict[str, _Known] = {}

    def begin(self, queue: str) -> ReadPosition:
        """Say where the next reading begins."""
        known = self._queues.setdefault(queue, _Known())
        return known.place if known.recent(self._clock.monotonic()) else START

    def look_again(self, queue: str) -> ReadPosition:
        """Say where to look once more after a reading found nothing."""
        known = self._queues.setdefault(queue, _Known())
        return known.place if known.dear and known.recent(self._clock.monotonic()) else START

    def watch(self) -> float:
        """Read the watch by which readings are timed."""
        return self._clock.monotonic()

    def note_read(
        self, queue: str, place: ReadPosition, took: float, *, looked: bool = False
    ) -> None:
        """Remember a reading from the beginning: what it took, and whether it only looked."""
        if place is START:
            known = self._queues.setdefault(queue, _Known())
            known.read = self._clock.monotonic()
            known.every = min(max(EVERY, took / SHARE), LONGEST)
            if looked:
                known.took.append(took)

    def note_taken(self, queue: str, last: ReadPosition, *, full: bool) -> None:
        """Go on behind the last job taken; if that was all there was, a little before it."""
        known = self._queues.setdefault(queue, _Known())
        due_from = known.place.due_from
        if not full:
            last = replace(last, run_at=last.run_at - SLACK, id=0)
        known.place = replace(last, due_from=due_from)

    def note_drained(self, queue: str, now: datetime) -> None:
        """Remember that nothing was ready at `now`, and all that was due had been made ready."""
        known = self._queues.setdefault(queue, _Known())
        priority = 0 if known.place.priority == LOWEST else known.place.priority
        known.place = ReadPosition(priority, now - SLACK, 0, now - SLACK)

    def forget(self, queues: Iterable[str]) -> None:
        """Begin at the beginning next time: jobs may have come in anywhere."""
        for queue in queues:
            if queue in self._queues:
                self._queues[queue].place = START
