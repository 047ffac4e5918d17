"""Writes outcomes, many in one go.

While one write is under way the next outcomes gather, so the batch grows with the load by itself and
a lone outcome never waits. A write that fails because the store is away is tried again until it is
back: the fence makes that harmless, and an outcome whose lease is lost by then matches nothing.
An outcome that the store cannot take spoils no other: its job fails and says so. Where not even that
can be written it is dropped, and the lease runs out: the rescue deals with it as with a dead worker's.
"""

import asyncio
import logging

from cadenza.core.clock import Clock
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.inventory import Inventory
from cadenza.engine.meters import Meters
from cadenza.engine.notes import error_note
from cadenza.engine.outcomes import Settlement, Verdict
from cadenza.engine.store import Source

log = logging.getLogger("cadenza.engine")

MOST = 2000  # outcomes in one write
PAUSES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)  # seconds between tries while the store is away


class Completer:
    """Gathers and writes."""

    def __init__(
        self, source: Source, inventory: Inventory, *, clock: Clock, meters: Meters
    ) -> None:
        self._source = source
        self._inventory = inventory
        self._clock = clock
        self._meters = meters
        self._gathered: list[Settlement] = []
        self._arrived = asyncio.Event()
        self.owes = False  # a write failed because the store was away, and is tried again
        self.empty = asyncio.Event()
        self.empty.set()

    def add(self, settlement: Settlement) -> None:
        """Take one outcome; it is written soon."""
        self._gathered.append(settlement)
        self._inventory.unsettled += 1
        self._inventory.let_go(settlement.lease)
        if len(self._gathered) == 1:
            self.empty.clear()
            self._arrived.set()

    async def run(self) -> None:
        """Write whatever has gathered, for ever."""
        while True:
            await self._arrived.wait()
            while self._gathered:
                await self._write_next()
            self._arrived.clear()
            self.empty.set()

    async def _write_next(self) -> None:
        batch, self._gathered = self._gathered[:MOST], self._gathered[MOST:]
        closed = self._inventory.take_closed({settlement.lease for settlement in self._gathered})
        refused, dropped = await self._write(batch, closed)
        self._inventory.unsettled -= len(batch)
        self._inventory.hungry.set()
        self._meters.settled += len(batch) - len(refused) - dropped
        self._meters.refused += len(refused)
        self._meters.dropped += dropped
        for settlement in refused:
            log.warning(
                "outcome not written: the lease was lost",
                extra={
                    "job": settlement.id,
                    "lease": settlement.lease,
                    "verdict": settlement.verdict.value,
                },
            )

    async def _write(
        self, batch: list[Settlement], closed: list[int]
    ) -> tuple[list[Settlement], int]:
        """Return what was refused, and how many had to be dropped."""
        try:
            return await self._persist(batch, closed), 0
        except Exception:
            log.exception("outcomes could not be written, trying one by one")
        refused: list[Settlement] = []
        dropped: list[int] = []
        for settlement in batch:
            answer = await self._write_alone(settlement)
            if answer is None:
                dropped.append(settlement.lease)
                self._inventory.lapse(settlement.lease)
            else:
                refused += answer
        await self._persist([], [lease for lease in closed if lease not in dropped])
        return refused, len(dropped)

    async def _write_alone(self, settlement: Settlement) -> list[Settlement] | None:
        """Write one outcome, or else that its job failed; None: neither could be written."""
        try:
            return await self._persist([settlement], [])
        except Exception as error:
            log.exception("an outcome cannot be written", extra={"job": settlement.id})
            note = error_note("OutcomeLost", f"the store refused it: {error}", self._clock.now())
        failed = Settlement(settlement.id, settlement.lease, Verdict.FAILED, error=note)
        try:
            return await self._persist([failed], [])
        except Exception:
            log.exception(
                "an outcome is dropped and its lease runs out: it cannot be written in any way",
                extra={
                    "job": settlement.id,
                    "lease": settlement.lease,
                    "verdict": settlement.verdict.value,
                },
            )
            return None

    async def _persist(self, batch: list[Settlement], closed: list[int]) -> list[Settlement]:
        """Write, and try again for as long as the store is away."""
        tries = 0
        while True:
            try:
                refused = await self._source.settle(batch, closed=closed)
            except StoreUnavailable as error:
                self.owes = True
                pause = PAUSES[min(tries, len(PAUSES) - 1)]
                tries += 1
                self._meters.store_errors += 1
                log.warning(
                    "store away, outcomes wait", extra={"error": str(error), "outcomes": len(batch)}
                )
                await self._clock.sleep(pause)
            else:
                self.owes = False
                return refused
