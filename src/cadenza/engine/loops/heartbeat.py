"""Keeps leases alive, learns which are lost and what is to be canceled.

Three beats fit into a lease. A lost lease drops what was not begun and stops what runs; its outcome
would match nothing anyway. The beat also tells people that the worker lives, and measures how far its
clock is from the store's.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from cadenza.core.clock import Clock
from cadenza.engine.inventory import Inventory
from cadenza.engine.outcomes import Settlement, Stopped
from cadenza.engine.producer import SAFETY
from cadenza.engine.slots import Runner, Slots
from cadenza.engine.store import Source

log = logging.getLogger("cadenza.engine")

SLOWEST = 20.0  # seconds between beats, however long the lease: cancels travel with them
SKEW_ALARM = 5.0  # seconds; more is worth telling somebody


class Heartbeat:
    """One beat."""

    def __init__(
        self,
        source: Source,
        inventory: Inventory,
        slots: Slots,
        *,
        worker: str,
        lease: timedelta,
        clock: Clock,
        runner: Runner,
        settle: Callable[[Settlement], None],
    ) -> None:
        self._source = source
        self._inventory = inventory
        self._slots = slots
        self._worker = worker
        self._lease = lease
        self._clock = clock
        self._runner = runner
        self._settle = settle
        self.announce: Callable[[float], Awaitable[None]] | None = None
        self.offset = 0.0  # seconds the store's clock is ahead of ours

    async def run_once(self) -> float:
        """Renew, react, announce; say when the next beat is."""
        await self.renew()
        await self._measure()
        if self.announce is not None:
            await self.announce(-self.offset)
        return min(self._lease.total_seconds() / 3, SLOWEST)

    async def renew(self) -> None:
        """Extend our leases; drop and stop what is no longer ours or wanted."""
        inventory = self._inventory
        if not inventory.leases:
            return
        requested = self._clock.monotonic()
        renewal = await self._source.renew(self._worker, list(inventory.leases), lease=self._lease)
        until = requested + self._lease.total_seconds() * SAFETY
        for held in inventory.leases.values():
            held.until = max(held.until, until)
        if renewal.lost:
            dropped = inventory.forget(renewal.lost)
            log.warning("leases lost", extra={"leases": len(renewal.lost), "dropped": dropped})
            self._stop(lambda claimed: claimed.lease in renewal.lost, Stopped.LOST)
        if renewal.cancel:
            self._cancel(renewal.cancel)

    def _cancel(self, ids: frozenset[int]) -> None:
        for claimed in self._inventory.drop(lambda claimed: claimed.id in ids):
            self._settle(self._runner.stopped(claimed, Stopped.CANCELED))
        self._stop(lambda claimed: claimed.id in ids, Stopped.CANCELED)

    def _stop(self, which: Callable[..., bool], reason: Stopped) -> None:
        for slot in self._slots.slots:
            if slot.claimed is not None and which(slot.claimed):
                slot.stop(reason)

    async def _measure(self) -> None:
        before = self._clock.now()
        there = await self._source.now()
        after = self._clock.now()
        self.offset = (there - (before + (after - before) / 2)).total_seconds()
        if abs(self.offset) > SKEW_ALARM:
            log.warning("this machine's clock is off", extra={"seconds": -self.offset})
