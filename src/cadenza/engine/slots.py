"""Where jobs run: a fixed number of slots, each a task of the event loop that lives on.

A slot takes the next job from the worker's hands and runs it, again and again; a job that never
waits costs no new task and no turn of the loop, but has a context of its own (`context.py`). From
outside, a slot's run can be cut short for a named reason. After two milliseconds without waiting a
slot lets the others run.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, Protocol

from cadenza.core.clock import Clock
from cadenza.engine.context import go_on
from cadenza.engine.inventory import Inventory
from cadenza.engine.job import Claimed
from cadenza.engine.meters import Meters
from cadenza.engine.outcomes import Settlement, Stopped, Verdict
from cadenza.engine.running import Running

log = logging.getLogger("cadenza.engine")

TURN = 0.002  # seconds a slot may run on without letting others in
NEVER = float("inf")


class Runner(Protocol):
    """What runs a claimed thing; the engine's own is `Executor`."""

    def run(self, claimed: Claimed, slot: "Slot") -> Coroutine[Any, Any, Settlement]:
        """Run it and say what became of it."""
        ...

    def stopped(self, claimed: Claimed, reason: Stopped) -> Settlement:
        """Say what becomes of a run that was cut short."""
        ...


class Slot:
    """One place where a job runs."""

    __slots__ = ("claimed", "clock", "deadline", "reason", "running", "started", "task", "watch")

    def __init__(self, clock: Clock, watch: Callable[[float], None]) -> None:
        self.clock = clock
        self.watch = watch
        self.claimed: Claimed | None = None
        self.running: Running | None = None
        self.reason: Stopped | None = None
        self.deadline = NEVER
        self.started = 0.0
        self.task: asyncio.Task[None] | None = None

    def limit_to(self, seconds: float) -> None:
        """Stop the present run when it has taken so long."""
        self.deadline = self.started + seconds
        self.watch(self.deadline)

    def stop(self, reason: Stopped) -> None:
        """Cut the present run short, if there is one."""
        if self.claimed is None or self.reason is not None or self.task is None:
            return
        if self.running is not None:
            self.running.cancel_requested = True
        self.reason = reason
        self.task.cancel()

    def cut_short(self) -> Stopped:
        """Say why the present run was canceled; ours is taken back, so that the slot can work on.

        Tells our own stop from a handler that was canceled by something of its own.
        """
        task = asyncio.current_task()
        if self.reason is not None:
            reason, self.reason = self.reason, None
            if task is not None:
                task.uncancel()
            return reason
        if task is not None and task.cancelling():
            raise asyncio.CancelledError  # the worker itself goes
        return Stopped.WITHIN


class Slots:
    """All the slots of a worker."""

    def __init__(
        self,
        count: int,
        inventory: Inventory,
        *,
        runner: Runner,
        settle: Callable[[Settlement], None],
        clock: Clock,
        meters: Meters,
    ) -> None:
        self._inventory = inventory
        self._runner = runner
        self._settle = settle
        self._clock = clock
        self._meters = meters
        self._idle: list[asyncio.Future[None]] = []
        self._soonest = NEVER
        self._deadline_set = asyncio.Event()
        self.slots = [Slot(clock, self._watch) for _ in range(count)]

    def start(self) -> list[asyncio.Task[None]]:
        """Begin to take jobs from the hands."""
        for slot in self.slots:
            slot.task = asyncio.ensure_future(self._work(slot))
        return [slot.task for slot in self.slots if slot.task is not None]

    def feed(self, count: int) -> None:
        """Wake as many idle slots as there are new jobs."""
        while count > 0 and self._idle:
            waiter = self._idle.pop()
            if not waiter.done():
                waiter.set_result(None)
                count -= 1

    async def _work(self, slot: Slot) -> None:
        inventory, monotonic = self._inventory, self._clock.monotonic
        turn_began = monotonic()
        while True:
            if not inventory.startable:
                inventory.hungry.set()
                inventory.notice_quiet()
                waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._idle.append(waiter)
                await waiter
                turn_began = monotonic()
                continue
            ended = await self._run_one(slot, inventory.next())
            if ended - turn_began > TURN:
                await self._clock.sleep(0)
                turn_began = monotonic()

    async def _run_one(self, slot: Slot, claimed: Claimed) -> float:
        inventory = self._inventory
        slot.started = started = self._clock.monotonic()
        held = inventory.leases.get(claimed.lease)
        if held is None or held.until <= started:  # too late to begin: another may have it by now
            self._settle(Settlement(claimed.id, claimed.lease, Verdict.RELEASED))
            inventory.notice_quiet()
            return started
        if len(inventory.buffer) <= inventory.low:
            inventory.hungry.set()
        slot.claimed = claimed
        inventory.busy += 1
        try:
            steps, run = self._runner.run(claimed, slot), copy_context().run
            try:
                waits_for = run(steps.send, None)
            except StopIteration as end:  # most short runs never wait
                settlement: Settlement = end.value
            else:
                settlement = await go_on(steps, run, waits_for)
            if slot.reason is not None:  # the run came to an end in spite of our stop
                slot.cut_short()
        except asyncio.CancelledError:
            settlement = self._runner.stopped(claimed, slot.cut_short())
        except Exception:
            log.exception("a run came to no outcome", extra={"job": claimed.id})
            settlement = self._runner.stopped(claimed, Stopped.WITHIN)
        finally:
            inventory.busy -= 1
            slot.claimed = slot.running = slot.reason = None
            slot.deadline = NEVER
        ended = self._clock.monotonic()
        inventory.finished += 1
        self._meters.ran(claimed, settlement.verdict, ended - started)
        self._settle(settlement)
        return ended

    # Time limits

    def _watch(self, deadline: float) -> None:
        if deadline < self._soonest:
            self._soonest = deadline
            self._deadline_set.set()

    async def guard_limits(self) -> None:
        """Stop runs that are over their time limit; sleeps until the soonest one."""
        while True:
            self._deadline_set.clear()
            self._soonest = min((slot.deadline for slot in self.slots), default=NEVER)
            wait = self._soonest - self._clock.monotonic()
            if wait > 0:
                await self._clock.wait(self._deadline_set, None if wait == NEVER else wait)
                continue
            now = self._clock.monotonic()
            for slot in self.slots:
                if slot.deadline <= now:
                    slot.deadline = NEVER
                    slot.stop(Stopped.TIME_LIMIT)
