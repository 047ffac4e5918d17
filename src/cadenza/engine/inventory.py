"""What a worker has in its hands: jobs claimed and not yet begun, and the leases they came under.

Each lease is counted down as its jobs are settled, so that the settler can close it in the same
write; one of which an outcome was dropped is left to run out. A lease has a local deadline, a little
before the store's: past it nothing of it is begun.
"""

import asyncio
from collections import deque
from dataclasses import dataclass

from cadenza.engine.job import Claimed
from cadenza.engine.store import Batch


@dataclass(slots=True)
class HeldLease:
    """A lease of ours: how many of its jobs are unsettled, and until when it is surely ours."""

    left: int
    until: float  # monotonic
    lapses: bool = False  # it is not closed when nothing is left, so that the rescue finds it


class Inventory:
    """The worker's stock."""

    def __init__(self) -> None:
        self.buffer: deque[Claimed] = deque()
        self.leases: dict[int, HeldLease] = {}
        self.closed: list[
            int
        ] = []  # leases of which nothing is left, to be closed by the next write
        self.busy = 0
        self.finished = 0  # runs so far
        self.unsettled = 0  # outcomes that are not written yet
        self.low = 0  # the feeder is called when the buffer falls to this
        self.hungry = asyncio.Event()
        self.quiet = asyncio.Event()  # nothing in the buffer, nothing running
        self.quiet.set()

    def take_in(self, batch: Batch, until: float) -> None:
        """Add a claimed batch."""
        self.leases[batch.lease] = HeldLease(len(batch.jobs), until)
        self.buffer.extend(batch.jobs)
        self.quiet.clear()

    def let_go(self, lease: int) -> None:
        """One job of a lease has been dealt with."""
        held = self.leases.get(lease)
        if held is None:
            return
        held.left -= 1
        if held.left <= 0:
            del self.leases[lease]
            if not held.lapses:
                self.closed.append(lease)

    def take_closed(self, unwritten: set[int]) -> list[int]:
        """Hand out the leases to close; those with outcomes yet to be written stay for a later write."""
        closed = [lease for lease in self.closed if lease not in unwritten]
        self.closed = [lease for lease in self.closed if lease in unwritten]
        return closed

    def lapse(self, lease: int) -> None:
        """Let a lease run out, because an outcome of it was dropped and its job is to be rescued."""
        held = self.leases.get(lease)
        if held is not None:
            held.lapses = True
        elif lease in self.closed:
            self.closed.remove(lease)

    def forget(self, lost: frozenset[int]) -> int:
        """Drop leases that are another's now, with what was not begun of them."""
        kept = [claimed for claimed in self.buffer if claimed.lease not in lost]
        dropped = len(self.buffer) - len(kept)
        self.buffer.clear()
        self.buffer.extend(kept)
        for lease in lost:
            self.leases.pop(lease, None)
        self.notice_quiet()
        return dropped

    def notice_quiet(self) -> None:
        """Say so when everything has been run."""
        if not self.busy and not self.buffer:
            self.quiet.set()
