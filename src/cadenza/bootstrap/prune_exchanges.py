"""The nightly removal of what was said with networks weeks ago, as a job, in small steps."""

import logging
from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.deliveries.record_exchanges import BATCH
from cadenza.deliveries.record_exchanges import prune_exchanges as prune

log = logging.getLogger("cadenza.deliveries")
EVERY = "23 3 * * *"


async def prune_exchanges(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Remove until a step finds little; a run that is cut short goes on the next night."""
    removed = 0
    while True:
        step = await runtime.operations.run(prune)
        removed += step
        if step < BATCH:
            log.info("old exchanges removed", extra={"removed": removed})
            return
