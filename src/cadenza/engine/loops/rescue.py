"""Takes back the jobs of workers that fell silent.

Every worker runs it; an expired lease is taken by one of them. A job comes back after its lease at
the latest plus one pass, whoever died. It cannot tell a dead worker from one that is cut off: the
fence makes the latter's writes match nothing. Before each pass the worker renews its own leases, so
that one that slept (a suspended machine) does not take its own jobs for a dead worker's. After an outage
it gives its neighbours time to do the same, and it takes nothing while outcomes of its own wait to be
written: a store that was away makes nobody's job run twice. Limit: a worker that starts right after an
outage knows nothing of it.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

from cadenza.core.clock import Clock
from cadenza.engine.loops.loop import AFTER_ERROR
from cadenza.engine.meters import Meters
from cadenza.engine.store import Source

log = logging.getLogger("cadenza.engine")


class Rescuer:
    """One pass over expired leases."""

    def __init__(
        self,
        source: Source,
        *,
        renew: Callable[[], Awaitable[None]],
        owes: Callable[[], bool],
        lease: timedelta,
        crash_limit: int,
        clock: Clock,
        meters: Meters,
    ) -> None:
        self._source = source
        self._renew = renew
        self._owes = owes  # whether outcomes of ours wait for a store that is away
        self._lease = lease.total_seconds()
        self._crash_limit = crash_limit
        self._clock = clock
        self._meters = meters
        self._heard = clock.monotonic()  # when the store last answered
        self._not_before = self._heard

    async def run_once(self) -> float:
        """Rescue what can be rescued; say when to look again."""
        await self._renew()
        wait = await self._wait_for_others()
        if wait > 0:
            return wait
        while await self._take_back():
            pass
        return self._lease / 6

    async def _take_back(self) -> bool:
        """Take back some of what is left behind; say whether there may be more."""
        rescue = await self._source.rescue(crash_limit=self._crash_limit)
        self._heard = self._clock.monotonic()
        self._meters.rescued += len(rescue.returned)
        self._meters.buried += len(rescue.buried)
        if rescue.returned:
            log.warning(
                "jobs taken back from a silent worker", extra={"jobs": len(rescue.returned)}
            )
        for id_ in rescue.buried:
            log.error("job failed: its process died once too often", extra={"job": id_})
        return bool(rescue.returned or rescue.buried)

    async def _wait_for_others(self) -> float:
        """Return for how long live workers may still be on their way back to the store."""
        if self._clock.monotonic() - self._heard > self._lease / 2:  # leases may have run out since
            await self._source.now()
            self._heard = self._clock.monotonic()
            self._not_before = self._heard + max(self._lease / 3, 2 * AFTER_ERROR)
        if self._owes():
            return AFTER_ERROR
        return self._not_before - self._clock.monotonic()
