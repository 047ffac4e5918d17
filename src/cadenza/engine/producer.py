"""Keeps the slots fed: claims just as much as will be run in the next moments.

How much that is follows the rate at which jobs finish, so slow jobs are claimed one by one and no-ops
a thousand at a time, and a crash puts few jobs unconfirmed. When a queue has nothing, the store said when
to ask again; a wake-up, that instant or the poll floor ends the wait, whichever is first. A store that
can is told when the worker is idle, and may hand it the next job without being asked. Crashed jobs, jobs
that processes died with again and again, are claimed one at a time, the next when the last has ended:
one runs in a slot beside ordinary jobs and holds up none, and no two of them share a process.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from datetime import timedelta

from cadenza.core.clock import Clock
from cadenza.engine.completer import PAUSES
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.inventory import Inventory
from cadenza.engine.meters import Meters
from cadenza.engine.store import Batch, LeasesOnInsert, Source

log = logging.getLogger("cadenza.engine")

AHEAD = 0.025  # seconds of work to have in stock
STALE = 1.0  # seconds after which an old rate says nothing: the next jobs may be slow ones
SAFETY = 0.9  # of a lease, counted locally: past it nothing of it is begun
BESIDE = 0.1  # seconds: a queue with nothing but crashed jobs is asked no more often


class Producer:
    """Claims for one worker."""

    def __init__(
        self,
        source: Source,
        inventory: Inventory,
        *,
        queues: Sequence[str],
        concurrency: int,
        batch: int,
        worker: str,
        lease: timedelta,
        poll: float,
        clock: Clock,
        meters: Meters,
        feed: Callable[[int], None],
        offset: Callable[[], float],
    ) -> None:
        self._source = source
        self._inventory = inventory
        self._queues = itertools.cycle(queues)
        self._count = len(queues)
        self._concurrency = concurrency
        self._batch = batch
        self._worker = worker
        self._lease = lease
        self._poll = poll
        self._clock = clock
        self._meters = meters
        self._feed = feed
        self._offset = offset
        self._ask_again: dict[str, float] = dict.fromkeys(queues, 0.0)  # monotonic
        self._news: set[str] = set()  # queues that something was heard of since they were asked
        self._worded: set[str] = set()  # queues where the last claim left word that we are idle
        self._hands_over = isinstance(source, LeasesOnInsert)
        self._crashed: set[str] = set()  # queues where crashed jobs wait
        self._suspect = 0  # the lease of the suspect in hand
        self._rate = 0.0
        self._seen = (0, 0.0)
        self.stopping = False
        self.idle = False
        self.went_idle = asyncio.Event()

    def stop(self) -> None:
        """Claim nothing more; `run` returns once a claim that is under way has been answered."""
        self.stopping = True
        self._inventory.hungry.set()

    def wake(self, queue: str) -> None:
        """Ask a queue again now ('' for all)."""
        for name in self._ask_again if not queue else (queue,):
            if name in self._ask_again:
                self._ask_again[name] = 0.0
                self._news.add(name)
        self._inventory.hungry.set()

    def expect_slow_jobs(self) -> None:
        """Claim nothing ahead until jobs finish quickly again."""
        self._rate = 0.0
        self._seen = (self._inventory.finished, self._clock.monotonic())

    def is_free(self) -> bool:
        """Say whether nothing is in hand and more is wanted."""
        return not self._inventory.busy and not self._inventory.buffer and not self.stopping

    def take_over(self, queue: str, batch: Batch, requested: float) -> None:
        """Take what the store leased to us without being asked again."""
        self._take_in(batch, requested, started=True)
        self._worded.discard(queue)
        self.wake(queue)

    async def run(self) -> None:
        """Feed until `stop`."""
        tries = 0
        while not self.stopping:
            try:
                await self._step()
                tries = 0
            except StoreUnavailable as error:
                self._meters.store_errors += 1
                log.warning("store away, claiming waits", extra={"error": str(error)})
                await self._clock.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
                tries += 1

    async def _step(self) -> None:
        inventory = self._inventory
        inventory.hungry.clear()
        if self._suspect and self._suspect not in inventory.leases:
            self._suspect = 0
            self._ask_again |= dict.fromkeys(self._crashed, 0.0)
        wanted = self._wanted()
        queue = self._next_queue() if wanted > 0 else None
        if queue is None:
            await self._rest(everything_busy=wanted <= 0)
            return
        was_idle = self.idle
        alone = queue in self._crashed and not self._suspect
        batch = await self._claim(queue, wanted, alone=alone)
        (self._crashed.add if batch.crashed else self._crashed.discard)(queue)
        suspect_next = batch.crashed and not self._suspect and not alone
        if (batch.drained or not batch.jobs) and not suspect_next:
            self._note_empty(queue, batch)
        if was_idle and batch.jobs:
            await self._clock.sleep(0)  # the first job begins before more is asked for

    async def _rest(self, *, everything_busy: bool) -> None:
        """Wait until there is room, or something may be due."""
        if not everything_busy and not self.idle and self.is_free():
            self.idle = True
            self.went_idle.set()
            if self._hands_over:  # leave word that we are idle
                self._ask_again |= dict.fromkeys(self._ask_again.keys() - self._worded, 0.0)
        soonest = None if everything_busy else min(self._ask_again.values())
        wait = None if soonest is None else max(soonest - self._clock.monotonic(), 0.0)
        await self._clock.wait(self._inventory.hungry, wait)

    def _wanted(self) -> int:
        """How many more jobs there is use for."""
        inventory = self._inventory
        now = self._clock.monotonic()
        finished, since = self._seen
        if now - since > AHEAD / 5:
            fresh = (inventory.finished - finished) / (now - since)
            stale = now - since > STALE
            self._rate = fresh if stale or fresh > self._rate else (self._rate + fresh) / 2
            self._seen = (inventory.finished, now)
        ahead = min(self._batch, int(self._rate * AHEAD))
        inventory.low = ahead // 2
        inventory.stride = max(self._concurrency, inventory.low)
        if inventory.unsettled > ahead + self._concurrency:
            return 0  # the store writes outcomes slower than we make them: put no more unconfirmed
        wanted = min(
            self._concurrency - inventory.busy + ahead - len(inventory.buffer), self._batch
        )
        return wanted if wanted * 2 >= ahead else 0

    def _next_queue(self) -> str | None:
        """The next queue in turn that may have something."""
        now = self._clock.monotonic()
        for _ in range(self._count):
            queue = next(self._queues)
            if self._ask_again[queue] <= now:
                return queue
        return None

    async def _claim(self, queue: str, wanted: int, *, alone: bool) -> Batch:
        inventory = self._inventory
        begins = wanted <= self._concurrency - inventory.busy - len(inventory.buffer)
        self._ask_again[queue] = 0.0
        self._news.discard(queue)
        requested = self._clock.monotonic()
        (self._worded.add if self.is_free() else self._worded.discard)(queue)
        batch = await self._source.claim(
            queue,
            limit=wanted,
            worker=self._worker,
            lease=self._lease,
            alone=alone,
            started=alone or begins,
        )
        if batch.jobs:
            self._worded.discard(queue)
            self._take_in(batch, requested, started=alone or begins, first=alone)
            self._suspect = batch.lease if alone else self._suspect
        return batch

    def _take_in(
        self, batch: Batch, requested: float, *, started: bool, first: bool = False
    ) -> None:
        self.idle = False
        self._meters.claims += 1
        self._meters.claimed += len(batch.jobs)
        until = requested + self._lease.total_seconds() * SAFETY
        self._inventory.take_in(batch, until, started=started, first=first)
        self._feed(min(self._inventory.startable, len(batch.jobs)))

    def _note_empty(self, queue: str, batch: Batch) -> None:
        """Remember when to ask an empty queue again; a wake-up in between has the last word."""
        wait = self._poll if batch.look_again is None else min(self._poll, batch.look_again)
        if batch.next_due is not None:
            store_now = self._clock.now().timestamp() + self._offset()
            wait = min(wait, max(batch.next_due.timestamp() - store_now, 0.0))
        if batch.crashed:  # they are due now, but have to wait for the one in hand
            wait = max(wait, BESIDE)
        if queue not in self._news:
            self._ask_again[queue] = self._clock.monotonic() + wait
