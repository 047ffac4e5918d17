"""Takes back the jobs of workers that fell silent.

Every worker runs it; an expired lease is taken by one of them. A job comes back after its lease at
the latest plus one pass, whoever died. It cannot tell a dead worker from one that is cut off: the
fence makes the latter's writes match nothing. Before each pass the worker renews its own leases, so
that one that slept (a suspended machine) does not take its own jobs for a dead worker's.
"""

import logging
from collections.abc import Awaitable, Callable

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
        crash_limit: int,
        every: float,
        meters: Meters,
    ) -> None:
        self._renew = renew
        self._source = source
        self._crash_limit = crash_limit
        self._every = every
        self._meters = meters

    async def run_once(self) -> float:
        """Rescue what can be rescued; say when to look again."""
        await self._renew()
        rescue = await self._source.rescue(crash_limit=self._crash_limit)
        self._meters.rescued += len(rescue.returned)
        self._meters.buried += len(rescue.buried)
        if rescue.returned:
            log.warning(
                "jobs taken back from a silent worker", extra={"jobs": len(rescue.returned)}
            )
        for id_ in rescue.buried:
            log.error("job failed: its process died once too often", extra={"job": id_})
        return self._every
