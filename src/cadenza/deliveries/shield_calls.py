"""Lets an irreversible call end by itself when its run is cut short, and keeps what it came to.

A lease that is lost or a worker that stops ends the run, not the call: bytes may be on their way, and
what the network answers is evidence that clears the unconfirmed send. Limit: a process that dies takes it along.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from cadenza.providers.outcome import Outcome


class CallShield:
    """Calls that outlived their runs."""

    def __init__(self) -> None:
        self._endings: set[asyncio.Future[None]] = set()

    async def run(
        self, call: Coroutine[Any, Any, Outcome], keep: Callable[[Outcome], Awaitable[None]]
    ) -> Outcome:
        """Return what the call came to; if this run is cut short meanwhile, hand it to `keep`."""
        calling = asyncio.ensure_future(call)
        try:
            return await asyncio.shield(calling)
        except asyncio.CancelledError:
            ending = asyncio.ensure_future(self._end(calling, keep))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)
            raise

    async def _end(
        self, calling: asyncio.Future[Outcome], keep: Callable[[Outcome], Awaitable[None]]
    ) -> None:
        await keep(await calling)

    async def wait(self) -> None:
        """Wait until every such call has ended and is written."""
        while self._endings:
            await asyncio.wait(self._endings)
