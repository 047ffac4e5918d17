"""Deletes finished jobs that are old enough, in batches. A job that still waits is never deleted by age."""

import logging
from datetime import timedelta

from cadenza.engine.options import LONGEST_WAIT
from cadenza.engine.store import Store

log = logging.getLogger("cadenza.engine")

BATCH = 5000
EVERY = 600.0  # seconds between passes
SOON = 0.2  # seconds until the next batch when this one was full


class Pruner:
    """One batch of forgetting."""

    def __init__(self, store: Store, *, done: timedelta, failed: timedelta) -> None:
        self._store = store
        # Nothing is older than this, and "for ever" before now is no instant that a store can write.
        self._done = min(done, LONGEST_WAIT)
        self._failed = min(failed, LONGEST_WAIT)

    async def run_once(self) -> float:
        """Delete one batch; come back soon if there is more."""
        count = await self._store.prune(done=self._done, failed=self._failed, limit=BATCH)
        if count:
            log.info("finished jobs deleted", extra={"jobs": count})
        return SOON if count >= BATCH else EVERY
