"""Marks jobs as started, durably and a moment before they begin, so that a crash is held against no other.

A claim marks what begins at once by itself. This is for what was claimed ahead of need: some
milliseconds' work at a time, in one write.
"""

import logging
from collections.abc import Callable
from itertools import islice

from cadenza.core.clock import Clock
from cadenza.engine.completer import PAUSES
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.inventory import Inventory
from cadenza.engine.meters import Meters
from cadenza.engine.store import Source

log = logging.getLogger("cadenza.engine")


class Starter:
    """Marks for one worker."""

    def __init__(
        self,
        source: Source,
        inventory: Inventory,
        *,
        clock: Clock,
        meters: Meters,
        feed: Callable[[int], None],
    ) -> None:
        self._source = source
        self._inventory = inventory
        self._clock = clock
        self._meters = meters
        self._feed = feed

    async def run(self) -> None:
        """Mark what will be wanted next, for ever."""
        tries = 0
        while True:
            await self._inventory.unmarked.wait()
            try:
                await self._mark()
                tries = 0
            except StoreUnavailable as error:
                self._meters.store_errors += 1
                log.warning("store away, claimed jobs wait", extra={"error": str(error)})
                await self._clock.sleep(PAUSES[min(tries, len(PAUSES) - 1)])
                tries += 1

    async def _mark(self) -> None:
        inventory = self._inventory
        first = inventory.startable
        jobs = list(islice(inventory.buffer, first, first + inventory.stride))
        by_lease: dict[int, list[int]] = {}
        for job in jobs:
            by_lease.setdefault(job.lease, []).append(job.id)
        if by_lease:
            await self._source.start(by_lease)
        self._feed(inventory.allow(jobs))
