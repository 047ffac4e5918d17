"""The loop is dumb, the pass is smart.

A duty is one pass: it does what is due and returns the seconds until it wants to run again. `Loop`
owns the waiting and the errors; a store that is away or a pass that fails never ends the loop.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from cadenza.core.clock import Clock
from cadenza.engine.errors import StoreUnavailable
from cadenza.engine.hooks import Hooks, tell
from cadenza.engine.meters import Meters

log = logging.getLogger("cadenza.engine")

AFTER_ERROR = 1.0  # seconds until a failed pass is tried again


class Loop:
    """Runs one duty again and again."""

    def __init__(
        self,
        name: str,
        run_once: Callable[[], Awaitable[float]],
        *,
        clock: Clock,
        meters: Meters,
        hooks: Hooks | None = None,
    ) -> None:
        self.name = name
        self._run_once = run_once
        self._clock = clock
        self._meters = meters
        self._hooks = hooks or Hooks()
        self._nudged = asyncio.Event()

    def nudge(self) -> None:
        """Run the next pass now."""
        self._nudged.set()

    async def run(self) -> None:
        """Pass, wait, pass, for ever."""
        while True:
            self._nudged.clear()
            wait = AFTER_ERROR
            try:
                wait = await self._run_once()
            except StoreUnavailable as error:
                self._meters.store_errors += 1
                log.warning("store away, %s waits", self.name, extra={"error": str(error)})
            except Exception as error:
                log.exception("%s failed and will be tried again", self.name)
                await tell(self._hooks.on_error, error, None)
            await self._clock.wait(self._nudged, wait)
