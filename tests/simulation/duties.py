"""What a worker does beside sending, as the product wires it: signs of life, pauses that end, full days.

The duties are the product's own; only the witness file and the stopwatch of the guard are left out, as
they reach for the real world. Passes are a minute apart, where the product takes seconds: what they bring
must not depend on it, and a seed costs less.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from types import SimpleNamespace
from typing import cast

from cadenza.accounts.refresher import Refresher
from cadenza.bootstrap.after_outage import silence, space_all, space_what_is_late
from cadenza.bootstrap.model import Runtime
from cadenza.bootstrap.move_over_daily_max import DailyMaxDuty
from cadenza.bootstrap.watch_queues import watch_queues
from cadenza.deliveries.approve import sweep_unapproved
from cadenza.deliveries.gates import BRAKE
from cadenza.deliveries.installation import (
    CLOCK,
    LOCK,
    RESTORE,
    InstallationStatus,
    LastHeartbeat,
    beat,
    confirm,
    read_signs,
)
from cadenza.deliveries.source import DeliverySource
from cadenza.engine.errors import StoreUnavailable
from cadenza.sql.errors import SqlError
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Tx
from tests.simulation.backup import note_planned
from tests.simulation.stage import Stage

EVERY = 60.0
OBEY = True  # a mutant's: a hold is heard by nobody


class Duties:
    """The duties of one process."""

    def __init__(self, world: Stage, operations: Operations, source: DeliverySource) -> None:
        self._world = world
        self._operations = operations
        self._source = source
        self._runtime = cast("Runtime", SimpleNamespace(operations=operations, source=source))
        self._relief = DailyMaxDuty(operations)
        self._signs: InstallationStatus | None = None
        self._at = 0.0

    async def begin(self) -> None:
        """Space what is late before anything is claimed."""
        while True:
            try:
                silent = await silence(self._runtime)
                await self._sign()
                await space_what_is_late(self._runtime, silent)
            except SqlError:  # a supervisor starts it again
                await asyncio.sleep(1)
            else:
                return

    async def run_once(self) -> float:
        """Do all of them once."""
        try:
            await self._sign()
            if self._world.swarm.users:
                await self._relief.run_once()
            if self._world.swarm.users and self._world.host_name().startswith("w1"):
                await self._operations.run(sweep_unapproved)
                await watch_queues(self._runtime, {})
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error
        return EVERY if self._world.healed_at is None else EVERY * 3

    async def _sign(self) -> None:
        world = self._world
        elapsed, witness = None, world.witness
        if self._signs is not None:
            elapsed = LastHeartbeat(self._signs.now, world.now() - self._at)

        def sign(tx: Tx, now: datetime) -> InstallationStatus:
            # A first sign knows no time before it; it may have been asked for before the jump.
            world.unseen = world.unseen or (elapsed is None and world.jumped)
            return beat(tx, now, witness=witness, elapsed=elapsed)

        era, before = world.era, self._signs
        self._signs = await self._operations.run(sign, locks=[LOCK])
        if era == world.era:
            world.closed = False  # people are served again
            self._remember(self._signs)
        self._at = world.now()
        if before is not None and before.hold is not None and self._signs.hold is None:
            await space_all(self._runtime, self._signs.now - before.hold.since)
        self._source.held = OBEY and self._signs.hold is not None

    def _remember(self, signs: InstallationStatus) -> None:
        """Write the witness file, as the guard does."""
        known, new = self._world.witness, signs.witness
        if signs.hold is None or signs.hold.kind != RESTORE:
            newer = known is None or (new.generation, new.epoch) > (known.generation, known.epoch)
            self._world.witness = new if newer else known


def renew_tokens(world: Stage, refresher: Refresher) -> Callable[[], Awaitable[float]]:
    """Return the duty that renews what runs out."""

    async def run() -> float:
        try:
            await refresher.run_once()
        except SqlError as error:
            raise StoreUnavailable(str(error)) from error
        return EVERY if world.healed_at is None else EVERY * 60

    return run


async def operate(world: Stage, operations: Operations) -> None:
    """Let the clock step once, and confirm a hold after having looked at it for a while."""
    await asyncio.sleep(30 + world.tape.seconds(400))
    world.tell("clock", f"the database's clock steps by {world.swarm.step:.0f} s")
    world.clock.skew += world.swarm.step
    if world.lost is not None:
        note_planned(world)
    world.jumped = abs(world.swarm.step) > BRAKE.total_seconds()
    while world.jumped:
        await asyncio.sleep(30 + world.tape.seconds(60))
        try:
            signs = await operations.read(read_signs)
            if signs is not None and signs.hold is not None and signs.hold.kind == CLOCK:
                await asyncio.sleep(60)
                world.jumped = False  # from here on it is a person's word
                await operations.run(lambda tx, now: confirm(tx, now, by="operator"), locks=[LOCK])
                world.tell("people", "the operator confirmed the clock")
        except SqlError:
            continue
