"""One pass of the delivery worker, for an outside cron that calls where no worker runs all the time.

The worker is the ordinary one, so a pass may overlap with other passes and with running workers: claims are
leased, and a delivery is permitted once. It ends when nothing is due any more, or when its time is over;
then what has begun gets the worker's grace and the rest goes back. The next pass goes on from there.
"""

import asyncio
from dataclasses import dataclass

from cadenza.core.clock import Clock
from cadenza.core.timebox import TimeBox
from cadenza.deliveries.source import QUEUE, DeliverySource
from cadenza.engine.worker import Worker

SECONDS = 50.0  # what an outside cron usually waits for; the worker's grace comes on top
LOOK = 0.05
CALM = 2  # looks in a row that find nothing, so that a claim on its way is not taken for the end


@dataclass(frozen=True, slots=True)
class PassReport:
    """How many deliveries were taken up; `complete`: nothing that was due is left."""

    ran: int
    complete: bool


async def publishing_run(
    worker: Worker, source: DeliverySource, *, clock: Clock, seconds: float = SECONDS
) -> PassReport:
    """Run a fresh delivery worker until nothing is due, `seconds` at the most."""
    box = TimeBox(clock, seconds)
    running = asyncio.ensure_future(worker.run())
    calm = 0
    try:
        while calm < CALM and not box.over and not running.done():
            await clock.sleep(min(LOOK, max(box.left, 0.001)))
            calm = calm + 1 if await _is_calm(worker, source) else 0
    finally:
        worker.stop()
        await running
    return PassReport(worker.inventory.finished, complete=calm >= CALM)


async def _is_calm(worker: Worker, source: DeliverySource) -> bool:
    inventory = worker.inventory
    if not worker.is_idle or inventory.busy or inventory.buffer or inventory.unsettled:
        return False
    due = await source.next_due(QUEUE)
    return due is None or due > await source.now()
