"""A worker: claims, runs, settles, and keeps its leases, until it is told to stop.

It works on any `Source` with any `Runner`; `Engine.worker` puts one together for jobs. Parts: the
producer claims, the starter marks, the slots run, the completer writes, the heartbeat renews, and the duties look after the
store. Stopping is graceful: no new claims, a grace for what runs, the rest goes back unharmed.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta

from cadenza.core.clock import Clock
from cadenza.engine.completer import Completer
from cadenza.engine.errors import InvalidJob, StoreUnavailable
from cadenza.engine.hooks import Hooks, tell
from cadenza.engine.inventory import Inventory
from cadenza.engine.loops.heartbeat import Heartbeat
from cadenza.engine.loops.loop import Loop
from cadenza.engine.loops.rescue import Rescuer
from cadenza.engine.meters import Meters
from cadenza.engine.outcomes import Settlement, Stopped, Verdict
from cadenza.engine.producer import Producer
from cadenza.engine.slots import Runner, Slots
from cadenza.engine.starter import Starter
from cadenza.engine.store import LeasesOnInsert, Source
from cadenza.engine.threads import Threads

log = logging.getLogger("cadenza.engine")

LAST_CLAIM = 10.0  # seconds that an answer to the last claim may take when stopping
LAST_WORDS = 10.0  # seconds that the last outcomes may take to be written when stopping
LAST_BREATH = 2.0  # seconds that canceled parts may take to end
PATIENCE = 0.25  # seconds that claimed jobs may wait while none begins, before others may have them
SHORTEST_LEASE = timedelta(seconds=1)


class Worker:
    """Runs what a source hands out."""

    def __init__(
        self,
        source: Source,
        runner: Runner,
        *,
        name: str,
        queues: Sequence[str],
        clock: Clock,
        concurrency: int = 20,
        batch: int = 1000,
        lease: timedelta = timedelta(seconds=30),
        poll: float = 5.0,
        grace: float = 20.0,
        crash_limit: int = 5,
        hooks: Hooks | None = None,
        meters: Meters | None = None,
        threads: Threads | None = None,
    ) -> None:
        _check(queues, concurrency, batch, lease)
        self.name = name
        self.queues = tuple(dict.fromkeys(queues))
        self.concurrency = concurrency
        self.meters = meters or Meters()
        self.hooks = hooks or Hooks()
        self._source = source
        self._runner = runner
        self._clock = clock
        self._lease = lease
        self._grace = grace
        self._threads = threads
        self.inventory = Inventory()
        self.completer = Completer(source, self.inventory, clock=clock, meters=self.meters)
        self._slots = Slots(
            concurrency,
            self.inventory,
            runner=runner,
            settle=self.completer.add,
            clock=clock,
            meters=self.meters,
        )
        self.heartbeat = Heartbeat(
            source,
            self.inventory,
            self._slots,
            worker=name,
            lease=lease,
            clock=clock,
            runner=runner,
            settle=self.completer.add,
        )
        self.producer = Producer(
            source,
            self.inventory,
            queues=self.queues,
            concurrency=concurrency,
            batch=batch,
            worker=name,
            lease=lease,
            poll=poll,
            clock=clock,
            meters=self.meters,
            feed=self._slots.feed,
            offset=lambda: self.heartbeat.offset,
        )
        self._starter = Starter(
            source, self.inventory, clock=clock, meters=self.meters, feed=self._slots.feed
        )
        rescuer = Rescuer(
            source,
            renew=self.heartbeat.renew,
            owes=lambda: self.completer.owes,
            lease=lease,
            crash_limit=crash_limit,
            clock=clock,
            meters=self.meters,
        )
        self._beats = self.loop("heartbeat", self.heartbeat.run_once)
        self.duties = [self._beats, self.loop("rescue", rescuer.run_once)]
        self._stopping = asyncio.Event()
        self._hurried = False
        self.started = asyncio.Event()

    def loop(self, name: str, run_once: Callable[[], Awaitable[float]]) -> Loop:
        """Make a duty that runs with this worker's clock, meters and hooks."""
        return Loop(name, run_once, clock=self._clock, meters=self.meters, hooks=self.hooks)

    def stop(self) -> None:
        """Ask for a graceful stop; `run` returns when it is done."""
        self._stopping.set()

    def hurry(self) -> None:
        """Stop without a grace: what runs is cut short and goes back without a burnt attempt."""
        self._stopping.set()
        self._hurried = True
        for slot in self._slots.slots:
            slot.stop(Stopped.STOPPING)

    def stop_on_signals(
        self, signals: Iterable[signal.Signals] = (signal.SIGTERM, signal.SIGINT)
    ) -> None:
        """Stop gracefully when the process is told to; told a second time, wait no longer."""
        loop = asyncio.get_running_loop()
        for number in signals:
            loop.add_signal_handler(
                number, lambda: self.hurry() if self._stopping.is_set() else self.stop()
            )

    @property
    def is_stopping(self) -> bool:
        """Say whether it claims nothing more."""
        return self.producer.stopping

    @property
    def is_idle(self) -> bool:
        """Say whether there is nothing to do just now."""
        return self.producer.idle

    async def run(self) -> None:
        """Work until `stop`; canceling this stops gracefully too, canceling it twice at once."""
        await self.prepare()
        unwatch = self._source.watch(self._wake)
        stand_down = self._stand_by()
        producer = asyncio.ensure_future(self.producer.run())
        parts = [producer, *self._start_parts()]
        try:
            await tell(self.hooks.on_start, self)
            log.info("worker started", extra={"worker": self.name, "queues": self.queues})
            self.started.set()
            try:
                await self._until_stopped(parts)
            finally:
                stand_down()
                self.producer.stop()  # not canceled: a claim under way has jobs for us
                await asyncio.wait([producer], timeout=LAST_CLAIM)
                await self._finish()
        finally:
            stand_down()
            unwatch()
            await self._end(parts)
            await tell(self.hooks.on_stop, self)
            log.info("worker stopped", extra={"worker": self.name})

    def _stand_by(self) -> Callable[[], None]:
        """Let a source that can hand jobs over do so while there is nothing to do."""
        if not isinstance(self._source, LeasesOnInsert):
            return lambda: None
        producer = self.producer
        return self._source.stand_by(
            self.name, producer.take_over, idle=producer.is_free, most=self.concurrency
        )

    def _start_parts(self) -> list[asyncio.Future[None]]:
        """Start all that works beside the feeder."""
        others = [
            self.completer.run(),
            self._starter.run(),
            self._slots.guard_limits(),
            self._watch_idle(),
            self._give_back_idle(),
            *(duty.run() for duty in self.duties),
        ]
        return [*map(asyncio.ensure_future, others), *self._slots.start()]

    async def _end(self, parts: list[asyncio.Future[None]]) -> None:
        """Cancel what still runs; a handler that will not end is left behind."""
        for part in parts:
            part.cancel()
        _, stubborn = await asyncio.wait(parts, timeout=LAST_BREATH)
        if stubborn:
            log.error("handlers did not end when stopped", extra={"handlers": len(stubborn)})
        if self._threads is not None:
            self._threads.close()

    async def _until_stopped(self, parts: list[asyncio.Future[None]]) -> None:
        """Wait for the stop; a part that ends by itself is a fault and ends the worker loudly."""
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([stopping, *parts], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        for part in parts:
            if part.done():
                part.result()

    async def _finish(self) -> None:
        """Give back what was not begun, let the rest finish within the grace, write the last outcomes."""
        self._release_buffer()
        if self.inventory.busy:
            log.info(
                "waiting for running jobs",
                extra={"jobs": self.inventory.busy, "grace": self._grace},
            )
            await self._clock.wait(self.inventory.quiet, 0.0 if self._hurried else self._grace)
        for slot in self._slots.slots:
            slot.stop(Stopped.STOPPING)
        if self.inventory.busy:
            await self._clock.wait(self.inventory.quiet, 1.0)
        for slot in (
            self._slots.slots
        ):  # a handler that will not be stopped: its job goes back all the same
            if slot.claimed is not None:
                self.completer.add(self._runner.stopped(slot.claimed, Stopped.STOPPING))
        if not await self._clock.wait(self.completer.empty, LAST_WORDS):
            log.error("the last outcomes could not be written; their leases will run out")
        await self._say_farewell()

    async def _say_farewell(self) -> None:
        """Let people and `why` know at once that nobody serves these queues here any more."""
        if self.heartbeat.announce is not None:
            with contextlib.suppress(StoreUnavailable):
                await self.heartbeat.announce(-self.heartbeat.offset)

    def _release_buffer(self) -> None:
        for claimed in self.inventory.drop(lambda _: True):
            self.completer.add(Settlement(claimed.id, claimed.lease, Verdict.RELEASED))
        self.inventory.notice_quiet()

    async def _give_back_idle(self) -> None:
        """Give back what was claimed ahead and does not begin, because the jobs before it are slow."""
        inventory = self.inventory
        while True:
            await inventory.stocked.wait()
            inventory.stocked.clear()
            while inventory.buffer:
                begun = inventory.begun
                await self._clock.sleep(PATIENCE)
                if inventory.begun == begun and inventory.buffer:
                    self.producer.expect_slow_jobs()
                    self._release_buffer()

    def _wake(self, queue: str) -> None:
        self.producer.wake(queue)
        if not queue:
            for duty in self.duties:
                duty.nudge()

    async def _watch_idle(self) -> None:
        while True:
            await self.producer.went_idle.wait()
            self.producer.went_idle.clear()
            await tell(self.hooks.on_idle, self)

    async def prepare(self) -> None:
        """Measure the clocks before the first wait is computed; a store that is away is met later."""
        try:
            await self.heartbeat.run_once()
        except StoreUnavailable as error:
            log.warning("store away at start", extra={"error": str(error)})


def _check(queues: Sequence[str], concurrency: int, batch: int, lease: timedelta) -> None:
    if isinstance(queues, str) or not queues:
        message = "a worker needs a list of at least one queue, for example ['default']"
        raise InvalidJob(message)
    if concurrency < 1 or batch < 1:
        message = f"concurrency and batch must be at least 1, got {concurrency} and {batch}"
        raise InvalidJob(message)
    if lease < SHORTEST_LEASE:
        message = (
            f"a lease shorter than {SHORTEST_LEASE} would be lost at the first hiccup, got {lease}"
        )
        raise InvalidJob(message)
