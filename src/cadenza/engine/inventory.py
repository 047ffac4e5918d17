"""What a worker has in its hands: jobs claimed and not yet begun, and the leases they came under.

Of the former the first ones are marked as started and may begin; the starter sees to the others.
Each lease is counted down as its jobs are settled, so that the settler can close it in the same
write; one of which an outcome was dropped is left to run out. A lease has a local deadline, a little
before the store's: past it nothing of it is begun.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

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
        self.startable = 0  # the first so many of the buffer are marked as started
        self.stride = 1  # jobs to mark in one write
        self.unmarked = asyncio.Event()  # few in the buffer are marked, and there are more
        self.leases: dict[int, HeldLease] = {}
        self.closed: list[
            int
        ] = []  # leases of which nothing is left, to be closed by the next write
        self.busy = 0
        self.begun = 0  # runs so far, the present ones too
        self.finished = 0  # runs that came to an end
        self.stocked = asyncio.Event()  # something was put into the buffer
        self.unsettled = 0  # outcomes that are not written yet
        self.low = 0  # the feeder is called when the buffer falls to this
        self.hungry = asyncio.Event()
        self.quiet = asyncio.Event()  # nothing in the buffer, nothing running
        self.quiet.set()

    def take_in(
        self, batch: Batch, until: float, *, started: bool = True, first: bool = False
    ) -> None:
        """Add a claimed batch, behind what is there or before it."""
        self.leases[batch.lease] = HeldLease(len(batch.jobs), until)
        if first:
            self.buffer.extendleft(reversed(batch.jobs))
        else:
            started = started and self.startable == len(self.buffer)
            self.buffer.extend(batch.jobs)
        if started:
            self.startable += len(batch.jobs)
        self.notice_unmarked()
        self.stocked.set()
        self.quiet.clear()

    def next(self) -> Claimed:
        """Hand out the next job that may begin; there must be one."""
        self.startable -= 1
        self.begun += 1
        claimed = self.buffer.popleft()
        self.notice_unmarked()
        return claimed

    def notice_unmarked(self) -> None:
        """Call the starter before nothing is left that may begin."""
        if self.startable * 2 <= self.stride and self.startable < len(self.buffer):
            self.unmarked.set()

    def allow(self, marked: Sequence[Claimed]) -> int:
        """Let jobs begin that are marked now; say how many, as some may have been dropped meanwhile."""
        known = {(job.id, job.lease) for job in marked}
        before = self.startable
        for job in islice(self.buffer, before, before + len(marked)):
            if (job.id, job.lease) not in known:
                break
            self.startable += 1
        self.unmarked.clear()
        self.notice_unmarked()
        return self.startable - before

    def drop(self, unwanted: Callable[[Claimed], bool]) -> list[Claimed]:
        """Take jobs out that are not to begin."""
        dropped = [claimed for claimed in self.buffer if unwanted(claimed)]
        if dropped:
            startable = islice(self.buffer, self.startable)
            self.startable = sum(not unwanted(claimed) for claimed in startable)
            kept = [claimed for claimed in self.buffer if not unwanted(claimed)]
            self.buffer.clear()
            self.buffer.extend(kept)
        return dropped

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
        dropped = self.drop(lambda claimed: claimed.lease in lost)
        for lease in lost:
            self.leases.pop(lease, None)
        self.notice_quiet()
        return len(dropped)

    def notice_quiet(self) -> None:
        """Say so when everything has been run."""
        if not self.busy and not self.buffer:
            self.quiet.set()
