"""The classic loop: one document at a time, locked by a time, handled, given its next start.

A document whose handler fails stays locked until its lock runs out and is then tried again, for
ever: there is no count of attempts. A handler that takes longer than the lock may be run a second
time by another; the first one's result is then dropped, never written over the second's.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from cadenza.core.clock import Clock, SystemClock
from cadenza.core.ids import Random, SystemRandom
from cadenza.core.mongodb_cron import next_start
from cadenza.core.zones import get_zone
from cadenza.engine.classic.document import ClassicStore, Document
from cadenza.engine.errors import InvalidJob
from cadenza.engine.hooks import tell
from cadenza.engine.options import duration

log = logging.getLogger("cadenza.engine")

_MILLISECOND = timedelta(milliseconds=1)


class Scheduler:
    """Runs the documents of a store, one by one; start several for more at a time.

    Delays are timedeltas or seconds. `zone` is where intervals are read: the Node package takes
    its process's own zone, so say that one when both work on a collection.
    """

    def __init__(
        self,
        store: ClassicStore,
        *,
        on_document: Callable[[Document], Any],
        on_start: Callable[[], Any] | None = None,
        on_stop: Callable[[], Any] | None = None,
        on_idle: Callable[[], Any] | None = None,
        on_error: Callable[[Exception], Any] | None = None,
        next_delay: timedelta | float = 0,
        reprocess_delay: timedelta | float = 0,
        idle_delay: timedelta | float = 1,
        lock_duration: timedelta | float = timedelta(minutes=10),
        zone: str = "UTC",
        clock: Clock | None = None,
        rng: Random | None = None,
    ) -> None:
        self._store = store
        self._on_document = on_document
        self._on_start = on_start
        self._on_stop = on_stop
        self._on_idle = on_idle
        self._on_error = on_error or _log_error
        self._next_delay = duration("next_delay", next_delay).total_seconds()
        self._reprocess_delay = duration("reprocess_delay", reprocess_delay)
        self._idle_delay = duration("idle_delay", idle_delay).total_seconds()
        self._lock_duration = duration("lock_duration", lock_duration)
        if self._lock_duration < timedelta(seconds=1):
            message = f"a lock_duration of {lock_duration} would be over before the work is: give at least a second"
            raise InvalidJob(message)
        if self._idle_delay <= 0:
            raise InvalidJob("an idle_delay of 0 asks the store without end: give some time")
        self._zone = get_zone(zone)
        self._clock = clock or SystemClock()
        self._rng = rng or SystemRandom()
        self._loop: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._running = self._processing = self._idle = False

    @property
    def is_running(self) -> bool:
        """Between start and the call of stop."""
        return self._running

    @property
    def is_processing(self) -> bool:
        """While a document is looked for or handled."""
        return self._processing

    @property
    def is_idle(self) -> bool:
        """Since nothing was due, until something is."""
        return self._idle

    async def start(self) -> None:
        """Begin; harmless if it runs already. The first look at the store comes after this returns."""
        if self._running:
            return
        self._running = True
        if self._loop is not None and self._loop is not asyncio.current_task():
            await asyncio.shield(self._loop)  # a stop is still under way
            self._running = True
        self._stopping = asyncio.Event()
        await tell(self._on_start)
        self._loop = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Take nothing more, and wait until the document in hand is settled and `on_stop` is done.

        Called by a handler it cannot wait for that handler: it returns at once.
        """
        self._running = False
        self._stopping.set()
        if self._loop is not None and self._loop is not asyncio.current_task():
            await asyncio.shield(self._loop)

    async def reschedule(self, document: Document) -> bool:
        """Give a handled document its next time, or finish it; False if the lock was lost meanwhile."""
        upcoming = next_start(
            document.sleep_until,
            document.interval,
            document.repeat_until,
            self._clock.now(),
            zone=self._zone,
            reprocess_delay=self._reprocess_delay,
        )
        lock = document.locked_until
        if upcoming is None and document.auto_remove:
            kept = await self._store.remove(document.id, locked_until=lock)
        else:
            kept = await self._store.update(document.id, sleep_until=upcoming, locked_until=lock)
        if not kept:
            log.warning("document not settled: its lock was lost", extra={"document": document.id})
        return kept

    async def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                await self._rest(self._next_delay)
                if self._stopping.is_set():
                    break
                await self._rest(await self._step())
        finally:
            self._running = self._processing = self._idle = False
            await tell(self._on_stop)
            if self._loop is asyncio.current_task():  # else `on_stop` has started it again
                self._loop = None

    async def _step(self) -> float:
        """Handle one document, or notice that there is none; return how long to rest."""
        document = None
        self._processing = True
        try:
            document = await self._lock_next()
            if document is not None:
                self._idle = False
                await self._handle(document)
        except Exception as error:  # noqa: BLE001 - whatever a store or a handler raises is told
            await tell(self._on_error, error)
            # A store that fails would else be asked without end.
            return 0.0 if document is not None else self._idle_delay
        finally:
            self._processing = False
        if document is not None:
            return 0.0
        if not self._idle:
            self._idle = True
            await tell(self._on_idle)
        return self._idle_delay

    async def _lock_next(self) -> Document | None:
        now = _to_millisecond(self._clock.now())
        # Two workers never write one value, so that the value tells whose lock it is.
        spread = int(self._rng.fraction() * 1000) * _MILLISECOND
        return await self._store.lock_next(now + self._lock_duration + spread, now=now)

    async def _handle(self, document: Document) -> None:
        answer = self._on_document(document)
        if inspect.isawaitable(answer):
            await answer
        await self.reschedule(document)

    async def _rest(self, seconds: float) -> None:
        if seconds > 0:
            await self._clock.wait(self._stopping, seconds)
        else:
            await self._clock.sleep(0)


def _to_millisecond(instant: datetime) -> datetime:
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def _log_error(error: Exception) -> None:
    log.error("a document failed; it is tried again when its lock runs out", exc_info=error)
