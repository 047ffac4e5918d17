"""The nightly clean-up of media, as a job: what nobody uses is marked, what was marked long ago goes."""

import logging
from collections.abc import Mapping
from typing import Any

from cadenza.bootstrap.model import Runtime
from cadenza.media.sweep import MOST, sweep

log = logging.getLogger("cadenza.media")
EVERY = "41 3 * * *"


async def sweep_media(runtime: Runtime, payload: Mapping[str, Any]) -> None:
    """Make passes until one finds little; what fails is tried again tomorrow."""
    while True:
        cleaned = await sweep(runtime.operations, runtime.library.storage)
        log.info(
            "media swept",
            extra={"marked": cleaned.marked, "removed": cleaned.removed, "failed": cleaned.failed},
        )
        if cleaned.failed or max(cleaned.marked, cleaned.removed) < MOST:
            return
